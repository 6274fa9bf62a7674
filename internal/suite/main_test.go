package suite_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/cli"
	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func TestMain(m *testing.M) {
	testenv.Be(cli.Main) // restores the settings of a killed suite
	goleak.VerifyTestMain(m)
}

func binary(t *testing.T) fiorun.Binary {
	t.Helper()
	testenv.Installed(t, "fio")
	b, err := fiorun.Find(t.Context())
	require.NoError(t, err)
	return b
}

func find(t *testing.T, name string) suite.Suite {
	t.Helper()
	s, err := suite.Find(name)
	require.NoError(t, err)
	return s
}

func set(t *testing.T, s suite.Suite, settings ...string) suite.Values {
	t.Helper()
	v, err := s.Set(settings)
	require.NoError(t, err)
	return v
}

const dataBytes = 16 << 20

// dataFile returns a file of random data as a target, with the header of those that ssdprobe makes.
func dataFile(t *testing.T) suite.Target {
	t.Helper()
	data := make([]byte, dataBytes)
	_, err := rand.Read(data)
	require.NoError(t, err)
	copy(data, fmt.Sprintf("%-4096s", `{"made_by":"ssdprobe","version":1}`))
	name := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.WriteFile(name, data, 0o600))
	target := suite.Target{Path: name, ID: "file:" + name, OffsetBytes: 1 << 20, SizeBytes: dataBytes - 1<<20}

	var st unix.Stat_t
	require.NoError(t, unix.Stat(name, &st))
	number := fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
	disks, err := counters.ReadDisks(sysfs.FS{})
	require.NoError(t, err)
	if _, ok := disks.ByNumber(number); ok { // false on btrfs and overlay
		target.Device.Number = number
	}
	return target
}

// loopDevice returns a block device of random data, and the file behind it.
func loopDevice(t *testing.T) (target suite.Target, behind string) {
	t.Helper()
	behind = dataFile(t).Path
	path := testenv.Losetup(t, "--find", "--show", behind)
	t.Cleanup(func() { testenv.Losetup(t, "--detach", path) })
	return suite.Target{Path: path, ID: "loop", Raw: true, SizeBytes: dataBytes}, behind
}
