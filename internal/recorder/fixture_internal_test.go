package recorder

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

// world is a recorder with simulated clocks and devices.
type world struct {
	*Recorder
	wall     time.Time
	steady   time.Duration
	devices  map[string]*counters.Disk
	stalls   map[string]record.StallCause
	unusable map[string]string
	host     Host
	taken    map[string]bool
}

func start() time.Time { return time.Date(2026, 5, 4, 13, 0, 0, 0, time.UTC) }

func newWorld(ids ...string) *world {
	w := &world{wall: start(), devices: map[string]*counters.Disk{}, stalls: map[string]record.StallCause{}, unusable: map[string]string{}, taken: map[string]bool{}}
	for _, id := range ids {
		w.come(id)
	}
	w.Recorder = New(Options{
		Clock:    func() (time.Time, time.Duration) { return w.wall, w.steady },
		Describe: func(id string) record.Device { return record.Device{ID: id, Name: "name-of-" + id} },
		Taken:    func(id string) bool { return w.taken[id] },
	})
	w.Switch(true)
	return w
}

// come adds a device that has counted nothing.
func (w *world) come(id string) {
	w.devices[id] = &counters.Disk{Number: "259:0", Discards: &counters.Discards{}, Flushes: &counters.Flushes{}}
}

// pass lets a second pass on both clocks.
func (w *world) pass() {
	w.wall, w.steady = w.wall.Add(time.Second), w.steady+time.Second
	w.take(traffic.Second{})
}

func (w *world) take(s traffic.Second) {
	for id, d := range w.devices {
		s.Devices = append(s.Devices, traffic.Counted{Device: traffic.Device{ID: id}, Disk: *d, Timing: counters.ExactTimes, Stall: w.stalls[id], Unusable: w.unusable[id]})
	}
	w.Take(s, w.host)
}

// run lets n seconds pass, and calls does at the beginning of each.
func (w *world) run(n int, does func(i int)) {
	for i := range n {
		if does != nil {
			does(i)
		}
		w.pass()
	}
}

// reads completes n reads of 4 KiB with a latency of each.
func (w *world) reads(id string, n uint64, each time.Duration) {
	d := w.devices[id]
	d.ReadIOs += n
	d.ReadSectors += counters.Sectors512(8 * n)
	d.ReadTime += each * time.Duration(n)
	d.BusyTime += each
}

// stall triggers a recording because of a stall that began ago before now.
func (w *world) stall(id string, ago time.Duration) string {
	return w.Trigger(record.Trigger{Time: w.wall.Add(-ago), Kind: record.TriggerStall, TargetID: id, DeviceID: id, Device: id, Text: "no I/O"}, ago)
}

// due returns the recording that is due, which must be the only one.
func (w *world) due(t *testing.T) record.Recording {
	t.Helper()
	all := w.Due()
	require.Len(t, all, 1)
	return all[0]
}
