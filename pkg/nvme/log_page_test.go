package nvme_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/pkg/nvme"
	"github.com/ssdprobe/ssdprobe/pkg/nvme/nvmetest"
)

// supportedPages returns log page 00h with itself and the given pages in it.
func supportedPages(ids ...nvme.LogPage) []byte {
	page := make([]byte, 1024)
	for _, id := range append(ids, nvme.LogSupportedPages) {
		page[4*int(id)] = 1
	}
	return page
}

func TestListOfLogPagesDecides(t *testing.T) {
	// By Identify Controller there would be no self-tests, and SMART would be mandatory.
	d, script := drive(t, map[int][]byte{offsetLPA: {0x20}, offsetOACS: {0, 0}})
	script.On(logPage(nvme.LogSupportedPages)).Return(supportedPages(nvme.LogSelfTests))
	script.On(logPage(nvme.LogSelfTests)).Return([]byte{0x01, 50})

	tests, err := d.SelfTests()
	require.NoError(t, err)
	assert.Equal(t, nvme.SelfTests{
		Running: &nvme.RunningSelfTest{Kind: nvme.SelfTestShort, Completed: 50},
		Results: []nvme.SelfTestResult{},
	}, tests)
	require.ErrorIs(t, smart(d), errors.ErrUnsupported)
	assert.Len(t, script.Sent(), 3, "the list is read once")
}

func TestNewFirmwareMayHaveTheOCPLog(t *testing.T) {
	d, script := drive(t, map[int][]byte{offsetLPA: {0x20}})
	script.On(identifyController).Return(identifyPage(t, map[int][]byte{offsetLPA: {0x20}, offsetFR: []byte("2.0     ")}))
	script.On(logPage(nvme.LogSupportedPages)).Return(supportedPages(nvme.LogOCPSMART))
	script.On(logPage(nvme.LogOCPSMART)).Return(nil).Return(append(make([]byte, 496), ocpGUID...))
	_, err := d.OCPSMART()
	require.ErrorIs(t, err, nvme.ErrOtherLog)
	_, err = d.Controller()
	require.NoError(t, err)
	_, err = d.OCPSMART()
	require.NoError(t, err)
}

func TestRefusedListOfLogPagesIsDoneWithout(t *testing.T) {
	d, script := drive(t, map[int][]byte{offsetLPA: {0x20}})
	script.On(logPage(nvme.LogSupportedPages)).Refuse(0x4109)
	script.On(smartLog).Return(nil)
	for range 2 {
		require.NoError(t, smart(d))
	}
	assert.Len(t, script.Sent(), 4, "identify, the list once, smart twice")
}

// TestBlankListOfLogPagesIsDoneWithout: before revision 2.0 the bit was reserved, and firmware answers pages that it does
// not know with zeros.
func TestBlankListOfLogPagesIsDoneWithout(t *testing.T) {
	d, script := drive(t, map[int][]byte{offsetLPA: {0x20}})
	script.On(logPage(nvme.LogSupportedPages)).Return(nil)
	script.On(smartLog).Return(nil)
	for range 2 {
		require.NoError(t, smart(d))
	}
	assert.Len(t, script.Sent(), 4, "identify, the list once, smart twice")
}

func TestListOfLogPagesThatCannotBeReadIsAnError(t *testing.T) {
	d, script := drive(t, map[int][]byte{offsetLPA: {0x20}})
	script.On(logPage(nvme.LogSupportedPages)).Fail(nvme.ErrCancelled)
	require.ErrorIs(t, smart(d), nvme.ErrCancelled)
}

func TestErrorLogSize(t *testing.T) {
	for _, c := range []struct {
		name       string
		mdts, elpe byte
		limit      int
		want       int // entries asked for
	}{
		{"as many as wanted", 7, 63, 4, 4},
		{"as many as there are", 7, 63, 1000, 64},
		{"as many as one command can transfer", 1, 255, 1000, 128},
		{"no limit of transfer", 0, 255, 1000, 256},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, script := drive(t, map[int][]byte{77: {c.mdts}, offsetELPE: {c.elpe}})
			script.On(logPage(nvme.LogErrorInformation)).Return(bytes.Repeat([]byte{1}, 256*64))
			entries, err := d.ErrorLog(c.limit)
			require.NoError(t, err)
			assert.Len(t, entries, c.want)
			assert.Equal(t, uint32(c.want*64/4-1), script.Sent()[1].Dword10>>16)
		})
	}
}

func TestFirmwareSlots(t *testing.T) {
	d, script := drive(t, nil)
	script.On(logPage(nvme.LogFirmwareSlots)).Return([]byte("\x21\x00\x00\x00\x00\x00\x00\x001.0     2.0     "))
	slots, err := d.FirmwareSlots()
	require.NoError(t, err)
	assert.Equal(t, nvme.FirmwareSlots{Active: 1, Next: new(uint8(2)), Revisions: [7]string{"1.0", "2.0"}}, slots)
}

func TestTelemetryArea4(t *testing.T) {
	page := make([]byte, 512)
	binary.LittleEndian.PutUint32(page[16:], 9)
	for lpa, want := range map[byte]uint64{0x08: 0, 0x48: 9 * 512} {
		d, script := drive(t, map[int][]byte{offsetLPA: {lpa}})
		script.On(logPage(nvme.LogControllerTelemetry)).Return(page)
		script.On(logPage(nvme.LogHostTelemetry)).Return(page)
		header, err := d.ControllerTelemetry()
		require.NoError(t, err)
		assert.Equal(t, want, header.AreaBytes[3])
		_, err = d.HostTelemetry()
		require.NoError(t, err)
		for _, cmd := range script.Sent()[1:] {
			assert.NotZero(t, cmd.Dword10&(1<<15), "the saved state is left in place")
			assert.Zero(t, cmd.Dword10&0x7F00, "no state is saved")
		}
	}
}

const ocpGUID = "\xC5\xAF\x10\x28\xEA\xBF\xF2\xA4\x9C\x4F\x6F\x7C\xC9\x14\xD5\xAF"

func TestOCPSMART(t *testing.T) {
	uuids := make([]byte, 4096)
	copy(uuids[3*32+16:], "\xC1\x94\xD5\x5B\xE0\x94\x47\x94\xA2\x1D\x29\x99\x8F\x56\xBE\x6F")
	copy(uuids[2*32+16:], "somebody else's!")
	copy(uuids[1*32+16:], "a third vendor's")
	page := append(make([]byte, 496), ocpGUID...)
	page[48] = 7
	foreign := append(make([]byte, 496), "another vendor's"...)

	identifyUUIDs := nvme.IdentifyCommand(nvme.IdentifyUUIDs, 0)
	byIndex := func(index uint8) nvme.Command {
		return nvme.LogPageCommand(nvme.LogPageRequest{Page: nvme.LogOCPSMART, Bytes: 512, UUIDIndex: index})
	}
	for _, c := range []struct {
		name    string
		changes map[int][]byte
		program func(*nvmetest.Script)
		want    error
	}{
		{
			"by uuid", map[int][]byte{offsetCTRATT: {0, 2}},
			func(s *nvmetest.Script) {
				s.On(identifyUUIDs).Return(uuids)
				s.On(byIndex(3)).Return(page)
			}, nil,
		},
		{
			"by uuid, listed more than once", map[int][]byte{offsetCTRATT: {0, 2}},
			func(s *nvmetest.Script) {
				s.On(identifyUUIDs).Return(bytes.Repeat(uuids[3*32:4*32], 128))
				s.On(byIndex(1)).Return(page)
			}, nil,
		},
		{
			"by the list of log pages", map[int][]byte{offsetLPA: {0x20}},
			func(s *nvmetest.Script) {
				s.On(logPage(nvme.LogSupportedPages)).Return(supportedPages(nvme.LogOCPSMART))
				s.On(byIndex(0)).Return(page)
			}, nil,
		},
		{
			"by the list of log pages, the claimed uuids are refused", map[int][]byte{offsetCTRATT: {0, 2}, offsetLPA: {0x20}},
			func(s *nvmetest.Script) {
				s.On(identifyUUIDs).Refuse(0x4002)
				s.On(logPage(nvme.LogSupportedPages)).Return(supportedPages(nvme.LogOCPSMART))
				s.On(byIndex(0)).Return(page)
			}, nil,
		},
		{
			"another vendor's page", map[int][]byte{offsetLPA: {0x20}},
			func(s *nvmetest.Script) {
				s.On(logPage(nvme.LogSupportedPages)).Return(supportedPages(nvme.LogOCPSMART))
				s.On(byIndex(0)).Return(foreign)
			}, nvme.ErrOtherLog,
		},
		{
			"uuids without ocp", map[int][]byte{offsetCTRATT: {0, 2}},
			func(s *nvmetest.Script) { s.On(identifyUUIDs).Return(make([]byte, 4096)) },
			errors.ErrUnsupported,
		},
		{
			"neither uuid nor page", map[int][]byte{offsetCTRATT: {0, 2}, offsetLPA: {0x20}},
			func(s *nvmetest.Script) {
				s.On(identifyUUIDs).Return(make([]byte, 4096))
				s.On(logPage(nvme.LogSupportedPages)).Return(supportedPages(nvme.LogSMART))
			}, errors.ErrUnsupported,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, script := drive(t, c.changes)
			c.program(script)
			got, err := d.OCPSMART()
			if c.want != nil {
				require.ErrorIs(t, err, c.want)
				before := len(script.Sent())
				_, err = d.OCPSMART()
				require.ErrorIs(t, err, c.want)
				assert.Len(t, script.Sent(), before, "a page that the drive does not have is not asked for again")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, uint64(7), got.XORRecoveries)
			before := len(script.Sent())
			_, err = d.OCPSMART()
			require.NoError(t, err)
			assert.Len(t, script.Sent(), before+1, "the ways to the page are found once")
		})
	}
}
