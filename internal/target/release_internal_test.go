package target

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// The kernel closes a descriptor even if it returns an error, and gives its number to the next file that is opened. That
// may be one of somebody else, so it is not used again.
func TestADescriptorWhoseCloseFails(t *testing.T) {
	remote := testenv.RemoteFile(t)
	remote.FailCloses()
	d, err := openDirect(remote.Path, unix.O_RDONLY, 0)
	require.NoError(t, err)
	require.ErrorIs(t, d.Release(), unix.EDQUOT)
	buffer, err := alignedBuffer(4096)
	require.NoError(t, err)
	defer buffer.release()
	_, err = d.ReadAt(buffer.p, 0)
	require.ErrorIs(t, err, unix.EBADF)

	require.NoError(t, d.Acquire())
	n, err := d.ReadAt(buffer.p, 0)
	require.NoError(t, err)
	assert.Equal(t, 4096, n)
	require.ErrorIs(t, d.Close(), unix.EDQUOT)
}
