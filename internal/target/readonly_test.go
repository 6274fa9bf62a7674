package target

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// Neither the type nor the descriptor allows writing.
func TestReadOnlyTargetsCannotBeWritten(t *testing.T) {
	loop := testenv.LoopDevice(t, 1<<20, testenv.Options{Random: true})
	before, err := os.ReadFile(loop.Backing)
	require.NoError(t, err)
	device, err := OpenDevice(loop.Path, loop.Number)
	require.NoError(t, err)
	defer device.Close()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, make([]byte, 4096), 0o600))
	existing, err := OpenExisting(path)
	require.NoError(t, err)
	defer existing.Close()

	for _, d := range []*direct{&device.direct, &existing.direct} {
		buffer, err := alignedBuffer(4096)
		require.NoError(t, err)
		_, err = unix.Pwrite(d.fd, buffer.p, 0)
		require.ErrorIs(t, err, unix.EBADF)
		buffer.release()
	}
	for _, v := range []any{device, existing} {
		for _, method := range []string{"WriteAt", "Write", "Datasync", "Content"} {
			_, has := reflect.TypeOf(v).MethodByName(method)
			assert.False(t, has, "%T has %s", v, method)
		}
	}
	after, err := os.ReadFile(loop.Backing)
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

func FuzzParseHeader(f *testing.F) {
	good, err := header{Made: headerMade, Note: headerNote, Version: headerVersion, Seed: 1, Size: record.MinProbeFileBytes}.encode()
	require.NoError(f, err)
	f.Add(good)
	f.Add([]byte(`{"made_by":"ssdprobe","version":1,"size_bytes":1}`))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, block []byte) {
		h, err := parseHeader(block)
		if err != nil {
			assert.Equal(t, header{}, h)
			return
		}
		require.Greater(t, h.Size, int64(dataStart))
		again, err := h.encode()
		if err != nil {
			return // encoded again, the note may be too long
		}
		back, err := parseHeader(again)
		require.NoError(t, err)
		assert.Equal(t, h, back)
	})
}
