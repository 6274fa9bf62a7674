package judge_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// rare is a node whose drives have a round every five minutes, each at another moment of them, and the rounds that the
// judge asks for.
type rare struct {
	*machine
	due map[string]time.Time
}

func newRare(t *testing.T, drives int) *rare {
	t.Helper()
	r := &rare{newMachine(t, drives), map[string]time.Time{}}
	for i, id := range r.drives {
		r.due[id] = time.Unix(int64(i*300/drives), 0)
		r.node.Tracker(id, "read-4k").Every(5 * time.Minute)
	}
	return r
}

// until has the rounds that are due before a time. slower is how many times slower each drive is.
func (r *rare) until(end time.Time, slower func(id string) float64) {
	for {
		id := slices.MinFunc(r.drives, func(a, b string) int { return r.due[a].Compare(r.due[b]) })
		now := r.due[id]
		if !now.Before(end) {
			return
		}
		r.due[id] = now.Add(5 * time.Minute)
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

// blamed are the drives that were, and when the first was.
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

// hostTold reports whether something was said of the host.
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

// Where rounds are rare, a block takes ten minutes, the same ones for all drives: else each would be compared with those few
// whose blocks happen to begin with its own.
func TestRareRoundsAreComparedWithThoseOfTheOthers(t *testing.T) {
	begun := time.Unix(0, 0).Add(3 * day)
	for _, drives := range []int{4, 12} {
		r := newRare(t, drives)
		r.until(begun, all(1))
		r.until(begun.Add(6*time.Hour), all(1.3))
		_, blamed := r.blamed()
		assert.Empty(t, blamed, "%d drives of a slow host", drives)
		assert.True(t, r.hostTold())

		r = newRare(t, drives)
		r.until(begun, all(1))
		r.until(begun.Add(6*time.Hour), one("d01", 1.3))
		_, blamed = r.blamed()
		assert.Equal(t, []string{"d01"}, slices.Compact(blamed))
		assert.False(t, r.hostTold())
	}
}

// A drive that is far slower asks for rounds of others, too: else a slow host would be blamed on the drive that is probed
// first, as the next rounds of the others are minutes away.
func TestASuspicionAsksForRoundsOfOthers(t *testing.T) {
	begun := time.Unix(0, 0).Add(3 * day)
	for _, drives := range []int{4, 12} {
		r := newRare(t, drives)
		r.until(begun, all(1))
		r.until(begun.Add(2*time.Hour), all(2.5))
		_, blamed := r.blamed()
		assert.Empty(t, blamed, "%d drives of a slow host", drives)
		assert.True(t, r.hostTold())
		assert.False(t, slices.ContainsFunc(r.events, func(e judge.Event) bool { return e.State == record.Improved }), "nothing is faster")

		r = newRare(t, drives)
		r.until(begun, all(1))
		r.until(begun.Add(2*time.Hour), one("d01", 2.5))
		first, blamed := r.blamed()
		assert.Equal(t, []string{"d01"}, slices.Compact(blamed))
		due := time.Duration(300/drives) * time.Second // its next round
		assert.WithinRange(t, first, begun, begun.Add(due+70*time.Second), "a minute of rounds")
	}
}
