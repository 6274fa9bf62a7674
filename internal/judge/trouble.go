package judge

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// remembered is how long past trouble counts against a drive.
	remembered = time.Hour
	// manyErrors rounds with errors within errorsWithin are no accident. A drive that was pulled out is removed
	// before.
	manyErrors   = 3
	errorsWithin = 10 * time.Minute
	// seenLate is how much longer a stall may have lasted than the whole seconds that were counted.
	seenLate = 2 * time.Second
)

// trouble is the recent trouble of a drive other than slowness.
type trouble struct {
	stalls []record.Stall // of all causes, oldest first
	hang   record.Stall   // the round that hangs, or the last one that hung
	errors []time.Time    // when rounds began in which I/Os failed, oldest first
	// before has the recurrences of degraded and severe from before the last stall began.
	before [2]recurrence
}

// Stall takes a stall of a drive. A stall that was taken while it went on is taken again, with the same start, when
// it is over. If it turns out to be explained, as by a discard, the verdicts meanwhile do not count as ones that came
// back.
func (n *Node) Stall(id string, s record.Stall) {
	d := n.byID[id]
	if d == nil {
		return
	}
	t := &d.trouble
	same := func(known record.Stall) bool { return known.Start.Equal(s.Start) }
	switch i := slices.IndexFunc(t.stalls, same); {
	case i < 0:
		t.before = [2]recurrence{d.degraded, d.severe}
	case t.stalls[i].Telling() && !s.Telling():
		d.degraded, d.severe = t.before[0], t.before[1]
	}
	t.stalls = append(slices.DeleteFunc(t.stalls, same), s)
}

// HeldBack says since when a round of a drive has waited although the drive is idle, as while it is formatted, and until when;
// until is zero while that goes on. This machine holds the I/O back, so a round that hangs meanwhile says nothing about the drive.
func (n *Node) HeldBack(id string, since, until time.Time) {
	s := record.Stall{Start: since, Cause: record.StallBySuspended, Ongoing: until.IsZero()}
	if !s.Ongoing {
		s.Length = until.Sub(since)
	}
	n.Stall(id, s)
}

// Returned says when a round that had hung returned after all.
func (n *Node) Returned(id string, at time.Time) {
	if d := n.byID[id]; d != nil {
		d.trouble.hang = ended(d.trouble.hang, at)
	}
}

// took takes a round of any outcome.
func (t *trouble) took(m record.Measurement) {
	if m.Outcome != record.OutcomeTimeout {
		t.hang = ended(t.hang, m.Start) // no round begins while another hangs
		if m.Outcome == record.OutcomeError && len(m.Errors) > 0 {
			t.errors = append(t.errors, m.Start)
		}
		return
	}
	if !t.hang.Ongoing && m.Latency.Count() == 0 { // a round that has done some I/Os is slow, but does not hang
		t.hang = record.Stall{Start: m.Start, Cause: record.StallByDevice, Ongoing: true}
	}
}

// ended returns the stall, over at a time if it went on until now.
func ended(s record.Stall, at time.Time) record.Stall {
	if s.Ongoing {
		s.Length, s.Ongoing = max(s.Length, at.Sub(s.Start)), false
	}
	return s
}

// any reports whether there was trouble lately. Trouble that goes on gets worse without any new event.
func (t *trouble) any() bool { return len(t.stalls) > 0 || len(t.errors) > 0 || !t.hang.Start.IsZero() }

// weigh makes the verdict severe when the drive stalls or fails I/Os beyond doubt.
func (t *trouble) weigh(v *record.Judgement, now time.Time) {
	t.forget(now)
	if held := t.held(now); record.BeyondDoubt(held) {
		t.blame(v, record.WitnessStalls, held[0].Start)
	}
	for i := manyErrors; i <= len(t.errors); i++ {
		if first := t.errors[i-manyErrors]; t.errors[i-1].Sub(first) <= errorsWithin {
			t.blame(v, record.WitnessErrors, first)
			return
		}
	}
}

func (t *trouble) blame(v *record.Judgement, witness string, since time.Time) {
	v.Verdict = record.Severe
	v.Witnesses = append(v.Witnesses, witness)
	v.Began(witness, since)
}

// keepOnsets keeps when stalls or errors began that have counted against the drive ever since, though the first of them are
// forgotten.
func (d *drive) keepOnsets(v *record.Judgement) {
	for _, witness := range []string{record.WitnessStalls, record.WitnessErrors} {
		if since, told := d.told.Onsets[witness]; told && !d.told.Held && slices.Contains(v.Witnesses, witness) {
			v.Began(witness, since)
		}
	}
}

// forget drops trouble that is long over. Trouble from the future dates from before the clock was set back.
func (t *trouble) forget(now time.Time) {
	t.explain()
	gone := func(at time.Time) bool { return now.Sub(at) > remembered || at.Sub(now) > remembered }
	t.stalls = slices.DeleteFunc(t.stalls, func(s record.Stall) bool { return !s.Ongoing && gone(s.End()) })
	t.errors = slices.DeleteFunc(t.errors, gone)
	if !t.hang.Ongoing && gone(t.hang.End()) {
		t.hang = record.Stall{}
	}
}

// explain takes off a hang the time of a known stall of others' I/O: the round hung for the same reason. The rest of
// the hang begins when that stall was over.
func (t *trouble) explain() {
	for _, s := range t.stalls {
		over := s.End().Add(seenLate)
		if s.Ongoing || !over.After(t.hang.Start) || !t.hang.Ongoing && !s.Start.Before(t.hang.End()) {
			continue
		}
		t.hang.Start, t.hang.Length = over, t.hang.End().Sub(over)
		if !t.hang.Ongoing && t.hang.Length <= 0 {
			t.hang = record.Stall{}
		}
	}
}

// held returns the stalls that count against the drive, oldest first. A hang is one of them, unless a stall that goes
// on explains it.
func (t *trouble) held(now time.Time) []record.Stall {
	var held []record.Stall
	explained := false
	for _, s := range t.stalls {
		if s.Ongoing {
			s.Length = max(s.Length, now.Sub(s.Start))
			explained = true
		}
		if s.Telling() {
			held = append(held, s)
		}
	}
	if hang := t.hang; !explained {
		if hang.Ongoing {
			hang.Length = now.Sub(hang.Start)
		}
		if hang.Telling() {
			held = append(held, hang)
		}
	}
	slices.SortFunc(held, func(a, b record.Stall) int { return a.Start.Compare(b.Start) })
	return held
}
