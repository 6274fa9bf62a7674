package traffic

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// passes simulates second i, in which does is called.
func passes(a *account, d *drive, i int, does func()) {
	does()
	a.runs(false)
	a.take(d.at(float64(i)), true)
	a.tick(at(float64(i)))
}

func TestOthersAreWhatIsCountedOutsideOfOurRounds(t *testing.T) {
	d, a := newDrive(), &account{}
	d.reads(1e6, time.Hour/1e6) // before we looked
	a.take(d.at(0), true)
	for i := 1; i <= 30; i++ {
		passes(a, d, i, func() {
			d.reads(100, time.Millisecond)
			d.writes(10, 4*time.Millisecond)
			if i == 7 {
				d.writes(1, 300*time.Millisecond)
			}
			a.take(d.at(float64(i)-0.5), true)
			d.reads(256, 80*time.Microsecond) // ours
			d.flushes(3, time.Millisecond)    // the filesystem's, caused by our reads
			a.take(d.at(float64(i)-0.4), false)
			d.flushes(1, 2*time.Millisecond)
		})
	}
	got := a.close(false)
	span := 27 * time.Second
	want := record.Traffic{
		Time: at(30), Length: 30 * time.Second, Span: span,
		Work: record.Work{
			Reads: 3000. / 27, Writes: 301. / 27, ReadBytes: 3000. * 4096 / 27, WrittenBytes: 301. * 8192 / 27, Flushes: 30. / 27,
		},
		Read:        record.Served{IOs: 3000, MeanLatency: time.Millisecond, WorstSecond: time.Millisecond},
		Write:       record.Served{IOs: 301, MeanLatency: 1500 * time.Millisecond / 301, WorstSecond: 339 * time.Millisecond / 11},
		Flush:       record.Served{IOs: 30, MeanLatency: 2 * time.Millisecond, WorstSecond: 2 * time.Millisecond},
		Utilisation: 4.56 / 27, InFlight: 4.56 / 27,
	}
	assert.InDelta(t, want.Utilisation, got.Utilisation, 1e-9)
	assert.InDelta(t, want.InFlight, got.InFlight, 1e-9)
	got.Utilisation, got.InFlight = want.Utilisation, want.InFlight
	assert.Equal(t, want, got)

	require.NotNil(t, a.work())
	assert.Equal(t, want.Work, *a.work(), "the last 30 s, whatever interval they are in")
}

// The kernel prints whole milliseconds. So in the seconds in which its sum reaches another one, a single fast
// read seems to have taken a millisecond.
func TestWorstSecondOfFewIOs(t *testing.T) {
	for name, in := range map[string]struct {
		ios   uint64
		slow  time.Duration // of a read in one of the seconds
		least time.Duration
		most  time.Duration
	}{
		"one a second":                {1, 0, 66 * time.Microsecond, 100 * time.Microsecond},
		"ten a second":                {10, 0, 80 * time.Microsecond, 80 * time.Microsecond},
		"one takes longer":            {1, 20 * time.Millisecond, 18 * time.Millisecond, 20 * time.Millisecond},
		"one takes longer among many": {100, 20 * time.Millisecond, 260 * time.Microsecond, 278 * time.Microsecond},
	} {
		t.Run(name, func(t *testing.T) {
			d, a := newDrive(), &account{}
			reading := func(i int) reading {
				r := d.at(float64(i))
				r.disk.ReadTime = r.disk.ReadTime.Truncate(time.Millisecond)
				return r
			}
			a.take(reading(0), true)
			for i := 1; i <= 30; i++ {
				d.reads(in.ios, 80*time.Microsecond)
				if i == 9 {
					d.disk.ReadTime += max(0, in.slow-80*time.Microsecond)
				}
				a.take(reading(i), true)
				a.tick(at(float64(i)))
			}
			worst := a.close(false).Read.WorstSecond
			assert.GreaterOrEqual(t, worst, in.least)
			assert.LessOrEqual(t, worst, in.most)
		})
	}
}

func TestWorkIsOfTheLastHalfMinute(t *testing.T) {
	d, a := newDrive(), &account{}
	assert.Nil(t, a.work())
	a.take(d.at(0), true)
	assert.Nil(t, a.work(), "nothing was seen yet")
	for i := 1; i <= 100; i++ {
		passes(a, d, i, func() { d.reads(uint64(i), time.Microsecond) })
	}
	assert.InDelta(t, 85.5, a.work().Reads, 1e-9, "the mean of 71 to 100")
	assert.LessOrEqual(t, len(a.seconds), 31)
}

func TestIntervalsThatSayNothing(t *testing.T) {
	work := func(d *drive) func() { return func() { d.reads(1, time.Millisecond) } }
	pass := func(d *drive, a *account, from, to int) {
		for i := from; i <= to; i++ {
			passes(a, d, i, work(d))
		}
	}
	t.Run("a run of ours", func(t *testing.T) {
		d, a := newDrive(), &account{}
		a.take(d.at(0), true)
		pass(d, a, 1, 10)
		a.runs(true)
		a.take(d.at(11), true)
		a.tick(at(11))
		pass(d, a, 12, 30)
		assert.Equal(t, record.Traffic{Time: at(30), Length: 30 * time.Second, Unusable: byRun}, a.close(false))
		pass(d, a, 31, 60)
		assert.EqualValues(t, 30, a.close(false).Read.IOs, "the next one does")
	})
	t.Run("counters go back", func(t *testing.T) {
		d, a := newDrive(), &account{}
		d.reads(1000, time.Millisecond)
		a.take(d.at(0), true)
		pass(d, a, 1, 10)
		d = newDrive()
		pass(d, a, 11, 30)
		got := a.close(false)
		assert.Equal(t, byReset, got.Unusable)
		assert.Equal(t, 19*time.Second, got.Length, "since it counts anew")
		assert.InDelta(t, 1, a.work().Reads, 1e-9)
	})
	t.Run("away", func(t *testing.T) {
		d, a := newDrive(), &account{}
		a.take(d.at(0), true)
		pass(d, a, 1, 10)
		a.away()
		assert.Nil(t, a.work())
		d.reads(1e6, time.Millisecond) // not seen
		a.take(d.at(100), true)
		pass(d, a, 101, 110)
		got := a.close(false)
		assert.Empty(t, got.Unusable)
		assert.EqualValues(t, 10, got.Read.IOs)
	})
	t.Run("the machine stood still", func(t *testing.T) {
		d, a := newDrive(), &account{}
		a.take(d.at(0), true)
		d.reads(3, 20*time.Second)
		a.take(d.at(20), false)
		pass(d, a, 21, 30)
		assert.Equal(t, byOurs, a.close(false).Unusable)
	})
	t.Run("statistics are off", func(t *testing.T) {
		d, a := newDrive(), &account{}
		a.take(d.at(0), true)
		for i := 1; i <= 30; i++ {
			passes(a, d, i, func() {})
		}
		assert.True(t, a.idle())
		assert.Equal(t, byBlind, a.close(true).Unusable)
	})
	t.Run("members stand for its times no longer", func(t *testing.T) {
		d, a := newDrive(), &account{}
		r := d.at(0)
		r.timing = counters.NoTimes
		a.take(r, true)
		pass(d, a, 1, 30)
		assert.Equal(t, byReset, a.close(false).Unusable)
	})
}

func TestCountersThatWrapAround(t *testing.T) {
	d, a := newDrive(), &account{}
	d.disk.ReadTime = math.MaxUint32 * time.Millisecond // 49.7 days, in 32 bits
	a.take(d.at(0), true)
	d.disk.ReadTime = 99 * time.Millisecond
	d.disk.ReadIOs += 100
	a.take(d.at(30), true)
	a.tick(at(30))
	assert.Equal(t, time.Millisecond, a.close(false).Read.MeanLatency)
}

// The time of an I/O that hangs is counted when it completes. Until then, only the busy time shows it.
func TestADeviceThatHangsIsBusy(t *testing.T) {
	d, a := newDrive(), &account{}
	a.take(d.at(0), true)
	d.disk.InFlight = 1
	for i := range 20 {
		d.disk.BusyTime += time.Second
		a.take(d.at(float64(i+1)), true)
	}
	d.disk.InFlight, d.disk.ReadIOs, d.disk.ReadTime = 0, 1, 20*time.Second
	a.take(d.at(30), true)
	assert.InDelta(t, 20./30, a.close(false).Utilisation, 1e-9)
	assert.InDelta(t, 1, Of(at(1), time.Second, counters.Disk{BusyTime: time.Second, InFlight: 2}, counters.ExactTimes).Utilisation, 1e-9)
}

func TestBusyTimeInTicks(t *testing.T) {
	d, a := newDrive(), &account{}
	a.take(d.at(0), true)
	d.reads(6000, 100*time.Microsecond)
	d.disk.BusyTime = 24 * time.Second // each of the 200 a second counts as a tick of 4 ms
	r := d.at(30)
	a.last.timing, a.first.timing, r.timing = counters.TickTimes, counters.TickTimes, counters.TickTimes
	a.take(r, true)
	got := a.close(false)
	assert.InDelta(t, 0.02, got.Utilisation, 1e-9)
	assert.True(t, got.CoarseTimes)

	// Of a device without times of its own, only the busy time of its members is known.
	d, a = newDrive(), &account{}
	first := d.at(0)
	d.disk.ReadIOs, d.disk.BusyTime, d.disk.WeightedTime = 30, 6*time.Second, 90*time.Second
	last := d.at(30)
	first.timing, last.timing = counters.NoTimes, counters.NoTimes
	a.take(first, true)
	a.take(last, true)
	got = a.close(false)
	assert.InDelta(t, 0.2, got.Utilisation, 1e-9)
	assert.InDelta(t, 3, got.InFlight, 1e-9)
	assert.Zero(t, got.Read.MeanLatency)
	assert.InDelta(t, 1, got.Work.Reads, 1e-9)
}
