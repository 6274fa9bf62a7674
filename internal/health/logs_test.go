package health_test

import (
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/health"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
	"github.com/ssdprobe/ssdprobe/pkg/nvme/nvmetest"
)

func logPage(page nvme.LogPage) nvme.Command {
	return nvme.LogPageCommand(nvme.LogPageRequest{Page: page, Bytes: 512})
}

// selfTestLog returns log page 06h with these results, the newest first: kind and outcome, and what follows.
func selfTestLog(results ...[]byte) []byte {
	page := make([]byte, 564)
	for i := range 20 {
		page[4+28*i] = 0x0F // unused
	}
	for i, r := range results {
		copy(page[4+28*i:], r)
	}
	return page
}

// tested returns a result: kind and outcome in one byte, and the power-on hours.
func tested(kindAndOutcome byte, hours uint64) []byte {
	r := make([]byte, 28)
	r[0] = kindAndOutcome
	put(r, 4, 8, hours)
	return r
}

// ocpLog returns log page C0h of version 5.
func ocpLog(total, tolerated, offline uint64) []byte {
	page := make([]byte, 512)
	put(page, 216, 2, total)
	put(page, 218, 2, tolerated)
	put(page, 220, 2, offline)
	put(page, 494, 2, 5)
	copy(page[496:], "\xC5\xAF\x10\x28\xEA\xBF\xF2\xA4\x9C\x4F\x6F\x7C\xC9\x14\xD5\xAF")
	return page
}

// withLogs returns a controller that lists log pages, among them the self-test log and C0h.
func withLogs(t *testing.T) *nvmetest.Script {
	t.Helper()
	id, pages := captured(t, "identify-controller"), make([]byte, 1024)
	id[261] |= 1 << 5 // it has a list of log pages
	for _, page := range []nvme.LogPage{nvme.LogSupportedPages, nvme.LogSMART, nvme.LogSelfTests, nvme.LogOCPSMART} {
		pages[4*int(page)] = 1
	}
	s := emulatedWith(t, id, captured(t, "active-namespaces"), 1, 2, 7)
	s.On(logPage(nvme.LogSupportedPages)).Return(pages)
	return s
}

func TestSelfTestsAndMediaDies(t *testing.T) {
	failed := tested(0x27, 8590)
	failed[1], failed[2] = 4, 0x3 // segment; namespace and LBA are valid
	put(failed, 12, 4, 1)
	put(failed, 16, 8, 5120000)
	everywhere := tested(0x16, math.MaxUint64)
	everywhere[2] = 0x1 // in no single namespace
	put(everywhere, 12, 4, math.MaxUint32)
	s := withLogs(t)
	s.On(logPage(nvme.LogSelfTests)).Return(selfTestLog(tested(0x10, 8603), failed, tested(0xE1, 1), everywhere)).Return(selfTestLog())
	s.On(logPage(nvme.LogOCPSMART)).Return(ocpLog(128, 2, 1)).Return(ocpLog(0, 0, 0)).Return(ocpLog(8, 0, 0xFFFF))
	var opened atomic.Int32
	c := health.NewController(nothing(t), "nvme0", opening(s, &opened))
	read := func() record.Health {
		h, ok, err := c.Read(t.Context(), health.Timeout, []uint32{})
		require.NoError(t, err)
		require.True(t, ok)
		return h
	}

	h := read()
	assert.Equal(t, []record.SelfTest{
		{Kind: "short", Outcome: record.SelfTestPassed, PowerOn: 8603 * time.Hour},
		{
			Kind: record.SelfTestExtended, Outcome: "failed in one segment", Failed: true, PowerOn: 8590 * time.Hour,
			Segment: new(uint8(4)), FailingLBA: new(uint64(5120000)), NamespaceID: new(uint32(1)),
		},
		{Kind: "vendor specific", Outcome: "aborted by a command", PowerOn: time.Hour},
		{Kind: "short", Outcome: "failed", Failed: true, PowerOn: math.MaxInt64},
	}, h.SelfTests)
	assert.Equal(t, &record.MediaDies{Total: 128, Tolerated: 2, Offline: 1}, h.MediaDies)

	h = read()
	assert.Equal(t, []record.SelfTest{}, h.SelfTests, "it keeps a log, and none was run")
	assert.Nil(t, h.MediaDies, "a drive without dies does not count them")
	assert.Nil(t, read().MediaDies, "more dies than it has")

	for _, cmd := range s.Sent() {
		assert.Contains(t, []nvme.Opcode{nvme.OpcodeIdentify, nvme.OpcodeGetLogPage, nvme.OpcodeGetFeatures}, cmd.Opcode, "it starts no test")
	}
}

// What a drive does not have, it is not asked for again; what fails is told, and hides nothing else.
func TestLogsThatCannotBeRead(t *testing.T) {
	s := withLogs(t)
	s.On(logPage(nvme.LogSelfTests)).Refuse(0x0006)
	s.On(logPage(nvme.LogOCPSMART)).Return(make([]byte, 512)) // another vendor's
	var opened atomic.Int32
	c := health.NewController(nothing(t), "nvme0", opening(s, &opened))
	for range 2 {
		h, ok, err := c.Read(t.Context(), health.Timeout, nil)
		require.ErrorContains(t, err, "health of nvme0: get log page 06h: internal error")
		require.True(t, ok)
		assert.Nil(t, h.SelfTests)
		assert.Nil(t, h.MediaDies)
		assert.Len(t, h.Namespaces, 3)
	}
	asked := map[nvme.Command]int{}
	for _, cmd := range s.Sent() {
		cmd.Dword10 &= 0xFF
		asked[nvme.Command{Opcode: cmd.Opcode, Dword10: cmd.Dword10}]++
	}
	assert.Equal(t, 2, asked[nvme.Command{Opcode: nvme.OpcodeGetLogPage, Dword10: uint32(nvme.LogSelfTests)}])
	assert.Equal(t, 1, asked[nvme.Command{Opcode: nvme.OpcodeGetLogPage, Dword10: uint32(nvme.LogOCPSMART)}])
}

func TestWarningsOfSelfTests(t *testing.T) {
	result := func(kind, outcome string, hours time.Duration) record.SelfTest {
		return record.SelfTest{Kind: kind, Outcome: outcome, Failed: outcome == "failed", PowerOn: hours * time.Hour}
	}
	failed := result(record.SelfTestExtended, "failed", 8590)
	failed.Segment, failed.FailingLBA, failed.NamespaceID = new(uint8(4)), new(uint64(5120000)), new(uint32(1))
	const ofExtended = "extended self-test at 8590 power-on hours: failed (segment 4, LBA 5120000 of namespace 1), 10 d 4 h of operation ago; no later one as thorough has passed"
	for name, c := range map[string]struct {
		tests []record.SelfTest // newest first
		want  string
	}{
		"never run":        {nil, ""},
		"passed":           {[]record.SelfTest{result("short", record.SelfTestPassed, 8603)}, ""},
		"aborted":          {[]record.SelfTest{result("short", "aborted by a command", 8603)}, ""},
		"failed":           {[]record.SelfTest{failed}, ofExtended},
		"then a short one": {[]record.SelfTest{result("short", record.SelfTestPassed, 8603), failed}, ofExtended},
		"then an aborted":  {[]record.SelfTest{result(record.SelfTestExtended, "aborted by a controller reset", 8603), failed}, ofExtended},
		"then a passed":    {[]record.SelfTest{result(record.SelfTestExtended, record.SelfTestPassed, 8603), failed}, ""},
		"a short one, then a short one that passed": {
			[]record.SelfTest{result("short", record.SelfTestPassed, 8603), result("short", "failed", 8590)}, "",
		},
		"a short one, then a longer that passed": {
			[]record.SelfTest{result(record.SelfTestExtended, record.SelfTestPassed, 8603), result("short", "failed", 8590)}, "",
		},
		"a short one, then another kind": {
			[]record.SelfTest{result("vendor specific", record.SelfTestPassed, 8603), result("short", "failed", 8590)},
			"short self-test at 8590 power-on hours: failed, 10 d 4 h of operation ago; no later one as thorough has passed",
		},
		"the newest of two": {
			[]record.SelfTest{result("short", "failed", 8834), failed},
			"short self-test at 8834 power-on hours: failed; no later one as thorough has passed",
		},
		"by another clock": {
			[]record.SelfTest{result("short", "failed", 9000)},
			"short self-test at 9000 power-on hours: failed; no later one as thorough has passed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := well()
			h.PowerOn, h.SelfTests = new(8834*time.Hour), c.tests
			got := new(health.Recent).Warnings(h)
			if c.want == "" {
				assert.Empty(t, got)
				return
			}
			assert.Equal(t, []record.Warning{{Code: record.WarnSelfTestFailed, Text: c.want}}, got)
		})
	}
	unknown := well() // for how long it was on
	unknown.SelfTests = []record.SelfTest{failed}
	assert.NotContains(t, new(health.Recent).Warnings(unknown)[0].Text, "ago")
	assert.Equal(t, []string{nvme.SelfTestPassed.String(), nvme.SelfTestExtended.String()}, []string{record.SelfTestPassed, record.SelfTestExtended})
}

func TestWarningsOfMediaDies(t *testing.T) {
	for _, c := range []struct {
		dies record.MediaDies
		want []record.Warning
	}{
		{record.MediaDies{Total: 128, Tolerated: 2}, nil},
		{record.MediaDies{Total: 128, Tolerated: 2, Offline: 1}, []record.Warning{{
			Code: record.WarnDiesOffline, Text: "1 of 128 media dies is offline; the drive tolerates up to 2",
		}}},
		{record.MediaDies{Total: 128, Tolerated: 2, Offline: 2}, []record.Warning{{
			Code: record.WarnDiesOffline, Text: "2 of 128 media dies are offline; the drive tolerates up to 2",
		}}},
		{record.MediaDies{Total: 128, Tolerated: 2, Offline: 3}, []record.Warning{{
			Code: record.WarnDriveCritical,
			Text: "3 of 128 media dies are offline, and the drive tolerates only 2: data may be lost; copy what is on it, and replace it",
		}}},
	} {
		h := well()
		h.MediaDies = &c.dies
		assert.Equal(t, c.want, new(health.Recent).Warnings(h))
	}
}
