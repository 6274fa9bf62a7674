package traffic

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// interval is the length of the interval that a record.Traffic covers. window is how far back the work
	// before a round is measured.
	interval = 30 * time.Second
	window   = record.TrafficWindow
	// minSpan is the shortest time for which work is reported.
	minSpan = 500 * time.Millisecond
)

// reading is what a device's counters showed at a time.
type reading struct {
	at     time.Time
	disk   counters.Disk
	timing counters.Timing
}

// newReading drops the disk's name, because readings from sysfs have none.
func newReading(at time.Time, d counters.Disk, timing counters.Timing) reading {
	d.Name = ""
	return reading{at, d, timing}
}

// since returns what was counted after before. It returns false when the two readings cannot be compared.
func (r reading) since(before reading) (counters.Disk, bool) {
	if r.timing != before.timing { // the times now come from other devices
		return counters.Disk{}, false
	}
	return r.disk.Since(before.disk)
}

// account separates the I/O of others on a device from our own. Readings must be added in the order of their
// times. Sampler.mu guards an account.
type account struct {
	last *reading // the most recent reading
	// run says whether a run of ours uses the device or has just ended. ran says whether one used the device at
	// the end of the last second.
	run, ran bool
	// round says that a round of ours began or ended in the current second. ours says that a round or a run of
	// ours used the device in the last second.
	round, ours bool

	others  totals                    // what others did since the account was created
	seconds []moment                  // totals of others at the beginning of the window and at the end of each second in it
	worst   [operations]time.Duration // highest mean latency in a second of this interval, at least

	began    moment // start of this interval
	first    reading
	unusable string // why this interval has no result for others; empty when it has one
	stalls   stalls
}

// moment is the totals of others at a time.
type moment struct {
	at     time.Time
	others totals
}

// The reasons why an interval is unusable.
const (
	byRun   = "a run of ssdprobe used the device"
	byReset = "the device was away, or began to count anew"
	byOurs  = "rounds of probes, or a standstill of this machine, took most of the time"
	byBlind = "the device does not count: its statistics are switched off (queue/iostats)"
)

// take adds a reading to the account. others says that what was counted since the last reading belongs to
// others: no round of ours was in progress, and the machine did not stand still.
func (a *account) take(r reading, others bool) {
	last := a.last
	a.last = &r
	if last == nil {
		a.restart(r)
		return
	}
	counted, ok := r.since(*last)
	switch {
	case !ok:
		a.restart(r)
		a.unusable = byReset
	case others && !a.run:
		a.others.add(totalsOf(r.at.Sub(last.at), counted, r.timing))
	}
}

// restart starts a new interval and a new window; earlier seconds are forgotten.
func (a *account) restart(r reading) {
	a.begin(r)
	a.seconds = []moment{a.began}
}

// begin starts a new interval.
func (a *account) begin(r reading) {
	a.first, a.unusable, a.worst = r, "", [operations]time.Duration{}
	a.began = moment{r.at, a.others}
	if a.ran {
		a.unusable = byRun
	}
}

// away notes that the device is absent, and returns the stall that this ends, if any. A new interval starts
// when the device returns.
func (a *account) away() (told []record.Stall) {
	a.last = nil
	return a.stalls.miss()
}

// tick ends a second.
func (a *account) tick(at time.Time) {
	before := a.seconds[len(a.seconds)-1]
	for i, s := range a.others.since(before.others).served {
		a.worst[i] = max(a.worst[i], s.least())
	}
	a.seconds = append(a.seconds, moment{at, a.others})
	for at.Sub(a.seconds[1].at) >= window {
		a.seconds = a.seconds[1:]
	}
}

// work returns what others asked for per second, over the window or, if shorter, since the account restarted.
// It is nil when the device is absent or that time is too short.
func (a *account) work() *record.Work {
	if a.last == nil {
		return nil
	}
	t := a.others.since(a.seconds[0].others)
	if t.span < minSpan {
		return nil
	}
	return new(t.work())
}

// runs notes whether a run of ours uses the device at the end of a second. What was counted in that second
// belongs to the run if it used the device at the beginning or the end of the second.
func (a *account) runs(now bool) {
	a.run, a.ran = now || a.ran, now
	if a.run {
		a.unusable = byRun
	}
}

// idle reports whether nothing was counted in this interval and nothing is in flight.
func (a *account) idle() bool {
	counted, ok := a.last.since(a.first)
	return ok && counted.IOs() == 0 && a.last.disk.InFlight == 0
}

// close ends the interval at the last reading and returns its result for others. blind says that the device
// does not count.
func (a *account) close(blind bool) record.Traffic {
	defer a.begin(*a.last)
	r := *a.last
	t := record.Traffic{Time: r.at, Length: r.at.Sub(a.began.at), Unusable: a.unusable}
	others := a.others.since(a.began.others)
	switch {
	case t.Unusable != "":
	case blind:
		t.Unusable = byBlind
	case others.span < t.Length/2:
		t.Unusable = byOurs
	}
	if t.Unusable != "" {
		return t
	}
	others.say(&t, r.timing)
	for i, of := range []*record.Served{read: &t.Read, write: &t.Write, discard: &t.Discard, flush: &t.Flush} {
		of.WorstSecond = max(a.worst[i], of.MeanLatency)
	}
	return t
}
