package nvme_test

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// namespacePage returns the page of a namespace of 1024 blocks with the given number of 4 KiB formats.
func namespacePage(formats int, flbas, dps byte) []byte {
	page := make([]byte, 4096)
	binary.LittleEndian.PutUint64(page, 1024)
	page[25], page[26], page[29] = byte(formats-1), flbas, dps
	for i := range formats {
		page[128+4*i+2] = 12
	}
	return page
}

func TestFormatKeepsTheLayout(t *testing.T) {
	for _, c := range []struct {
		name       string
		formats    int
		flbas, dps byte
		dword10    uint32
	}{
		{"the first format", 1, 0, 0, 0x200},
		{"another one", 5, 4, 0, 0x204},
		{"metadata inline, protection first", 2, 0x11, 0x0B, 0x200 | 1 | 1<<4 | 3<<5 | 1<<8},
		{"more than 16 formats", 64, 0x6F, 0, 0x200 | 0xF | 3<<12},
		{"upper bits that mean nothing", 16, 0x6F, 0, 0x200 | 0xF},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, script := drive(t, map[int][]byte{offsetOACS: {2, 0}})
			script.On(nvme.IdentifyCommand(nvme.IdentifyNamespace, 1)).Return(namespacePage(c.formats, c.flbas, c.dps))
			want := nvme.Command{Opcode: 0x80, NamespaceID: 1, Dword10: c.dword10, Timeout: 3 * time.Hour}
			script.On(want).Result(0)
			require.NoError(t, nvme.NewFormatter(d).Format(1, 3*time.Hour))
			assert.Contains(t, script.Sent(), want)
		})
	}
}

func TestFormatThatIsNotSent(t *testing.T) {
	for name, c := range map[string]struct {
		oacs  byte
		page  []byte
		match error
	}{
		"no such command":   {0, namespacePage(1, 0, 0), errors.ErrUnsupported},
		"an unknown format": {2, namespacePage(1, 3, 0), errors.ErrUnsupported},
		"not active":        {2, make([]byte, 4096), fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			d, script := drive(t, map[int][]byte{offsetOACS: {c.oacs, 0}})
			script.On(nvme.IdentifyCommand(nvme.IdentifyNamespace, 1)).Return(c.page)
			require.ErrorIs(t, nvme.NewFormatter(d).Format(1, time.Hour), c.match)
			for _, cmd := range script.Sent() {
				assert.Equal(t, nvme.OpcodeIdentify, cmd.Opcode)
			}
		})
	}
}

// The driver's own timeout of a minute would reset a drive that is still formatting.
func TestFormatWithoutPatience(t *testing.T) {
	d, script := drive(t, map[int][]byte{offsetOACS: {2, 0}})
	script.On(nvme.IdentifyCommand(nvme.IdentifyNamespace, 1)).Return(namespacePage(1, 0, 0))
	script.On(nvme.Command{Opcode: 0x80, NamespaceID: 1, Dword10: 0x200}).Result(0)
	for _, timeout := range []time.Duration{0, -time.Second} {
		require.EqualError(t, nvme.NewFormatter(d).Format(1, timeout),
			"format namespace 1: timeout "+timeout.String()+": want how long the drive may take, which is hours for some")
	}
	assert.Empty(t, script.Sent())
}

// Format notices that a drive did something else than it was told.
func TestFormatThatChangedTheLayout(t *testing.T) {
	d, script := drive(t, map[int][]byte{offsetOACS: {2, 0}})
	script.On(nvme.IdentifyCommand(nvme.IdentifyNamespace, 1)).Return(namespacePage(2, 1, 0)).Return(namespacePage(2, 0, 0))
	script.On(nvme.Command{Opcode: 0x80, NamespaceID: 1, Dword10: 0x201}).Result(0)
	require.EqualError(t, nvme.NewFormatter(d).Format(1, time.Hour), "format namespace 1: it was to stay "+
		"1024 blocks of 4096 + 0 bytes (format 1, metadata inline false, protection type 0, first false), and is "+
		"1024 blocks of 4096 + 0 bytes (format 0, metadata inline false, protection type 0, first false) now")
}

func TestFormatThatChangedTheProtection(t *testing.T) {
	d, script := drive(t, map[int][]byte{offsetOACS: {2, 0}})
	script.On(nvme.IdentifyCommand(nvme.IdentifyNamespace, 1)).Return(namespacePage(1, 0, 1)).Return(namespacePage(1, 0, 0))
	script.On(nvme.Command{Opcode: 0x80, NamespaceID: 1, Dword10: 0x220}).Result(0)
	require.ErrorContains(t, nvme.NewFormatter(d).Format(1, time.Hour), "protection type 1, first false), and is "+
		"1024 blocks of 4096 + 0 bytes (format 0, metadata inline false, protection type 0, first false) now")
}

// The protection information may also move within the metadata.
func TestFormatThatMovedTheProtection(t *testing.T) {
	d, script := drive(t, map[int][]byte{offsetOACS: {2, 0}})
	script.On(nvme.IdentifyCommand(nvme.IdentifyNamespace, 1)).Return(namespacePage(1, 0, 1|1<<3)).Return(namespacePage(1, 0, 1))
	script.On(nvme.Command{Opcode: 0x80, NamespaceID: 1, Dword10: 0x320}).Result(0)
	require.ErrorContains(t, nvme.NewFormatter(d).Format(1, time.Hour), "protection type 1, first true), and is "+
		"1024 blocks of 4096 + 0 bytes (format 0, metadata inline false, protection type 1, first false) now")
}

func TestFormatThatIsRefused(t *testing.T) {
	d, script := drive(t, map[int][]byte{offsetOACS: {2, 0}})
	script.On(nvme.IdentifyCommand(nvme.IdentifyNamespace, 1)).Return(namespacePage(1, 0, 0))
	script.On(nvme.Command{Opcode: 0x80, NamespaceID: 1, Dword10: 0x200}).Refuse(0x400A)
	var refused *nvme.StatusError
	require.ErrorAs(t, nvme.NewFormatter(d).Format(1, time.Hour), &refused)
	assert.Equal(t, nvme.OpcodeFormatNVM, refused.Command.Opcode)
}

func TestListsOfTheSubsystem(t *testing.T) {
	d, script := drive(t, map[int][]byte{offsetOACS: {8, 0}, offsetNN: {32, 0, 0, 0}})
	script.On(nvme.IdentifyCommand(nvme.IdentifyAllocatedNamespaces, 0)).Return(namespaceList(2, 4))
	script.On(nvme.IdentifyCommand(nvme.IdentifyControllers, 0)).Return([]byte{2, 0, 1, 0, 0, 3})
	namespaces, err := d.AllocatedNamespaces()
	require.NoError(t, err)
	assert.Equal(t, []uint32{2, 3, 4}, namespaces)
	controllers, err := d.Controllers()
	require.NoError(t, err)
	assert.Equal(t, []uint16{1, 0x300}, controllers)

	for text, page := range map[string][]byte{
		"decode controller list: 2048 ids, and there is room for 2047": {0, 8},
		"decode controller list: id 5 follows 5":                       {2, 0, 5, 0, 5, 0},
	} {
		_, err := nvme.DecodeControllerList(append(page, make([]byte, 4096-len(page))...))
		require.EqualError(t, err, text)
	}
	none, script := drive(t, map[int][]byte{offsetOACS: {0, 0}})
	_, err = none.AllocatedNamespaces()
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = none.Controllers()
	require.ErrorIs(t, err, errors.ErrUnsupported)
	assert.Len(t, script.Sent(), 1, "identify controller")
}
