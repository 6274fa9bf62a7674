package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

type probeView struct {
	Name, Workload string
	State          badge
	// Learning is the progress of the baseline; nil once there is one.
	Learning *learningView
	Last     lastView
	// Sample says which rounds and I/Os the figures are based on.
	Sample   string
	Figures  []figureView
	Findings []findingView
	// Maturity is the maturity of the baseline. Effect is the effect of the change of conditions before it, and Lifetime that of
	// all changes together.
	Maturity, Effect, Lifetime string
	Plot                       *plot.Plot // nil while there is nothing to plot
	Rounds                     string
	// Unjudged lists the statistics that are not judged, and why.
	Unjudged []unjudgedView
}

type learningView struct {
	Rounds, Goal int
	Text         string
}

// lastView is the outcome of the last round.
type lastView struct {
	Tone    tone
	Outcome string
	At      *moment
	Reason  string
	// Good is when the last good round was, if the last round was not good.
	Good    *moment
	Running string
	Next    string
}

// figureView is one statistic of the window beside its baseline.
type figureView struct {
	Name, Value string
	Tone        tone
	State       string
	Baseline    string
	// Ratio and Interval say how many times slower than the baseline the statistic is. Now is its value over the same
	// time.
	Ratio, Interval, Now string
	// Over is the time that the figure covers, if it differs from the window of the others.
	Over string
	// Doubt says why this figure may be wrong.
	Doubt string
}

// newProbeView returns the view of a probe. For an unavailable target it does not estimate when learning ends,
// because there is no round until the problem is solved. held is true when the round in progress is held back.
func newProbeView(p record.ProbeStatus, unavailable, held bool, now time.Time) probeView {
	v := probeView{
		Name: p.Probe.Name, Workload: workload(p.Probe), State: stateBadge(p, held, now), Last: newLastView(p, now),
		Sample: sample(p), Rounds: roundsText(p),
		Effect: p.Effect.String(), Lifetime: strings.Join(report.LifetimeWords(p.Lifetime), ", "), Unjudged: newUnjudgedViews(p.Drift, now),
	}
	if learned(p) != nil {
		v.Maturity = report.BaselineText(p)
	}
	if learned(p) == nil && p.LearningGoal > 0 && !unavailable {
		v.Learning = &learningView{Rounds: p.LearningRounds, Goal: p.LearningGoal, Text: report.LearningText(p)}
	}
	if p.Window != nil {
		for _, s := range record.Statistics() {
			v.Figures = append(v.Figures, newFigureView(p, s, now))
		}
	}
	return v
}

// stateBadge returns the worst state of any of the probe's statistics.
func stateBadge(p record.ProbeStatus, held bool, now time.Time) badge {
	if since, hung := p.HungSince(now); hung {
		b := newBadge(finding.StateOfHung(held))
		b.Since = at(since, now)
		return b
	}
	// Unknown is worse than well: the badge may be green only when all statistics are known to be well.
	for _, state := range []record.DriftState{
		record.Regressed, record.Suspect, record.Unknown, record.Improved, record.Learning, record.Waiting, record.Stable,
	} {
		if in, since := finding.InState(p.Drift, state); len(in) > 0 {
			text := string(state)
			if !state.Judged() && len(in) < len(p.Drift) {
				text = string(finding.StatePartly)
			}
			return badge{Tone: stateTone(state), Text: text, Since: at(since, now)}
		}
	}
	if learned(p) == nil {
		return badge{Tone: toneQuiet, Text: string(record.Learning)}
	}
	return badge{Tone: toneQuiet, Text: "not compared"}
}

func stateTone(s record.DriftState) tone {
	switch s {
	case record.Regressed:
		return toneBad
	case record.Suspect:
		return toneWarn
	case record.Stable:
		return toneGood
	case record.Improved:
		return toneInfo
	case record.Learning, record.Waiting, record.Unknown:
	}
	return toneQuiet
}

// unjudgedView says why some statistics are not judged.
type unjudgedView struct {
	Names, Why string
	Since      *moment
}

// newUnjudgedViews returns one view per reason. Statistics that are being learned are left out, because the page
// shows learning separately.
func newUnjudgedViews(drifts []record.Drift, now time.Time) []unjudgedView {
	var views []unjudgedView
	for _, d := range drifts {
		if d.Unjudged == nil || d.State == record.Learning {
			continue
		}
		v := unjudgedView{Names: d.Statistic.Short(), Why: d.Unjudged.String(), Since: at(d.Unjudged.Since, now)}
		i := slices.IndexFunc(views, func(before unjudgedView) bool { return before.Why == v.Why })
		if i < 0 {
			views = append(views, v)
			continue
		}
		views[i].Names += ", " + v.Names
	}
	return views
}

func newLastView(p record.ProbeStatus, now time.Time) lastView {
	v := lastView{Tone: toneQuiet, Outcome: "none yet"}
	if p.Last != nil {
		v.Outcome, v.At, v.Reason, v.Tone = p.Last.OutcomeText(), at(p.Last.Start, now), p.Last.Reason, outcomeTone(p.Last.Outcome)
		if v.Tone == toneGood && now.Sub(p.Last.Start) > max(time.Hour, 3*p.Probe.Interval) {
			v.Tone = toneQuiet // it was good, but that is long ago
		}
		if p.Last.Outcome != record.OutcomeOK {
			v.Good = at(p.LastSuccess, now)
		}
	}
	switch {
	case !p.InflightSince.IsZero():
		v.Running = "a round has been running for " + units.Span(max(now.Sub(p.InflightSince), 0))
	case !p.Next.IsZero():
		v.Next = keep("next " + units.Ago(p.Next, now))
	}
	return v
}

func outcomeTone(o record.Outcome) tone {
	switch o {
	case record.OutcomeOK:
		return toneGood
	case record.OutcomeError, record.OutcomeTimeout:
		return toneBad
	case record.OutcomeDisturbed, record.OutcomeUnmapped:
		return toneWarn
	case record.OutcomeBusy:
	}
	return toneQuiet
}

// sample returns text such as "last 5 min: 10 rounds, 2 560 I/Os".
func sample(p record.ProbeStatus) string {
	if p.Window == nil {
		return "no figures: no good round within the window"
	}
	return fmt.Sprintf("last %s: %s, %s", units.Span(p.Window.Span),
		keep(units.Plural(p.Window.Rounds, "round")), keep(units.Plural(p.Window.Latency.Count(), "I/O")))
}

func newFigureView(p record.ProbeStatus, s record.Statistic, now time.Time) figureView {
	value, sure := windowValue(*p.Window, s)
	v := figureView{Name: s.Short(), Value: report.Statistic(s, value)}
	if s == record.IOPS {
		v.Value = units.IOPS(value) // the name shown above it already is the unit
	}
	if s != record.IOPS {
		over := windowPercentile(*p.Window, s)
		switch {
		case !sure:
			v.Doubt = "from only " + units.Plural(over.IOs, "I/O")
		case over.Span > p.Window.Span:
			v.Over = "last " + units.Span(over.Span)
		}
	}
	for _, doubt := range doubts(p) {
		v.Doubt = strings.TrimPrefix(v.Doubt+"; "+doubt, "; ")
	}
	if b := learned(p); b != nil {
		if was, ok := b.Values[s]; ok {
			v.Baseline = report.Statistic(s, was)
			if s == record.IOPS {
				v.Baseline = units.IOPS(was)
			}
		}
	}
	for _, d := range p.Drift {
		if d.Statistic == s && d.State != record.Learning {
			v.Tone, v.State = stateTone(d.State), string(d.State)
			if b := learned(p); v.Tone == toneGood && b != nil && b.Maturity == record.Early {
				v.Tone = toneQuiet // only a large shift is judged, so it may be several times slower
			}
			v.Ratio, v.Interval = units.RatioWithin(d.Ratio, 0, 0), units.Bounds(d.Lower, d.Upper) // below each other
			if d.Now > 0 {
				v.Now = keep(report.Statistic(s, d.Now)) + ", " + keep(report.OverText(d, now))
			}
		}
	}
	return v
}

// doubts returns the warnings of the last round, in a word or two each.
func doubts(p record.ProbeStatus) (words []string) {
	if p.Last == nil {
		return nil
	}
	for _, w := range p.Last.Warnings {
		words = append(words, strings.ReplaceAll(w.Code, "_", " "))
	}
	return words
}

// roundsText returns text such as "6 120 ok, 17 busy".
func roundsText(p record.ProbeStatus) string {
	var parts []string
	for _, o := range record.Outcomes() {
		if n := p.Rounds[o]; n > 0 {
			parts = append(parts, keep(fmt.Sprintf("%s %s", units.Count(n), o)))
		}
	}
	if p.LoadedRounds > 0 {
		parts = append(parts, keep(units.Count(p.LoadedRounds)+" of them loaded"))
	}
	if len(parts) == 0 {
		parts = []string{"none"}
	}
	return strings.Join(parts, ", ")
}
