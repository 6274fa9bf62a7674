package judge_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// rare is a node whose drives have a round every few minutes, each at its own time within the interval, and a little
// early or late. They also have the rounds that the judge asks for. One round in eleven is refused.
type rare struct {
	*machine
	every  time.Duration
	place  map[string]time.Duration // offset of each drive within the interval
	due    map[string]time.Time
	rounds int
}

func newRare(t *testing.T, drives int, every time.Duration) *rare {
	t.Helper()
	r := &rare{newMachine(t, drives), every, map[string]time.Duration{}, map[string]time.Time{}, 0}
	for i, id := range r.drives {
		r.place[id] = every * time.Duration(i) / time.Duration(drives)
		r.due[id] = time.Unix(0, 0).Add(r.place[id])
		r.node.Tracker(id, "read-4k").Every(every)
	}
	return r
}

// next returns the regular round of a drive after a time.
func (r *rare) next(id string, now time.Time) time.Time {
	r.rounds++
	late := r.every / 4 * time.Duration(r.rounds*7919%201-100) / 100
	return now.Truncate(r.every).Add(r.every + r.place[id] + late)
}

// until runs the rounds that are due before a time. slower is how many times slower each drive is.
func (r *rare) until(end time.Time, slower func(id string) float64) {
	for {
		id := slices.MinFunc(r.drives, func(a, b string) int { return r.due[a].Compare(r.due[b]) })
		now := r.due[id]
		if !now.Before(end) {
			return
		}
		if r.due[id] = r.next(id, now); r.rounds%11 == 0 {
			continue
		}
		x := 80e-6 * slower(id) * (1 + 0.02*float64(now.Unix()/7%17-8)/8)
		wanted := r.node.Round(id, "read-4k", drift.Round{Time: now, Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}, Work: r.work}, r.conditions)
		for _, w := range wanted {
			if at := now.Add(w.In + 2*time.Second); at.Before(r.due[w.Drive]) {
				r.due[w.Drive] = at
			}
		}
		r.events = append(r.events, r.node.Advance(now)...)
	}
}

// blamed returns the drives that were blamed, and when the first was.
func (r *rare) blamed() (first time.Time, drives []string) {
	for _, e := range r.events {
		if e.Drive != "" && e.Verdict.Blames() {
			if first.IsZero() {
				first = e.Time
			}
			drives = append(drives, e.Drive)
		}
	}
	return first, drives
}

// hostTold reports whether the host was reported as slow.
func (r *rare) hostTold() bool {
	return slices.ContainsFunc(r.events, func(e judge.Event) bool {
		return e.Scope == record.ScopeHost && e.Drive == "" && e.State == record.Regressed
	})
}

func all(x float64) func(string) float64 { return func(string) float64 { return x } }

func one(slow string, x float64) func(string) float64 {
	return func(id string) float64 {
		if id == slow {
			return x
		}
		return 1
	}
}

// Where rounds are rare, a block takes longer and begins at the same time on all drives. Otherwise each drive would
// be compared only with the few whose blocks happen to begin with its own.
func TestRareRoundsAreComparedWithThoseOfTheOthers(t *testing.T) {
	testenv.Long(t)
	begun := time.Unix(0, 0).Add(6 * day) // a final baseline takes 144 blocks
	for _, every := range []time.Duration{5 * time.Minute, 9 * time.Minute, 15 * time.Minute} {
		for _, drives := range []int{4, 12} {
			r := newRare(t, drives, every)
			r.until(begun, all(1))
			r.until(begun.Add(12*time.Hour), all(1.3))
			_, blamed := r.blamed()
			assert.Empty(t, blamed, "%d drives of a slow host, every %s", drives, every)
			assert.True(t, r.hostTold())

			r = newRare(t, drives, every)
			r.until(begun, all(1))
			r.until(begun.Add(12*time.Hour), one("d01", 1.3))
			_, blamed = r.blamed()
			assert.Equal(t, []string{"d01"}, slices.Compact(blamed), "of %d drives, every %s", drives, every)
			assert.False(t, r.hostTold())
		}
	}
}

// A drive that is far slower also asks for rounds of others. Their next rounds are minutes away, and meanwhile a slow
// host would be blamed on the drive that is probed first.
func TestASuspicionAsksForRoundsOfOthers(t *testing.T) {
	testenv.Long(t)
	begun := time.Unix(0, 0).Add(3 * day)
	for _, drives := range []int{4, 12} {
		r := newRare(t, drives, 5*time.Minute)
		r.until(begun, all(1))
		r.until(begun.Add(2*time.Hour), all(2.5))
		_, blamed := r.blamed()
		assert.Empty(t, blamed, "%d drives of a slow host", drives)
		assert.True(t, r.hostTold())
		assert.False(t, slices.ContainsFunc(r.events, func(e judge.Event) bool { return e.State == record.Improved }), "nothing is faster")

		r = newRare(t, drives, 5*time.Minute)
		r.until(begun, all(1))
		r.until(begun.Add(2*time.Hour), one("d01", 2.5))
		first, blamed := r.blamed()
		assert.Equal(t, []string{"d01"}, slices.Compact(blamed))
		assert.WithinRange(t, first, begun, begun.Add(2*5*time.Minute+70*time.Second), "a minute of rounds; one may be refused")
	}
}

// The next round is wanted at a fixed time after the start of the slow one, however long that took.
func TestARoundThatTakesLongIsFollowedInTime(t *testing.T) {
	m := newMachine(t, 1)
	m.run(2*day, steady)
	round := func(took time.Duration) []judge.Wanted {
		m.minute += 60
		return m.node.Add("d00", record.Measurement{
			Probe: "read-4k", Start: m.now(), Outcome: record.OutcomeOK, Duration: took,
			Latency: record.Histogram{{Latency: time.Millisecond, Count: 256}},
		})
	}
	assert.Equal(t, []judge.Wanted{{Drive: "d00", In: drift.ConfirmAfter - 9*time.Second}}, round(9*time.Second))
	assert.Equal(t, []judge.Wanted{{Drive: "d00"}}, round(time.Minute))
}
