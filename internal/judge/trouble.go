package judge

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// remembered is how long a drive is held to what it did.
	remembered = time.Hour
	// manyErrors within errorsWithin are no accident. A drive that was pulled out is gone before.
	manyErrors   = 3
	errorsWithin = 10 * time.Minute
)

// The witnesses of what is no matter of speed.
const (
	byStalls = "stalls"
	byErrors = "errors"
)

// trouble is what a drive did lately that is no matter of speed.
type trouble struct {
	stalls []record.Stall // of all causes, oldest first
	hang   record.Stall   // a round that does not return, or the last that did not
	errors []time.Time    // rounds in which I/Os failed, oldest first
}

// Stall takes a stall of a drive. One that goes on is taken again, with the same start, when it is over.
func (n *Node) Stall(id string, s record.Stall) {
	d := n.byID[id]
	if d == nil {
		return
	}
	t := &d.trouble
	t.stalls = slices.DeleteFunc(t.stalls, func(known record.Stall) bool { return known.Start.Equal(s.Start) })
	t.stalls = append(t.stalls, s)
}

// took takes a round of any outcome.
func (t *trouble) took(m record.Measurement) {
	switch m.Outcome {
	case record.OutcomeTimeout:
		if !t.hang.Ongoing {
			t.hang = record.Stall{Start: m.Start, Cause: record.StallByDevice, Ongoing: true}
		}
	case record.OutcomeError:
		if len(m.Errors) > 0 {
			t.errors = append(t.errors, m.Start)
		}
	case record.OutcomeOK:
		if t.hang.Ongoing {
			t.hang.Ongoing, t.hang.Length = false, m.Start.Sub(t.hang.Start)
		}
	case record.OutcomeBusy, record.OutcomeDisturbed, record.OutcomeUnmapped:
	}
}

// any reports whether there was trouble lately. What goes on gets worse with time alone.
func (t *trouble) any() bool { return len(t.stalls) > 0 || len(t.errors) > 0 || !t.hang.Start.IsZero() }

// weigh makes a drive severe that stands still or fails, beyond doubt.
func (t *trouble) weigh(v *record.Judgement, now time.Time) {
	t.forget(now)
	if held := t.held(now); record.BeyondDoubt(held) {
		t.blame(v, byStalls, held[0].Start)
	}
	for i := manyErrors; i <= len(t.errors); i++ {
		if first := t.errors[i-manyErrors]; t.errors[i-1].Sub(first) <= errorsWithin {
			t.blame(v, byErrors, first)
			return
		}
	}
}

func (t *trouble) blame(v *record.Judgement, witness string, since time.Time) {
	v.Verdict = record.Severe
	v.Witnesses = append(v.Witnesses, witness)
	if v.Since.IsZero() || since.Before(v.Since) {
		v.Since = since
	}
}

func (t *trouble) forget(now time.Time) {
	t.stalls = slices.DeleteFunc(t.stalls, func(s record.Stall) bool { return !s.Ongoing && now.Sub(s.End()) > remembered })
	if !t.hang.Ongoing && now.Sub(t.hang.End()) > remembered {
		t.hang = record.Stall{}
	}
	t.errors = slices.DeleteFunc(t.errors, func(at time.Time) bool { return now.Sub(at) > remembered })
}

// held are the stalls that the drive is held to, the oldest first. A round hangs for the same reason as the I/O of
// others: it counts only where that was not seen to stand, as the kernel does not count the I/O of all devices.
func (t *trouble) held(now time.Time) []record.Stall {
	var held []record.Stall
	for _, s := range t.stalls {
		if s.Ongoing {
			s.Length = max(s.Length, now.Sub(s.Start))
		}
		if s.Telling() {
			held = append(held, s)
		}
	}
	hang := t.hang
	if hang.Ongoing {
		hang.Length = now.Sub(hang.Start)
	}
	if hang.Start.IsZero() || slices.ContainsFunc(t.stalls, func(s record.Stall) bool {
		return s.Start.Before(hang.End()) && (s.Ongoing || hang.Start.Before(s.End()))
	}) {
		return held
	}
	held = append(held, hang)
	slices.SortFunc(held, func(a, b record.Stall) int { return a.Start.Compare(b.Start) })
	return held
}
