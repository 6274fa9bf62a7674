package iolatency

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// On each of two occasions, every read is slow, as in a storm. First, nobody empties the buffer while it fills. Then,
// the device reaches its limit.
func TestSlowIOsThatAreNotReportedAreCounted(t *testing.T) {
	const bufferBytes, headBytes = 256 << 10, 8 // of each report
	device := testenv.LoopDevice(t, 16<<20, testenv.Options{Dir: testenv.OnDisk(t)})
	tracer := startFollowing(t, device.Number)
	at := tracer.devices[device.Number].at
	storm := func(reads int, most uint32) (slow uint64) {
		before := allIOs(tracer, device.Number)
		require.NoError(t, tracer.places.tell(at, time.Nanosecond, most))
		sh(t, fmt.Sprintf("dd if=%s of=/dev/null bs=4k count=%d iflag=direct status=none", device.Path, reads))
		_, err := tracer.Slow(false)
		require.NoError(t, err)
		return allIOs(tracer, device.Number) - before
	}
	const fit = bufferBytes / (slowBytes + headBytes)
	slow := storm(4096, math.MaxInt32)
	require.Greater(t, slow, uint64(fit))
	want := map[record.IOUnreported]uint64{record.UnreportedRoom: slow - fit, record.UnreportedLimit: 0}
	require.Equal(t, want, tracer.Unreported())

	want[record.UnreportedLimit] = storm(100, 10) - 10
	assert.Equal(t, want, tracer.Unreported())

	_, err := tracer.Slow(false)
	require.NoError(t, err)
	assert.Equal(t, want, tracer.Unreported(), "each counts once")
}

// allIOs returns the number of I/Os that were timed in the device.
func allIOs(tracer *Tracer, number string) (n uint64) {
	for _, h := range tracer.Of(number).Histograms {
		if h.Stage == record.StageDevice {
			n += h.Count()
		}
	}
	return n
}
