package judge

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Host is what is said of the host now, by how much slower it makes nearly all drives. It is unknown until enough
// drives have been compared for a day, and when too few of them were for an hour.
func (n *Node) Host() record.Judgement {
	v := record.Judgement{Verdict: record.Unjudged, Scope: record.ScopeHost}
	unknown := &record.WhyUnjudged{Reason: record.ReasonFewDrives}
	for _, g := range n.groups {
		switch {
		case len(g.members) == 0:
		case g.host != nil && g.host.Known(n.now):
			v.Verdict = record.Healthy
		case !g.mature: // or no more: other work has its drives learn again
		case g.host != nil:
			unknown = g.host.Unjudged(n.now)
		case unknown.Reason == record.ReasonFewDrives:
			unknown.Reason = record.ReasonLearning
		}
	}
	for _, t := range n.Together() {
		if t.Scope != record.ScopeHost {
			continue
		}
		if !slices.Contains(v.Witnesses, witnessOf(t.Source)) {
			v.Witnesses = append(v.Witnesses, witnessOf(t.Source))
		}
		if v.Since.IsZero() || t.Since.Before(v.Since) {
			v.Since = t.Since
		}
		if t.Ratio.Ratio > v.Ratio.Ratio {
			v.Ratio, v.Source = t.Ratio, t.Source
		}
	}
	v.ThanBefore = v.Witnesses
	switch {
	case v.Ratio.Ratio >= severeRatio:
		v.Verdict = record.Severe
	case v.Ratio.Ratio >= degradedRatio:
		v.Verdict = record.Degraded
	case v.Ratio.Ratio > 0:
		v.Verdict = record.Watch
	case v.Verdict == record.Unjudged:
		v.Unjudged = unknown
	}
	return v
}

// Together returns what drives of the host did together, as it is now.
func (n *Node) Together() []record.Together {
	var list []record.Together
	for _, g := range n.groups {
		if g.host == nil || len(g.members) == 0 {
			continue
		}
		for i, x := range g.host.Drift() {
			if x.State != record.Regressed || x.Ratio < g.toldFrom() {
				continue
			}
			t := record.Together{
				Source: g.name, Statistic: x.Statistic, Since: x.Since, Attribution: x.Attribution,
				Ratio: record.Ratio{Ratio: x.Ratio, Lower: x.Lower, Upper: x.Upper},
			}
			t.Drives, t.Of, t.Scope = g.who(i, x.Ratio, x.Since)
			list = append(list, t)
		}
	}
	return list
}

// scope says whether a drive got slower alone, or together with others of its model.
func (n *Node) scope(d *drive, v record.Judgement) record.Scope {
	others := 0
	with := func(model string, told record.Judgement) {
		if told.Verdict.Blames() && model == d.Model && told.Since.Sub(v.Since).Abs() <= together {
			others++
		}
	}
	for _, o := range n.drives {
		if o != d {
			with(o.Model, o.told)
		}
	}
	for _, o := range n.gone { // after a restart, those that have not come yet
		with(o.Model, o.Verdict)
	}
	if others+1 >= minBatch {
		return record.ScopeBatch
	}
	return record.ScopeDrive
}

// tellHost tells what the drives of a group did together.
func (n *Node) tellHost(g *group, events []drift.Event, now time.Time) {
	for _, e := range events {
		i := slices.Index(statisticsOf(g.name), e.Statistic)
		if i >= 0 && e.To == record.Regressed {
			g.small[i] = &e
			continue
		}
		if i >= 0 {
			g.small[i] = nil
		}
		n.events = append(n.events, g.event(e))
	}
	if g.host == nil || len(g.members) == 0 { // the clock was set back, or the drives are gone
		g.small = [drift.Statistics]*drift.Event{}
	}
	for i, e := range g.small {
		if e == nil {
			continue
		}
		if !e.Time.Equal(now) {
			x := g.host.Drift()[i]
			e.Time, e.Ratio, e.Lower, e.Upper = now, x.Ratio, x.Lower, x.Upper
		}
		if e.Ratio < g.toldFrom() {
			continue
		}
		out := g.event(*e)
		out.Drives, _, out.Scope = g.who(i, e.Ratio, e.Since)
		if e.Ratio >= degradedRatio {
			out.Verdict = record.Degraded
		}
		g.small[i] = nil
		n.events = append(n.events, out)
	}
}

// event is what the host's tracker said.
func (g *group) event(e drift.Event) Event {
	return Event{
		Time: e.Time, Scope: record.ScopeHost, Source: g.name, Statistic: e.Statistic, State: e.To, Cause: e.Cause,
		Ratio: record.Ratio{Ratio: e.Ratio, Lower: e.Lower, Upper: e.Upper}, Since: e.Since, Drift: &e,
		Witnesses: []string{witnessOf(g.name)},
	}
}

// who are the drives that got so much slower together, of how many, and whether that is the host or a batch.
func (g *group) who(statistic int, ratio float64, since time.Time) (names []string, of int, scope record.Scope) {
	last := drift.Slot(g.host.LastJudged()) // there may have been a pause since
	names, of = g.moved(statistic, drift.ShiftOf(ratio), drift.Slot(since), last)
	if float64(len(names)) < hostShare*float64(of) {
		return names, of, record.ScopeBatch
	}
	return names, of, record.ScopeHost
}
