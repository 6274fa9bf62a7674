package drift_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// others is a Host whose devices are all slower by the same ratio until a slot.
type others struct {
	drift.Alone
	slower float64
	until  int64
}

func (o *others) At(slot int64) drift.Shifts {
	x := drift.Shift(0)
	if slot < o.until {
		x = drift.ShiftOf(o.slower)
	}
	return drift.Shifts{x, x, x, x}
}

func (o *others) Part(_ int, x drift.Shift) drift.Shift { return x }

// A drive that was learned while its host was slow was busier then than it will ever be again. What it does under the
// lesser load is learned, without the effect of the host's recovery.
func TestAHostThatIsWellAgainIsNoLoadCurve(t *testing.T) {
	host, track, minute := &others{slower: 2, until: drift.Slot(time.Unix(0, 0).Add(2 * day))}, drift.NewTracker(drift.Default()), 0
	track.JudgeBeside(host)
	run := func(d time.Duration, slower float64) {
		for range int(d / time.Minute) {
			now := time.Unix(int64(minute)*60, 0)
			by := host.At(drift.Slot(now))[0].Ratio()
			x := 80e-6 * slower * by * (1 + 0.03*float64(minute*7%17-8)/8)
			track.AddRound(drift.Round{
				Time: now, Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}, Utilisation: 0.2*by + 0.02*float64(minute%11)/11,
			}, record.Conditions{Kernel: "6.1"})
			track.Close(drift.Slot(now))
			track.Settle(now)
			minute++
		}
	}
	run(2*day, 1)
	for range 4 * 24 {
		run(time.Hour, 1)
		x := track.Drift()[0]
		require.NotEqual(t, record.Regressed, x.State, "%.2f on day %d", x.Ratio, minute/1440)
	}
	run(6*time.Hour, 2)
	x := track.Drift()[0]
	assert.Equal(t, record.Regressed, x.State)
	assert.InDelta(t, 2, x.Ratio, 0.1)
}

// What makes the tail of a drive may be its own, such as garbage collection. Then it is no faster when the host is well again.
func TestATailNeedNotRecoverWithItsHost(t *testing.T) {
	host, track := &others{slower: 2, until: drift.Slot(time.Unix(0, 0).Add(2 * day))}, drift.NewTracker(drift.Default())
	track.JudgeBeside(host)
	run := func(from, to time.Duration, tail float64) {
		for minute := int(from / time.Minute); minute < int(to/time.Minute); minute++ {
			now := time.Unix(int64(minute)*60, 0)
			noise := 1 + 0.03*float64(minute*7%17-8)/8
			x := 80e-6 * host.At(drift.Slot(now))[0].Ratio() * noise
			track.AddRound(drift.Round{Time: now, Values: drift.Values{x, tail * noise, 2 * tail * noise, 1 / x}}, record.Conditions{Kernel: "6.1"})
			track.Close(drift.Slot(now))
			track.Settle(now)
			for _, d := range track.Drift()[1:3] {
				require.False(t, tail == 250e-6 && d.State == record.Regressed, "%.2f times slower in minute %d", d.Ratio, minute)
			}
		}
	}
	run(0, 6*day, 250e-6)
	run(6*day, 6*day+6*time.Hour, 400e-6)
	for _, d := range track.Drift()[1:3] {
		assert.Equal(t, record.Regressed, d.State, "%.2f times slower", d.Ratio)
	}
}

// Others turn to work that brings far more load while the host is slow. A queue would explain that the probes are as slow as the
// host makes them, but it is the host.
func TestOtherWorkOnASlowHostIsLearnedBesideIt(t *testing.T) {
	host, w := &others{slower: 1.3}, newWorker()
	w.probe.JudgeBeside(host)
	run := func(hours int, rate, size, slower float64) record.Drift {
		for range hours {
			w.run(time.Hour, rate, size, 0.9, slower, record.Conditions{Kernel: "6.1"})
			w.probe.Close(drift.Slot(w.now()))
			w.probe.Settle(w.now())
		}
		return w.probe.Drift()[0]
	}
	run(48, 2000, 4096, 1)
	host.until = math.MaxInt64
	run(12, 2000, 4096, 1.3)
	run(36, 60000, 1024, 1.3)
	host.until = 0 // it is well again
	x := run(6, 60000, 1024, 1)
	assert.InDelta(t, 1, x.Ratio, 0.12, "a little faster, as the drive is less busy")
	x = run(6, 60000, 1024, 1.3)
	assert.Equal(t, record.Regressed, x.State)
	assert.InDelta(t, 1.3, x.Ratio, 0.06)
}
