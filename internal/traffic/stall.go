package traffic

import (
	"maps"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// settled is how long a stall lasts before it is counted and reported while in progress. A shorter stall is
	// reported when it ends, because only then is it known whether discards took the time. A longer stall is
	// reported again when it ends, with the cause known by then.
	settled = 10 * time.Second
	// longDiscard is the mean latency from which discards may be what holds up all other I/O.
	longDiscard = time.Second
	// recentStalls is how long a stall stays listed after its end. maxRecent is the most ended stalls that are
	// listed.
	recentStalls = time.Hour
	maxRecent    = 32
)

// stalls finds the stalls of one device.
type stalls struct {
	last *reading // of the last second; nil when there is none to compare with
	// least is the lowest number of I/Os in flight ever seen. Some kernels lose count on devices without a
	// request queue; the number then never returns to zero.
	least     uint64
	seen      bool      // whether least is known
	discarded time.Time // when long discards last completed

	now    *record.Stall // the stall in progress; nil when there is none
	booked bool          // whether now is in totals
	recent []record.Stall
	totals map[record.StallCause]record.StallTotal
}

// miss notes a second without a usable reading. It ends the stall in progress and returns it, if there is one.
func (s *stalls) miss() (told []record.Stall) {
	s.last = nil
	return s.end(0)
}

// stands reports whether I/O was in flight at the end of the last second and still is, and none completed in
// between.
func (s *stalls) stands(r reading) bool {
	if !s.completedNothing(r) {
		return false
	}
	lost := min(s.least, r.disk.InFlight)
	if r.timing == counters.ExactTimes { // counted from the requests themselves
		lost = 0
	}
	return s.last.disk.InFlight > lost && r.disk.InFlight > lost
}

// completedNothing reports whether no I/O has completed since the end of the last second. What is in flight on the
// members of an array may not be the array's I/O, but a check of it, so none must have completed there either.
func (s *stalls) completedNothing(r reading) bool {
	if s.last == nil {
		return false
	}
	counted, ok := r.since(*s.last)
	return ok && counted.IOs() == 0 && counted.ReadSectors+counted.WriteSectors == 0 && counted.MemberIOs == 0
}

// tick processes the reading at the end of a second and returns the stalls to report: each one that has ended,
// and one in progress that has become long. cause says what explains that nothing completes; it is empty when
// the device does not stall.
func (s *stalls) tick(r reading, cause record.StallCause) (told []record.Stall) {
	last := s.last
	s.last = &r
	s.forget(r.at)
	if !s.seen || r.disk.InFlight < s.least {
		s.least, s.seen = r.disk.InFlight, true
	}
	if last == nil {
		return s.end(0)
	}
	if cause != "" {
		return s.stand(last.at, r, cause)
	}
	counted, ok := r.since(*last)
	if !ok || counted.Discards == nil {
		return s.end(0)
	}
	discard := time.Duration(0)
	if d := *counted.Discards; d.IOs > 0 {
		discard = d.Time / time.Duration(d.IOs)
	}
	if discard >= longDiscard {
		s.discarded = r.at
	}
	return s.end(discard)
}

// stand lengthens the stall in progress, or begins one.
func (s *stalls) stand(from time.Time, r reading, cause record.StallCause) (told []record.Stall) {
	if cause == record.StallByDevice && r.at.Sub(s.discarded) < interval && !s.discarded.IsZero() {
		cause = record.StallByDiscard
	}
	if s.now != nil && s.now.Cause != cause {
		told = s.end(0)
	}
	if s.now == nil {
		s.now = &record.Stall{Start: from, Cause: cause, Ongoing: true}
	}
	s.now.InFlight = max(s.now.InFlight, int64(r.disk.InFlight))
	before := s.now.Length
	s.now.Length = r.at.Sub(s.now.Start)
	switch {
	case s.booked:
		s.book(0, s.now.Length-before)
	case s.now.Length.Round(second) >= settled:
		s.book(1, s.now.Length)
		s.booked = true
		told = append(told, *s.now)
	}
	return told
}

// end ends the stall in progress, if there is one. discard is the mean latency of the discards that have just
// completed. Discards issued long after the stall began explain nothing, however many they are.
func (s *stalls) end(discard time.Duration) (told []record.Stall) {
	if s.now == nil {
		return nil
	}
	stall := *s.now
	stall.Ongoing = false
	if stall.Cause == record.StallByDevice && discard >= stall.Length/2 {
		stall.Cause = record.StallByDiscard
	}
	if !s.booked { // otherwise it stays counted under its earlier cause, as counters never go down
		s.now.Cause = stall.Cause
		s.book(1, stall.Length)
	}
	s.now, s.booked = nil, false
	s.remember(stall)
	return []record.Stall{stall}
}

// cause returns the cause of the stall in progress; empty when there is none.
func (s *stalls) cause() record.StallCause {
	if s.now == nil {
		return ""
	}
	return s.now.Cause
}

// book adds to the totals for the cause of the stall in progress.
func (s *stalls) book(count uint64, length time.Duration) {
	if s.totals == nil {
		s.totals = map[record.StallCause]record.StallTotal{}
	}
	t := s.totals[s.now.Cause]
	t.Count += count
	t.Length += length
	s.totals[s.now.Cause] = t
}

// remember lists a stall, and drops the shortest one when there are too many.
func (s *stalls) remember(stall record.Stall) {
	s.recent = append(s.recent, stall)
	if len(s.recent) <= maxRecent {
		return
	}
	shortest := 0
	for i, r := range s.recent {
		if r.Length < s.recent[shortest].Length {
			shortest = i
		}
	}
	s.recent = slices.Delete(s.recent, shortest, shortest+1)
}

func (s *stalls) forget(now time.Time) {
	s.recent = slices.DeleteFunc(s.recent, func(r record.Stall) bool { return now.Sub(r.End()) > recentStalls })
}

// list returns copies of the totals and of the stalls of the last hour, including the one in progress.
func (s *stalls) list() ([]record.Stall, map[record.StallCause]record.StallTotal) {
	recent := slices.Clone(s.recent)
	if s.now != nil {
		recent = append(recent, *s.now)
	}
	return recent, maps.Clone(s.totals)
}
