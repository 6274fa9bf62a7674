package recorder

import (
	"math"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

const (
	// seconds is how many seconds are kept, and keep how long a device that has left is kept.
	seconds = 600
	keep    = seconds * time.Second
	// mostGone is how many devices that have left are kept, so that devices that come and go do not take ever
	// more memory.
	mostGone = 16
	// leastStep is the smallest difference between the two clocks that counts as a step.
	leastStep = time.Second
)

// Host holds the shares of a HostSecond, from 0 to 1; NaN where nothing was read.
type Host struct {
	IOPressureSome, IOPressureFull, CPUBusy, CPUWait, CPUSteal float64
}

// ring holds the last seconds of the host and of all devices.
type ring struct {
	wall   [seconds]int64 // ms since 1970
	steady [seconds]time.Duration
	length [seconds]time.Duration // since the row before; 0 in the first row
	step   [seconds]time.Duration // of the wall clock; 0 when there was none
	stood  [seconds]bool
	host   [seconds]struct{ some, full, busy, wait, steal float32 }
	slow   [seconds]uint64 // slow I/Os that were not reported

	next, n int // row of the next second, and how many rows are in use
	devices map[string]*columns
	spare   []*columns // of devices that have left, for reuse
	gone    int
}

func newRing() *ring { return &ring{devices: map[string]*columns{}} }

// take stores a second.
func (r *ring) take(wall time.Time, steady time.Duration, s traffic.Second, host Host) {
	row := r.next
	r.wall[row], r.steady[row], r.stood[row] = wall.UnixMilli(), steady, s.StoodStill
	r.length[row], r.step[row], r.slow[row] = 0, 0, 0
	if r.n > 0 {
		before := (row + seconds - 1) % seconds
		r.length[row] = steady - r.steady[before]
		step := time.Duration(r.wall[row]-r.wall[before])*time.Millisecond - r.length[row]
		if step.Abs() >= leastStep {
			r.step[row] = step
		}
	}
	h := &r.host[row]
	h.some, h.full = float32(host.IOPressureSome), float32(host.IOPressureFull)
	h.busy, h.wait, h.steal = float32(host.CPUBusy), float32(host.CPUWait), float32(host.CPUSteal)
	for _, d := range s.Devices {
		c, ok := r.devices[d.ID]
		if !ok {
			c = r.unused()
			r.devices[d.ID] = c
		}
		c.take(row, steady, d)
	}
	r.gone = 0
	for id, c := range r.devices {
		if c.seen == steady {
			continue
		}
		c.miss(row)
		r.gone++
		if steady-c.seen > keep {
			r.drop(id)
		}
	}
	for r.gone > mostGone {
		r.drop(r.longestGone())
	}
	r.next, r.n = (row+1)%seconds, min(r.n+1, seconds)
}

// missSlow adds slow I/Os that were not reported to the last second.
func (r *ring) missSlow(n uint64) {
	if r.n > 0 {
		r.slow[(r.next+seconds-1)%seconds] += n
	}
}

// unused returns empty columns for a device.
func (r *ring) unused() *columns {
	if n := len(r.spare); n > 0 {
		c := r.spare[n-1]
		r.spare = r.spare[:n-1]
		c.forget()
		return c
	}
	return &columns{}
}

// drop forgets a device that has left. The columns of one such device are kept for reuse.
func (r *ring) drop(id string) {
	if len(r.spare) == 0 {
		r.spare = append(r.spare, r.devices[id])
	}
	delete(r.devices, id)
	r.gone--
}

func (r *ring) longestGone() (longest string) {
	for id, c := range r.devices {
		if before := r.devices[longest]; before == nil || c.seen < before.seen {
			longest = id
		}
	}
	return longest
}

// rows returns the rows that end in a span, the oldest first.
func (r *ring) rows(from, until time.Duration) (rows []int) {
	for i := range r.n {
		row := (r.next - r.n + i + seconds) % seconds
		if at := r.steady[row]; at > from && at <= until {
			rows = append(rows, row)
		}
	}
	return rows
}

// first returns when the oldest second that is kept ended; false when there is none.
func (r *ring) first() (time.Duration, bool) {
	return r.steady[(r.next-r.n+seconds)%seconds], r.n > 0
}

// end returns the time of day at the end of a row.
func (r *ring) end(row int) time.Time { return time.UnixMilli(r.wall[row]).UTC() }

// hostSecond returns what is known of the host in a row.
func (r *ring) hostSecond(row int) record.HostSecond {
	h := r.host[row]
	return record.HostSecond{
		Time: r.end(row), Length: r.length[row].Round(time.Millisecond), StoodStill: r.stood[row], ClockStep: r.step[row].Round(time.Millisecond),
		IOPressureSome: rounded(float64(h.some)), IOPressureFull: rounded(float64(h.full)),
		CPUBusy: rounded(float64(h.busy)), CPUWait: rounded(float64(h.wait)), CPUSteal: rounded(float64(h.steal)), SlowUnreported: int64(r.slow[row]),
	}
}

// recording returns what is known of a span. Devices that are known to have done nothing are only named, unless
// they are in wanted. describe returns a device by its id.
func (r *ring) recording(from, until time.Duration, wanted []string, describe func(id string) record.Device) (rec record.Recording) {
	rows := r.rows(from, until)
	rec.Host = []record.HostSecond{}
	for _, row := range rows {
		rec.Host = append(rec.Host, r.hostSecond(row))
	}
	if len(rows) > 0 {
		first := rec.Host[0]
		rec.From, rec.Until = first.Time.Add(-first.Length), rec.Host[len(rows)-1].Time
	}
	rec.Devices = []record.DeviceRecording{}
	for id, c := range r.devices {
		d := record.DeviceRecording{}
		did := slices.Contains(wanted, id)
		for _, row := range rows {
			if s, there := c.second(row, r.end(row)); there {
				d.Seconds = append(d.Seconds, s)
				did = did || s.IOs() > 0 || s.InFlight > 0 || s.Unknown && len(d.Seconds) > 1
			}
		}
		if len(d.Seconds) == 0 {
			continue
		}
		d.Device = describe(id)
		if !did {
			rec.Idle = append(rec.Idle, d.Device.Name)
			continue
		}
		d.Readings = c.readings.between(from, until)
		d.Slow = c.slow.between(from, until+time.Second) // they are reported up to a second later
		rec.Devices = append(rec.Devices, d)
	}
	slices.Sort(rec.Idle)
	slices.SortFunc(rec.Devices, func(a, b record.DeviceRecording) int { return compareNames(a.Device, b.Device) })
	return rec
}

// rounded returns v rounded to four decimal places; nil when it is NaN.
func rounded(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return new(math.Round(v*1e4) / 1e4)
}
