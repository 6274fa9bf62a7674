package target_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/target"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// A namespace is resized or formatted between two rounds: the device node stays the same.
func TestADeviceThatIsFormattedAnewIsAnotherOne(t *testing.T) {
	for what, change := range map[string]func(testenv.Loop){
		"smaller": func(l testenv.Loop) {
			require.NoError(t, os.Truncate(l.Backing, 4*mib))
			testenv.Losetup(t, "--set-capacity", l.Path)
		},
		"larger blocks": func(l testenv.Loop) { testenv.Losetup(t, "--sector-size", "4096", l.Path) },
	} {
		t.Run(what, func(t *testing.T) {
			loop := testenv.LoopDevice(t, 8*mib, testenv.Options{})
			d, err := target.OpenDevice(loop.Path, loop.Number)
			require.NoError(t, err)
			require.NoError(t, d.Release())
			require.NoError(t, d.Acquire())
			require.NoError(t, d.Release())
			change(loop)
			require.ErrorIs(t, d.Acquire(), target.ErrReplaced)
			require.NoError(t, d.Close())
		})
	}
}

// The error names the device once.
func TestADeviceThatLosesItsMedium(t *testing.T) {
	loop := testenv.LoopDevice(t, mib, testenv.Options{})
	d, err := target.OpenDevice(loop.Path, loop.Number)
	require.NoError(t, err)
	require.NoError(t, d.Release())
	require.NoError(t, os.Truncate(loop.Backing, 0))
	testenv.Losetup(t, "--set-capacity", loop.Path)
	require.EqualError(t, d.Acquire(), "open "+loop.Path+": the device has no medium or no size")
	require.NoError(t, d.Close())
}

func TestAFileThatShrinksIsAnotherOne(t *testing.T) {
	path := filepath.Join(testenv.OnDisk(t), "data")
	require.NoError(t, os.WriteFile(path, make([]byte, 8192), 0o600))
	f, err := target.OpenExisting(path)
	require.NoError(t, err)
	require.NoError(t, f.Release())
	require.NoError(t, os.Truncate(path, 16384))
	require.NoError(t, f.Acquire(), "it has grown")
	require.NoError(t, f.Release())
	require.NoError(t, os.Truncate(path, 4096))
	require.ErrorIs(t, f.Acquire(), target.ErrReplaced)
	require.NoError(t, f.Close())
}
