package nvme_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// namespaceList returns the page with the ids from first to last.
func namespaceList(first, last uint32) []byte {
	page := make([]byte, 4096)
	for id := first; id <= last; id++ {
		binary.LittleEndian.PutUint32(page[4*(id-first):], id)
	}
	return page
}

func TestNamespacesArePaged(t *testing.T) {
	after := func(id uint32) nvme.Command { return nvme.IdentifyCommand(nvme.IdentifyActiveNamespaces, id) }
	for _, c := range []struct {
		name   string
		limit  uint32
		pages  map[uint32][]byte // by the id that they follow
		last   uint32
		number int
	}{
		{"none", 1 << 24, map[uint32][]byte{0: namespaceList(1, 0)}, 0, 0},
		{"a few of a great many", 1 << 24, map[uint32][]byte{0: namespaceList(1, 3)}, 3, 3},
		{
			"two pages and a half", 1 << 24,
			map[uint32][]byte{0: namespaceList(1, 1024), 1024: namespaceList(1025, 2048), 2048: namespaceList(2049, 2500)}, 2500, 2500,
		},
		{"a full page, and none after it", 1 << 24, map[uint32][]byte{0: namespaceList(1, 1024), 1024: namespaceList(1, 0)}, 1024, 1024},
		{"a full page up to the limit", 1024, map[uint32][]byte{0: namespaceList(1, 1024), 1024: namespaceList(1, 0)}, 1024, 1024},
		{"ids above the limit of a Linux target", 1024, map[uint32][]byte{0: namespaceList(1, 1024), 1024: namespaceList(1025, 1030)}, 1030, 1030},
		{
			"ids near the end of their range", nvme.AllNamespaces - 1,
			map[uint32][]byte{0: namespaceList(nvme.AllNamespaces-1024, nvme.AllNamespaces-1)}, nvme.AllNamespaces - 1, 1024,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, script := drive(t, map[int][]byte{offsetNN: binary.LittleEndian.AppendUint32(nil, c.limit)})
			for id, page := range c.pages {
				script.On(after(id)).Return(page)
			}
			ids, err := d.Namespaces()
			require.NoError(t, err)
			require.Len(t, ids, c.number)
			if c.number > 0 {
				assert.Equal(t, c.last, ids[c.number-1])
			}
			assert.Len(t, script.Sent(), 1+len(c.pages))
		})
	}
}

// TestNamespacesUpToTheLimit: what follows the limit may also be refused. Up to the limit, a refusal is one.
func TestNamespacesUpToTheLimit(t *testing.T) {
	for limit, refused := range map[uint32]bool{1024: false, 1025: true} {
		d, script := drive(t, map[int][]byte{offsetNN: binary.LittleEndian.AppendUint32(nil, limit)})
		script.On(nvme.IdentifyCommand(nvme.IdentifyActiveNamespaces, 0)).Return(namespaceList(1, 1024))
		script.On(nvme.IdentifyCommand(nvme.IdentifyActiveNamespaces, 1024)).Refuse(0x400B)
		ids, err := d.Namespaces()
		if refused {
			require.ErrorAs(t, err, new(*nvme.StatusError))
			continue
		}
		require.NoError(t, err)
		assert.Len(t, ids, 1024)
	}
}

// TestOldestRevisions: from these on, a controller has the list of namespaces, and the list of a namespace's identifiers.
func TestOldestRevisions(t *testing.T) {
	d, script := drive(t, map[int][]byte{offsetVER: {0, 2, 1, 0}})
	script.On(nvme.IdentifyCommand(nvme.IdentifyActiveNamespaces, 0)).Return(namespaceList(1, 1))
	ids, err := d.Namespaces()
	require.NoError(t, err)
	assert.Equal(t, []uint32{1}, ids)

	d, script = drive(t, map[int][]byte{offsetVER: {0, 3, 1, 0}})
	script.On(nvme.IdentifyCommand(nvme.IdentifyNamespaceIdentifiers, 1)).Return([]byte{4, 1, 0, 0, 2})
	_, err = d.NamespaceIdentifiers(1)
	require.NoError(t, err)
}

// TestNamespacesThatDoNotAscend: a drive that always answers with the same page must not be asked forever.
func TestNamespacesThatDoNotAscend(t *testing.T) {
	d, script := drive(t, map[int][]byte{offsetNN: {0, 0, 0, 1}})
	for _, id := range []uint32{0, 1024} {
		script.On(nvme.IdentifyCommand(nvme.IdentifyActiveNamespaces, id)).Return(namespaceList(1, 1024))
	}
	_, err := d.Namespaces()
	require.EqualError(t, err, "decode namespace list: id 1 follows 1024")
}

// TestNamespacesWithoutEnd: 1024 further namespaces in each list would take four million commands.
func TestNamespacesWithoutEnd(t *testing.T) {
	const most = 64
	d, script := drive(t, map[int][]byte{offsetNN: {0xFE, 0xFF, 0xFF, 0xFF}})
	for i := range uint32(2 * most) {
		script.On(nvme.IdentifyCommand(nvme.IdentifyActiveNamespaces, 1024*i)).Return(namespaceList(1024*i+1, 1024*i+1024))
	}
	_, err := d.Namespaces()
	require.EqualError(t, err, "identify 02h: 65536 namespaces are listed, and the list goes on")
	assert.Len(t, script.Sent(), 1+most)
}

func TestNamespace(t *testing.T) {
	page, err := os.ReadFile("testdata/captured/identify-namespace.bin")
	require.NoError(t, err)
	d, script := drive(t, nil)
	script.On(nvme.IdentifyCommand(nvme.IdentifyNamespace, 1)).Return(page)
	script.On(nvme.IdentifyCommand(nvme.IdentifyNamespace, 2)).Return(nil)
	script.On(nvme.IdentifyCommand(nvme.IdentifyNamespace, 3)).Refuse(0x400B)

	n, err := d.Namespace(1)
	require.NoError(t, err)
	assert.Equal(t, uint64(131072), n.SizeBlocks)

	_, err = d.Namespace(2)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.EqualError(t, err, "identify namespace 2: not active: file does not exist")

	_, err = d.Namespace(3)
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, "identify 00h of namespace 3: invalid namespace or format")
}

// TestANamespaceAboveTheLimit: nvmet takes any id for a namespace, and reports 1024 as its limit.
func TestANamespaceAboveTheLimit(t *testing.T) {
	page, err := os.ReadFile("testdata/captured/identify-namespace.bin")
	require.NoError(t, err)
	d, script := drive(t, map[int][]byte{offsetNN: {0, 4, 0, 0}})
	for _, id := range []uint32{1025, nvme.AllNamespaces - 1} {
		script.On(nvme.IdentifyCommand(nvme.IdentifyNamespace, id)).Return(page)
		script.On(nvme.IdentifyCommand(nvme.IdentifyNamespaceIdentifiers, id)).Return([]byte{4, 1, 0, 0, 2})
		_, err := d.Namespace(id)
		require.NoError(t, err)
		_, err = d.NamespaceIdentifiers(id)
		require.NoError(t, err)
	}
}

func TestNamespaceIdentifiers(t *testing.T) {
	identifiers := nvme.IdentifyCommand(nvme.IdentifyNamespaceIdentifiers, 1)
	d, script := drive(t, nil)
	script.On(identifiers).
		Return([]byte{4, 1, 0, 0, 2}).
		Return([]byte{1, 16, 0, 0}).
		Return([]byte{0, 1, 0, 0, 7, 4, 1, 0, 0, 2, 3, 0, 0, 0, 1, 8}). // a length of 0 ends the list, type 0 is reserved
		Return(append(bytes.Repeat([]byte{9, 251}, 2048), 9))

	ids, err := d.NamespaceIdentifiers(1)
	require.NoError(t, err)
	assert.Equal(t, nvme.NamespaceIdentifiers{CommandSet: new(nvme.CommandSetZoned)}, ids)

	_, err = d.NamespaceIdentifiers(1)
	require.EqualError(t, err, "decode namespace identifiers: type 1 of 16 bytes")

	ids, err = d.NamespaceIdentifiers(1)
	require.NoError(t, err)
	assert.Equal(t, nvme.NamespaceIdentifiers{CommandSet: new(nvme.CommandSetZoned)}, ids)

	_, err = d.NamespaceIdentifiers(1)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}
