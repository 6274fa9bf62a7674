package daemon

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
)

// rounds are the rounds of one target: its probes, when each is due, which rounds are asked for ahead of schedule, and what
// came of them. The goroutine of the watch executes them. mu guards what others read; it is locked after the lock of the watch
// and before that of the judge.
type rounds struct {
	*target
	asked chan ask

	mu     sync.Mutex
	probes []*probeState
}

// probeState is one probe of a target. The lock of the rounds guards next, outOfTurn, went and status, that of the judge guards the
// tracker, and the goroutine of the watch owns the budget and trouble.
type probeState struct {
	probe  record.Probe
	rhythm schedule.Rhythm
	next   time.Time
	// outOfTurn is true when the next round was requested to confirm a suspicion.
	outOfTurn bool
	// went is when a round was last admitted; initially, when the watch began.
	went    time.Time
	tracker *drift.Tracker
	budget  admit.Budget
	status  record.ProbeStatus
	trouble record.Outcome // the last outcome that is the device's fault; empty after a good round
}

const (
	// firstRetry is the pause before a first round that was disturbed is tried again. It doubles each time.
	firstRetry = 2 * time.Second
	// maxDoublings is how often a pause doubles at most.
	maxDoublings = 10
)

func newRounds(t *target, now time.Time) *rounds {
	r := &rounds{target: t, asked: make(chan ask, askedAhead)}
	for _, p := range t.spec.Probes {
		if !p.RunsOn(t.spec.File) || p.Direction == record.Write && t.spec.Admission.WriteBytesPerDay == 0 {
			continue // without a budget, leave them out instead of having them busy for ever
		}
		rhythm := schedule.NewRhythm(t.shared.node, t.spec.ID, p.Name, p.Interval)
		state := &probeState{
			probe: p, rhythm: rhythm, next: rhythm.Apart(t.access.last(p.Name), rhythm.First(now)), went: now, tracker: newTracker(t.spec.Drift, p),
			status: record.ProbeStatus{Probe: p, Rounds: map[record.Outcome]uint64{}, Errors: map[string]uint64{}},
		}
		for _, o := range record.Outcomes() {
			state.status.Rounds[o] = 0
		}
		r.probes = append(r.probes, state)
	}
	t.access.handOver(r.probes)
	return r
}

// newTracker returns an empty tracker for a probe.
func newTracker(s drift.Settings, p record.Probe) *drift.Tracker {
	t := drift.NewTracker(s)
	t.Every(p.Interval)
	return t
}

// countOn continues the counters of the rounds that r replaces.
func (r *rounds) countOn(before *rounds) {
	before.mu.Lock()
	defer before.mu.Unlock()
	for _, p := range r.probes {
		i := slices.IndexFunc(before.probes, func(b *probeState) bool { return b.probe.Name == p.probe.Name })
		if i < 0 {
			continue
		}
		b := before.probes[i]
		p.went, p.trouble = b.went, b.trouble
		p.status = b.status
		p.status.Probe, p.status.Rounds, p.status.Errors = p.probe, maps.Clone(b.status.Rounds), maps.Clone(b.status.Errors)
	}
}

// onlyRead drops the probes that write.
func (r *rounds) onlyRead() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.probes = slices.DeleteFunc(r.probes, func(p *probeState) bool { return p.probe.Direction == record.Write })
}

// next returns the probe that is due first; nil when no configured probe runs on this kind of target.
func (r *rounds) next() *probeState {
	var first *probeState
	for _, p := range r.probes {
		if first == nil || p.next.Before(first.next) {
			first = p
		}
	}
	return first
}

// keepQuiet postpones the rounds that would be due in quiet hours, and drops the requests for others: what they were to confirm
// will be hours old.
func (r *rounds) keepQuiet(until time.Time) {
	for len(r.asked) > 0 { // nobody else takes from it
		<-r.asked
	}
	now := time.Now() // p.next keeps its monotonic reading, as the clock may be set back
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.probes {
		if p.next.Before(until) {
			p.next, p.outOfTurn = now.Add(p.rhythm.Next(until).Sub(now)), false
		}
	}
}

// plan sets when a probe is due again after a round.
func (r *rounds) plan(p *probeState, started, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.next = p.after(started, now)
}

// after returns when the probe is due again after a round. On a busy host, the first rounds are often disturbed.
// Until one is good, they are retried soon, so that a new daemon has something to show. The pause grows each time, so
// that retries do not keep a busy host even busier.
func (p *probeState) after(started, now time.Time) time.Time {
	next := p.rhythm.Apart(started, p.rhythm.Next(now))
	if last := p.status.Last; p.status.LastSuccess.IsZero() && last != nil && last.Outcome == record.OutcomeDisturbed {
		tried := min(p.status.Rounds[record.OutcomeDisturbed]-1, maxDoublings)
		if soon := now.Add(firstRetry << tried); soon.Before(next) {
			return soon
		}
	}
	return next
}

// begin records that a round is in progress, and returns its parameters.
func (r *rounds) begin(p *probeState, conditions record.Conditions, link *record.PCIeLink) measure.Round {
	r.access.beginRound(p.probe.Name)
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.outOfTurn {
		p.outOfTurn = false
		p.status.Confirmations++
	}
	return measure.Round{
		Probe: p.probe, Conditions: conditions, Link: link,
		Budget: &p.budget, BytesPerDay: r.spec.Admission.WriteShare(r.spec.Probes),
		Overdue: p.overdue(time.Now(), r.spec.Admission.ForcedInterval),
	}
}

// overdue reports whether no round was admitted for so long that a small one has to be forced.
func (p *probeState) overdue(now time.Time, forced time.Duration) bool {
	return forced > 0 && now.Sub(p.went) >= forced
}

// count adds a measurement to the status of its probe.
func (r *rounds) count(p *probeState, m record.Measurement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &p.status
	s.Last = &m
	s.Rounds[m.Outcome]++
	p.add(m)
	if m.Outcome == record.OutcomeOK {
		s.LastSuccess = time.Now()
	}
	if m.Outcome != record.OutcomeBusy {
		p.went = time.Now()
	}
	if m.Loaded {
		s.LoadedRounds++
	}
}

// countLate adds what a round that has been counted as hung did in the end.
func (r *rounds) countLate(m record.Measurement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.probes {
		if p.probe.Name == m.Probe {
			p.add(m)
		}
	}
}

// add counts the bytes and the errors of a round.
func (p *probeState) add(m record.Measurement) {
	p.status.ReadBytes += uint64(m.ReadBytes)
	p.status.WrittenBytes += uint64(m.WrittenBytes)
	for errno, n := range m.Errors {
		p.status.Errors[errno] += uint64(n)
	}
	if len(m.Errors) > 0 {
		p.status.LastError = time.Now() // an I/O that hung fails when it returns
	}
}

// tell logs what is of interest to people: problems of the device, when they begin, change and end. It does not log
// busy and disturbed rounds, which a working host causes all day. They are expected, and there is a metric for them.
func (r *rounds) tell(p *probeState, m record.Measurement) {
	switch m.Outcome {
	case record.OutcomeBusy, record.OutcomeDisturbed:
		r.log.Debug("round not usable", "probe", m.Probe, "outcome", m.Outcome, "reason", m.Reason)
	case record.OutcomeOK:
		if r.access.answers() { // even before discovery asks again
			r.log.Info("the target answers again")
		}
		if p.trouble != "" {
			r.log.Info("rounds are fine again", "probe", m.Probe, "was", p.trouble)
		}
		p.trouble = ""
	case record.OutcomeError, record.OutcomeTimeout, record.OutcomeUnmapped:
		if p.trouble != m.Outcome {
			r.log.Warn("round not usable", "probe", m.Probe, "outcome", m.Outcome, "reason", m.Reason)
		}
		p.trouble = m.Outcome
	}
}

// status returns the status of each probe at the time now. problem says why the target cannot be probed; empty when it can.
func (r *rounds) status(problem string, now time.Time) []record.ProbeStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]record.ProbeStatus, len(r.probes))
	r.shared.judging.mu.Lock()
	defer r.shared.judging.mu.Unlock()
	for i, p := range r.probes {
		s := p.status
		s.Rounds, s.Errors, s.Next = maps.Clone(s.Rounds), maps.Clone(s.Errors), p.next
		s.InflightSince = r.access.inflightSince(p.probe.Name)
		p.tracker.Status(now).Fill(&s)
		s.ExplainUnjudged(problem, now)
		list[i] = s
	}
	return list
}
