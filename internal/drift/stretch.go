package drift

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// stretchLength is how long, and stretchRounds for how many rounds, a device must be far too slow to have
	// regressed without waiting for whole blocks.
	stretchLength, stretchRounds = 5 * time.Minute, 5
	// stretchOthers is how many slow rounds are needed for each round that is not slow.
	stretchOthers = 5
	// stretchGap is a gap between rounds that ends a stretch: nobody knows what happened in it.
	stretchGap = 30 * time.Minute
	// stretchOfOthers is how long before a first slow round the rounds of other drives are still of the same time.
	stretchOfOthers = 2 * time.Minute
)

// stretch is a run of rounds that are nearly all far too slow.
type stretch struct {
	From   time.Time `json:"from,omitzero"`
	Last   time.Time `json:"last,omitzero"`
	Others int       `json:"others,omitempty"`
	Count  int       `json:"count,omitempty"`
	// Shifts are the shifts of the last slow rounds, at most stretchKept.
	Shifts []Shift `json:"shifts,omitempty"`
}

const stretchKept = 32

// quick lists stretches of rounds so slow that fewer of them are enough. They are for medians and means only: a tail
// is that slow now and then.
func quick() [2]quickStretch {
	return [2]quickStretch{{4, 60 * time.Second, ShiftOf(1.75)}, {3, 40 * time.Second, ShiftOf(3.5)}}
}

// ConfirmAfter is the best delay from a round that was far too slow to the next one: a quick stretch then reaches its
// length with the fewest rounds.
const ConfirmAfter = 20 * time.Second

type quickStretch struct {
	rounds int
	length time.Duration
	slower Shift
}

// add takes a round, which is slow above a limit, and returns whether the stretch is long enough now.
func (s *stretch) add(at time.Time, x, limit Shift, mayBeQuick bool) bool {
	slow := x > limit
	if !slow && s.Count == 0 {
		return false
	}
	if gap := at.Sub(s.Last); gap < 0 || gap > stretchGap {
		*s = stretch{}
	}
	s.Last = at
	if !slow {
		s.Others++
		if s.Others*stretchOthers > s.Count {
			*s = stretch{}
		}
		return false
	}
	if s.Count == 0 {
		s.From = at
	}
	s.Count++
	if s.Shifts = append(s.Shifts, x); len(s.Shifts) > stretchKept {
		s.Shifts = slices.Delete(s.Shifts, 0, 1)
	}
	for _, q := range quick() {
		if n := len(s.Shifts) - q.rounds; mayBeQuick && s.Others == 0 && n >= 0 && at.Sub(s.From) >= q.length && slices.Min(s.Shifts[n:]) > q.slower {
			return true
		}
	}
	return s.Count >= stretchRounds && at.Sub(s.From) >= stretchLength
}

// since returns from when on rounds of other drives say whether those are slow, too. That is the first slow round of
// this device: in earlier rounds it was not slow, either.
func (s *stretch) since(now time.Time) time.Time {
	if s.Count == 0 {
		return now.Add(-stretchOfOthers)
	}
	return s.From
}

func (s *stretch) middle() Shift {
	if len(s.Shifts) == 0 {
		return 0
	}
	return median(slices.Clone(s.Shifts))
}

// judgeRound is the fast path: it looks for shifts so large that they need not wait for
// whole blocks. Under a load that the baseline has not seen, it allows for what a queue
// explains. Tails are not judged then, as their growth under load follows no simple law.
func (t *Tracker) judgeRound(p point, now time.Time) {
	b := t.current().Baseline
	load := b.load(p.Work, p.Load)
	known := b.knows(load)
	var since time.Time // from when on the others were asked: mostly the same for all statistics
	var others Shifts
	for i := range t.names {
		v, n := &t.verdicts[i], &b.Of[i]
		if v.State == record.Regressed || !t.judgeable(i) || !p.Shifts[i].Known() || !known && t.isTail(i) || t.traffic() && !n.likeWork(p.Work, i) {
			continue
		}
		x, limit := p.Shifts[i]-n.Curve.at(load), n.LargeAbove+b.doubt(load, i)
		if x+max(0, n.Host) > limit { // the baseline may have been learned while the host was slow
			if from := v.Fast.since(now); from != since {
				since, others = from, t.host.Now(from)
			}
			at := t.blockSlot(slot(now))
			x -= t.hostPart(i, at, others[i], x)
			x -= t.ofDay(i, at, x)
		}
		if v.Fast.add(now, x, limit, !t.isTail(i) && !n.SlowAccepted) {
			t.know(i, now)
			t.find(i, record.Regressed, record.ByLargeShift, v.Fast.From, now)
		}
	}
}
