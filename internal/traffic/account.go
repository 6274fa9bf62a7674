package traffic

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// interval is what a record.Traffic is about, and window what the work before a round is about.
	interval = 30 * time.Second
	window   = record.TrafficWindow
	// minSpan is the shortest time over which work means something.
	minSpan = 500 * time.Millisecond
)

// reading is what a device had counted at a time.
type reading struct {
	at     time.Time
	disk   counters.Disk
	timing counters.Timing
}

// newReading leaves out the name, which sysfs does not tell.
func newReading(at time.Time, d counters.Disk, timing counters.Timing) reading {
	d.Name = ""
	return reading{at, d, timing}
}

// since returns what was counted after before; false when the two cannot be compared.
func (r reading) since(before reading) (counters.Disk, bool) {
	if r.timing != before.timing { // others stand for its times now
		return counters.Disk{}, false
	}
	return r.disk.Since(before.disk)
}

// account keeps what others do to a device apart from what we do. It gets readings in the order of
// their time, and belongs to the lock of the Sampler.
type account struct {
	last *reading // of any time
	// run says whether a run of ours uses the device or has just ended, ran whether it did when
	// last looked.
	run, ran bool
	// round says that a round of ours has begun or ended in this second, ours that anything of ours
	// used the device in the last one.
	round, ours bool

	others  totals             // since the account was opened
	seconds []moment           // others at the end of each second of the window, and at its beginning
	worst   [operations]served // of the second with the highest mean in this interval

	began    moment // when this interval did
	first    reading
	unusable string // why this interval says nothing of others
	stalls   stalls
}

// moment is what had been counted for others at a time.
type moment struct {
	at     time.Time
	others totals
}

// The reasons for an interval to be unusable.
const (
	byRun   = "a run of ssdprobe used the device"
	byReset = "the device was away, or began to count anew"
	byOurs  = "rounds of probes, or a standstill of this machine, took most of the time"
	byBlind = "the device does not count: its statistics are switched off (queue/iostats)"
)

// take adds a reading to the account. others says that what was counted since the last one was done
// for others: that no round of ours was in progress, and the machine was not standing still.
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
		a.others.add(totalsOf(r.at.Sub(last.at), counted))
	}
}

// restart begins a new interval that follows on nothing.
func (a *account) restart(r reading) {
	a.begin(r)
	a.seconds = []moment{a.began}
}

// begin begins a new interval.
func (a *account) begin(r reading) {
	a.first, a.unusable, a.worst = r, "", [operations]served{}
	a.began = moment{r.at, a.others}
	if a.ran {
		a.unusable = byRun
	}
}

// away notes that the device is not there. When it is again, an interval begins.
func (a *account) away() (told []record.Stall) {
	a.last = nil
	return a.stalls.miss()
}

// tick ends a second.
func (a *account) tick(at time.Time) {
	before := a.seconds[len(a.seconds)-1]
	for i, s := range a.others.since(before.others).served {
		if s.mean() > a.worst[i].mean() {
			a.worst[i] = s
		}
	}
	a.seconds = append(a.seconds, moment{at, a.others})
	for at.Sub(a.seconds[1].at) >= window {
		a.seconds = a.seconds[1:]
	}
}

// work is what others asked for in the last half minute, or since the device is watched; nil when
// that is too short.
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

// runs notes whether a run of ours uses the device at the end of a second. What was counted in the
// second is the run's if it did at its beginning or does at its end.
func (a *account) runs(now bool) {
	a.run, a.ran = now || a.ran, now
	if a.run {
		a.unusable = byRun
	}
}

// idle reports whether nothing at all was counted in this interval.
func (a *account) idle() bool {
	counted, ok := a.last.since(a.first)
	return ok && counted.IOs() == 0 && a.last.disk.InFlight == 0
}

// close ends the interval at the last reading, and returns what it says of others. blind says that the
// device does not count.
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
		of.WorstSecond = a.worst[i].mean()
	}
	return t
}
