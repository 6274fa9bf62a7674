package target_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/target"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// A name changes hands all the time, also between checking and opening it. Only the device that was meant is ever
// opened.
func TestOpenDeviceWhileItsNameChangesHands(t *testing.T) {
	const often = 100
	meant, other := testenv.LoopDevice(t, mib, testenv.Options{Random: true}), testenv.LoopDevice(t, mib, testenv.Options{Random: true})
	want, err := os.ReadFile(meant.Backing)
	require.NoError(t, err)
	memory, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(memory)) }()
	link := filepath.Join(t.TempDir(), "disk")
	require.NoError(t, os.Symlink(meant.Path, link))
	stop := changeHands(t, link, other.Path, meant.Path)
	for opened, refused := 0, 0; opened < often || refused < often; {
		d, err := target.OpenDevice(link, meant.Number)
		if err != nil {
			require.ErrorContains(t, err, "it is device "+other.Number+" now, and "+meant.Number+" was meant")
			refused++
			continue
		}
		opened++
		n, err := d.ReadAt(memory, 0)
		require.NoError(t, err)
		require.Equal(t, want[:4096], memory[:n])
		// Released and acquired again, as between rounds.
		require.NoError(t, d.Release())
		if err := d.Acquire(); err != nil {
			require.ErrorIs(t, err, target.ErrReplaced)
			continue
		}
		n, err = d.ReadAt(memory, 0)
		require.NoError(t, err)
		require.Equal(t, want[:4096], memory[:n])
		require.NoError(t, d.Close())
	}
	assert.NoError(t, stop())
}

// changeHands points a link to one path after the other until it is stopped. The link always exists.
func changeHands(t *testing.T, link string, paths ...string) (stop func() error) {
	t.Helper()
	over := make(chan struct{})
	var group errgroup.Group
	group.Go(func() error {
		for i := 0; ; i++ {
			select {
			case <-over:
				return nil
			default:
			}
			if err := os.Symlink(paths[i%len(paths)], link+".new"); err != nil {
				return err
			}
			if err := os.Rename(link+".new", link); err != nil {
				return err
			}
		}
	})
	return func() error {
		close(over)
		return group.Wait()
	}
}
