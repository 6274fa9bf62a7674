package recorder

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

func TestASecondIsWhatWasCountedInIt(t *testing.T) {
	w := newWorld("a")
	w.host = Host{0.25, 0.125, 0.5, math.NaN(), 0}
	w.reads("a", 1e6, time.Hour/1e6) // before the first reading
	w.pass()
	w.reads("a", 100, 2*time.Millisecond)
	d := w.devices["a"]
	d.WriteIOs, d.WriteSectors, d.WriteTime = 10, 160, 50*time.Millisecond
	d.Discards.IOs, d.Discards.Sectors, d.Discards.Time = 1, 2048, time.Second
	d.Flushes.IOs, d.Flushes.Time = 4, 12*time.Millisecond
	d.InFlight = 3
	w.stalls["a"] = record.StallByReset
	w.pass()
	w.stall("a", 0)
	w.run(61, nil)
	got := w.due(t)
	require.Len(t, got.Devices, 1)
	assert.Equal(t, record.DeviceSecond{
		Time: start().Add(time.Second), Unknown: true,
	}, got.Devices[0].Seconds[0], "there is nothing to compare it with")
	assert.Equal(t, record.DeviceSecond{
		Time: start().Add(2 * time.Second), InFlight: 3, Stall: record.StallByReset, Busy: 2 * time.Millisecond,
		Read:    record.ServedNow{IOs: 100, Bytes: 409600, MeanLatency: 2 * time.Millisecond},
		Write:   record.ServedNow{IOs: 10, Bytes: 81920, MeanLatency: 5 * time.Millisecond},
		Discard: record.ServedNow{IOs: 1, Bytes: 1 << 20, MeanLatency: time.Second},
		Flush:   record.ServedNow{IOs: 4, MeanLatency: 3 * time.Millisecond},
	}, got.Devices[0].Seconds[1])
	assert.Equal(t, record.HostSecond{
		Time: start().Add(2 * time.Second), Length: time.Second,
		IOPressureSome: new(0.25), IOPressureFull: new(0.125), CPUBusy: new(0.5), CPUSteal: new(0.),
	}, got.Host[1], "what was not read is not there")
}

func TestTheRingWrapsAround(t *testing.T) {
	w := newWorld("a")
	w.run(3*seconds+17, func(i int) { w.reads("a", uint64(i+1), time.Millisecond) })
	w.stall("a", 0)
	w.run(61, nil)
	got := w.due(t).Devices[0].Seconds
	require.Len(t, got, 120)
	last := 3*seconds + 17
	for i, s := range got[:60] {
		assert.EqualValues(t, last-59+i, s.Read.IOs)
		assert.Equal(t, start().Add(time.Duration(last-59+i)*time.Second), s.Time)
	}
	for _, s := range got[60:] {
		assert.Zero(t, s.IOs())
	}
	w.mustBeWritten(t)
	// Only seconds that are kept are found, even when more are asked for.
	assert.Len(t, w.ring.rows(0, w.steady), seconds)
}

func TestDevicesThatComeAndGo(t *testing.T) {
	w := newWorld("stays", "leaves")
	w.run(10, nil)
	leaves := w.devices["leaves"]
	delete(w.devices, "leaves")
	w.run(10, nil)
	leaves.ReadIOs += 1e6 // not seen
	w.devices["leaves"] = leaves
	w.come("new")
	w.run(10, func(int) { w.reads("leaves", 1, time.Millisecond); w.reads("new", 1, time.Millisecond) })
	w.stall("leaves", 0)
	w.run(61, nil)
	got := w.due(t)
	require.Len(t, got.Devices, 2)
	assert.Equal(t, []string{"name-of-stays"}, got.Idle)
	back := got.Devices[1]
	assert.Equal(t, "leaves", back.Device.ID)
	assert.Len(t, back.Seconds, 10+10+60, "the seconds without it are not there")
	assert.True(t, back.Seconds[10].Unknown, "what it counted while it was away is of no second")
	assert.Zero(t, back.Seconds[10].IOs())
	assert.EqualValues(t, 1, back.Seconds[11].Read.IOs)
	assert.Len(t, got.Devices[0].Seconds, 70)
}

func TestDevicesThatHaveLeftAreForgotten(t *testing.T) {
	w := newWorld("stays")
	w.run(1, nil)
	for i := range 100 {
		id := fmt.Sprint(i)
		w.come(id)
		w.pass()
		delete(w.devices, id)
	}
	w.pass()
	assert.Len(t, w.ring.devices, 1+mostGone)
	assert.NotNil(t, w.ring.devices["99"], "those that left last are kept")
	w.run(seconds+1, nil)
	assert.Len(t, w.ring.devices, 1)
	assert.Len(t, w.ring.spare, 1)
	w.come("new")
	w.pass()
	w.stall("new", 0)
	w.run(61, nil)
	assert.Len(t, w.due(t).Devices[0].Seconds, 61, "nothing is left of the device whose memory it has")
}

func TestCountersThatGoBack(t *testing.T) {
	w := newWorld("a")
	w.reads("a", 1000, time.Millisecond)
	w.run(5, nil)
	w.come("a")
	w.pass()
	w.stall("a", 0)
	w.run(61, nil)
	got := w.due(t).Devices[0].Seconds[5]
	assert.True(t, got.Unknown)
	assert.Zero(t, got.IOs())
}

// A device whose statistics are off is neither idle nor known to have done nothing.
func TestADeviceThatDoesNotCount(t *testing.T) {
	w := newWorld("a", "b")
	w.unusable["b"] = "its statistics are off"
	w.run(70, func(int) { w.reads("a", 1, time.Millisecond) })
	w.stall("a", 0)
	w.run(61, nil)
	got := w.due(t)
	assert.Empty(t, got.Idle)
	require.Len(t, got.Devices, 2)
	for i, s := range got.Devices[1].Seconds {
		require.True(t, s.Unknown, i)
	}
}

func TestTheClockIsSet(t *testing.T) {
	for name, step := range map[string]time.Duration{"back": -time.Hour, "forwards, or the machine was suspended": 3 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := newWorld("a")
			w.run(100, func(int) { w.reads("a", 1, time.Millisecond) })
			w.wall = w.wall.Add(step)
			w.run(10, func(int) { w.reads("a", 1, time.Millisecond) })
			w.stall("a", 0)
			w.run(61, nil)
			got := w.due(t)
			require.Len(t, got.Host, 120, "seconds are found by the clock that nobody sets")
			assert.Equal(t, step, got.Host[50].ClockStep)
			assert.Zero(t, got.Host[49].ClockStep)
			assert.Zero(t, got.Host[51].ClockStep)
			assert.Equal(t, time.Second, got.Host[50].Length)
			assert.Equal(t, got.Host[49].Time.Add(step+time.Second), got.Host[50].Time)
			again, err := Decode(readerOf(t, got))
			require.NoError(t, err)
			assert.Equal(t, got, again, "its lines keep their order")
		})
	}
}

func TestTheProcessStoodStill(t *testing.T) {
	w := newWorld("a")
	w.run(20, nil)
	w.wall, w.steady = w.wall.Add(30*time.Second), w.steady+30*time.Second
	w.reads("a", 7, time.Millisecond)
	w.take(traffic.Second{StoodStill: true})
	w.stall("a", 0)
	w.run(61, nil)
	got := w.due(t)
	assert.Equal(t, 30*time.Second, got.Host[20].Length)
	assert.True(t, got.Host[20].StoodStill)
	assert.Zero(t, got.Host[20].ClockStep)
	assert.EqualValues(t, 7, got.Devices[0].Seconds[20].Read.IOs)
}

// The memory limit from the issue: 4 MiB for 24 devices when all seconds of the ring are in use.
func TestMemory(t *testing.T) {
	assert.Less(t, memoryOf(t, 24), uint64(4<<20))
}

// A recording is written a minute after the event. In a storm, the slow I/Os of its whole time must still be
// there.
func TestAStormDoesNotPushOutWhatLedToIt(t *testing.T) {
	var s slowIOs
	for second := range 300 {
		for range 4 {
			s.take(time.Duration(second)*time.Second, record.SlowIO{})
		}
	}
	assert.Len(t, s.between(179*time.Second, 299*time.Second), 4*120)
}

// memoryOf returns how much memory a recorder takes for that many devices.
func memoryOf(tb testing.TB, devices int) uint64 {
	tb.Helper()
	s := secondOf(devices)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w := newWorld()
	for range 2 {
		w.steady += time.Second
		w.Take(s, w.host)
	}
	for id := range w.ring.devices { // a storm of slow I/Os has begun on each of them
		for range mostSlow {
			w.Slow(id, []record.SlowIO{{Operation: record.OperationRead}})
		}
	}
	runtime.GC() // only the last of the grown slices remains
	runtime.ReadMemStats(&after)
	require.Len(tb, w.ring.devices, devices)
	return after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)
}

func TestSamplingAllocatesNothing(t *testing.T) {
	w, s := newWorld(), secondOf(24)
	w.Take(s, Host{})
	assert.Zero(t, testing.AllocsPerRun(2*seconds, func() {
		w.steady += time.Second
		for i := range s.Devices {
			s.Devices[i].Disk.ReadIOs++
		}
		w.Take(s, Host{})
	}))
}

func TestReadingsOfTheDaemon(t *testing.T) {
	w := newWorld("a")
	read := func(celsius int, interrupts uint64) {
		reading := Reading{Time: w.wall, Celsius: &celsius, Link: record.LinkRate{GTs: 16, Lanes: 4}, Interrupts: &interrupts, Counted: w.wall}
		w.Read("a", reading)
		w.Read("a", reading) // known already
		w.Read("nobody", reading)
	}
	w.run(180, func(i int) {
		if i%60 == 1 {
			read(30+i/60, uint64(i*100))
		}
	})
	w.stall("a", 0)
	w.run(61, nil)
	assert.Equal(t, []record.DeviceReading{
		{Time: start().Add(61 * time.Second), Celsius: new(31), Link: "16 GT/s x4", InterruptsPerSecond: new(100.)},
		{Time: start().Add(121 * time.Second), Celsius: new(32), Link: "16 GT/s x4", InterruptsPerSecond: new(100.)},
	}, w.due(t).Devices[0].Readings, "those of the window, and the last one before it")
	w.mustBeWritten(t)
	w.run(100*mostReadings, func(int) { read(40, 0) })
	w.stall("a", 0)
	w.run(61, nil)
	assert.Len(t, w.due(t).Devices[0].Readings, mostReadings)
}
