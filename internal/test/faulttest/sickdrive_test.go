package faulttest_test

import (
	"path/filepath"
	"regexp"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// A drive that makes its readers wait causes I/O pressure for the whole host. The other drives are
// still measured, with the default limits.
func TestASickDriveDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	const size = 40<<20 + 40960
	sick, well := testenv.LoopDevice(t, 32<<20, testenv.Options{Random: true}), testenv.LoopDevice(t, size, testenv.Options{Random: true})
	// The kernel weighs each processor by its load. Many readers wait on all processors, so that
	// other tests do not reduce the pressure.
	testenv.StarvedReaders(t, sick, 8*runtime.NumCPU())
	pressure := func() float64 {
		p, err := counters.ReadIOPressure(sysfs.New("/"))
		require.NoError(t, err)
		return p.Some.Average10
	}
	eventually(t, "the pressure is 80 %", func() bool { return pressure() > 0.8 })

	name := filepath.Base(well.Path)
	configuration := besideDevices(onFiles(t, testenv.OnDisk(t)), size)
	configuration = regexp.MustCompile(`admission: .*`).ReplaceAllString(configuration, "admission: {max_cpu_wait: 1}")
	d := startDaemon(t, t.TempDir(), configuration)
	d.awaitDevice(t, name)
	id := d.idOf(t, name)
	d.awaitMore(t, id, "read-4k", "ok", 5)
	assert.Greater(t, pressure(), 0.6, "as it was all the while")
	assert.Zero(t, d.rounds(t, id, "read-4k", "busy"))
	d.stop(t)
}
