package drift

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Settings of the comparison.
type Settings struct {
	// Window is how far back the recent rounds reach.
	Window time.Duration
	// BaselineRounds is how many good rounds a baseline is learned from.
	BaselineRounds int
	// Threshold is the smallest slow-down to speak of: 0.2 is 20 % slower.
	Threshold float64
}

// Event is a change that people want to hear of.
type Event struct {
	Time time.Time
	// Statistic is empty for events about the epoch as a whole.
	Statistic record.Statistic
	From, To  record.DriftState
	Ratio     float64
	// Changes are the conditions that began a new epoch.
	Changes []record.Change
	// Learned is true when a baseline has just become complete.
	Learned bool
}

// Status is what is known now.
type Status struct {
	Window         *record.Window
	Baseline       *record.Baseline
	LearningRounds int
	LearningGoal   int
	Drift          []record.Drift
}

// Tracker follows one probe on one target. It is not safe for concurrent use.
type Tracker struct {
	settings Settings
	epochs   []epoch // the last one is the current one
	recent   []round
	window   *record.Window
	verdicts []verdict // in the order of record.Statistics
}

// round is a good round of the recent window.
type round struct {
	at      time.Time
	span    time.Duration
	latency record.Histogram
	values  values
	worthy  bool // may be compared, and not only shown
}

// verdict is the state of one statistic.
type verdict struct {
	State record.DriftState `json:"state"`
	Since time.Time         `json:"since"`
	// Beyond is when the ratio went past the threshold without a break, and
	// Slower to which side.
	Beyond time.Time `json:"beyond,omitzero"`
	Slower bool      `json:"slower,omitempty"`
	last   comparison
}

// NewTracker returns a tracker that knows nothing yet.
func NewTracker(s Settings) *Tracker {
	t := &Tracker{settings: s}
	t.restart(time.Time{})
	return t
}

func (t *Tracker) restart(now time.Time) {
	t.recent, t.window = nil, nil
	t.verdicts = make([]verdict, len(record.Statistics()))
	for i := range t.verdicts {
		t.verdicts[i] = verdict{State: record.Learning, Since: now}
	}
}

// Add takes a round. Rounds whose outcome is not ok are ignored; those that
// carry a warning that they come from too small a part of the device are shown
// but neither learned from nor compared.
func (t *Tracker) Add(m record.Measurement) []Event {
	if m.Outcome != record.OutcomeOK {
		return nil
	}
	v := valuesOf(m)
	if !v.valid() {
		return nil
	}
	events := t.enter(m)
	worthy := !slices.ContainsFunc(m.Warnings, func(w record.Warning) bool { return w.Code == record.WarnPoolSmall })
	t.remember(round{at: m.Start, span: m.Duration, latency: m.Latency, values: v, worthy: worthy})
	if !worthy {
		return events
	}
	if e := t.current(); !e.learned() {
		if e.learn(v, m.Start, t.settings.BaselineRounds) {
			events = append(events, Event{Time: m.Start, Learned: true})
			for i := range t.verdicts {
				t.verdicts[i].State, t.verdicts[i].Since = record.Stable, m.Start
			}
		}
		return events
	}
	return append(events, t.judge(m.Start)...)
}

// remember puts a round in the window and drops those that have left it.
func (t *Tracker) remember(r round) {
	t.recent = append(t.recent, r)
	t.recent = slices.DeleteFunc(t.recent, func(old round) bool {
		age := r.at.Sub(old.at)
		// A negative age: the clock was set back, and old times mean nothing now.
		return age >= t.settings.Window || age < 0
	})
	histograms := make([]record.Histogram, len(t.recent))
	var span time.Duration
	var ios int64
	for i, r := range t.recent {
		histograms[i] = r.latency
		span += r.span
		ios += r.latency.Count()
	}
	t.window = &record.Window{
		Span: t.settings.Window, Rounds: len(t.recent), Latency: record.Merge(histograms...),
		IOPS: float64(ios) / span.Seconds(),
	}
}

// judge compares the window with the baseline and moves the states.
func (t *Tracker) judge(now time.Time) []Event {
	baseline := t.current().Values
	var events []Event
	for i, s := range record.Statistics() {
		var column []float64
		for _, r := range t.recent {
			if r.worthy {
				column = append(column, r.values[i])
			}
		}
		v := &t.verdicts[i]
		c, ok := compare(s, baseline[s], column)
		v.last = c
		if !ok {
			continue
		}
		before := v.State
		if v.move(c, now, t.settings); v.State != before {
			events = append(events, Event{Time: now, Statistic: s, From: before, To: v.State, Ratio: c.ratio})
		}
	}
	return events
}

// move applies one comparison to the state. A shift has to hold for a whole
// window before it is called a regression or an improvement, and has to fall
// below half of the threshold before it is called over.
func (v *verdict) move(c comparison, now time.Time, s Settings) {
	limit := 1 + s.Threshold
	half := 1 + s.Threshold/2
	slower, faster := c.ratio > limit && c.lower > 1, c.ratio < 1/limit && c.upper < 1
	switch {
	case slower || faster:
		if v.Beyond.IsZero() || v.Slower != slower || now.Before(v.Beyond) {
			v.Beyond, v.Slower = now, slower
		}
		held := now.Sub(v.Beyond) >= s.Window
		switch {
		case held && slower:
			v.set(record.Regressed, v.Beyond)
		case held:
			v.set(record.Improved, v.Beyond)
		case slower && v.State != record.Regressed:
			v.set(record.Suspect, v.Beyond)
		}
	case c.ratio < half && c.ratio > 1/half:
		v.Beyond = time.Time{}
		v.set(record.Stable, now)
	case v.State == record.Suspect:
		v.Beyond = time.Time{}
		v.set(record.Stable, now)
	default: // between half the threshold and the threshold: nothing new
		v.Beyond = time.Time{}
	}
}

func (v *verdict) set(state record.DriftState, since time.Time) {
	if v.State != state {
		v.State, v.Since = state, since
	}
}

// Status returns what is known at now. A window whose last round has left it
// says nothing any more.
func (t *Tracker) Status(now time.Time) Status {
	s := Status{LearningGoal: t.settings.BaselineRounds}
	fresh := len(t.recent) > 0 && now.Sub(t.recent[len(t.recent)-1].at) < t.settings.Window
	if fresh {
		s.Window = t.window
	}
	if len(t.epochs) > 0 {
		e := t.current()
		s.LearningRounds = e.rounds()
		if e.learned() {
			b := e.baseline()
			s.Baseline = &b
		}
	}
	for i, statistic := range record.Statistics() {
		v := t.verdicts[i]
		d := record.Drift{Statistic: statistic, State: v.State, Since: v.Since}
		if fresh {
			d.Ratio, d.Lower, d.Upper = v.last.ratio, v.last.lower, v.last.upper
		}
		s.Drift = append(s.Drift, d)
	}
	return s
}
