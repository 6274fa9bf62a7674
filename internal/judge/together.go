package judge

import (
	"cmp"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Host returns the verdict on the host now, with how much slower it makes nearly all drives. It is unknown until the
// host has a baseline, and when too few drives were compared for an hour.
func (n *Node) Host() record.Judgement {
	v := record.Judgement{Verdict: record.Unjudged, Scope: record.ScopeHost}
	unknown, known := &record.WhyUnjudged{Reason: record.ReasonFewDrives}, false
	for _, g := range n.groups {
		if g.host != nil {
			v.Accepted = later(v.Accepted, g.host.AcceptedAt())
		}
		switch {
		case len(g.members) == 0:
		case g.host != nil && g.host.Known(n.now) && g.confirmed(n.now):
			v.Verdict, known = record.Healthy, true
		case !g.mature: // or no longer: under other work the drives learn again
		case g.host != nil:
			unknown = g.unknown(n.now)
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
		v.Began(witnessOf(t.Source), t.Since)
		if t.Ratio.Ratio > v.Ratio.Ratio {
			v.Ratio, v.Source, v.Attribution = t.Ratio, t.Source, t.Attribution
		}
		if t.Verdict.Badness() > v.Verdict.Badness() {
			v.Verdict = t.Verdict
		}
	}
	v.ThanBefore = v.Witnesses
	if !known {
		v.Unjudged = unknown
	}
	return v
}

// Together returns the slowdowns that drives of the node have in common now, of the whole host or of a batch.
func (n *Node) Together() []record.Together {
	var list []record.Together
	for _, g := range n.groups {
		if g.host == nil || len(g.members) == 0 {
			continue
		}
		for i, x := range g.host.Drift() {
			w := &g.wanders[i]
			if w.Says == "" || x.State != record.Regressed { // not reported, or over and not settled yet
				continue
			}
			if w.Of == 0 { // the state of an older version does not have it
				g.who(w, i, x)
			}
			if !n.now.IsZero() { // as it is after a restart, before the first Advance
				x.Since = record.NotAfter(x.Since, n.now)
			}
			list = append(list, record.Together{
				Scope: w.scope(), Verdict: w.Says, Source: g.name, Statistic: x.Statistic, Since: x.Since, Attribution: x.Attribution,
				Ratio:  record.Ratio{Ratio: x.Ratio, Lower: x.Lower, Upper: x.Upper},
				Drives: slices.Clone(w.Drives), Of: w.Of, Unjudged: g.host.UnjudgedOf(i, n.now),
			})
		}
	}
	return list
}

// scope returns whether a drive got slower alone, or in a batch with others of its model.
func (n *Node) scope(d *drive, v record.Judgement) record.Scope {
	batch := map[string]bool{d.physical: true} // several targets of a drive are slow together
	with := func(physical, model string, told record.Judgement) {
		if told.Verdict.Blames() && model == d.Model && told.Since.Sub(v.Since).Abs() <= together {
			batch[physical] = true
		}
	}
	for _, o := range n.drives {
		with(o.physical, o.Model, o.told)
	}
	for _, o := range n.gone { // after a restart, drives that have not been added yet
		with(cmp.Or(o.Device, o.ID), o.Model, o.Verdict)
	}
	if len(batch) >= minBatch {
		return record.ScopeBatch
	}
	return record.ScopeDrive
}

// tellHost reports what the drives of a group did together.
func (n *Node) tellHost(g *group, events []drift.Event) {
	events = append(events, g.endAtUsual(n.now)...)
	for _, e := range events {
		i := slices.Index(statisticsOf(g.name), e.Statistic)
		unsaid := i >= 0 && e.From == record.Regressed && g.wanders[i].Told == "" // so its end is not reported, either
		if i < 0 || e.To != record.Regressed && !unsaid {
			n.events = append(n.events, g.event(e))
		}
	}
	if g.host == nil { // the clock was set back, or its drives are gone
		g.wanders = [drift.Statistics]wander{}
	}
	if g.host == nil || len(g.members) == 0 { // after a restart, its drives have not been added yet
		return
	}
	drifts := g.host.Drift()
	for i, x := range drifts {
		w := &g.wanders[i]
		if by, blocks := g.host.ShiftSince(i, n.now.Add(-usualOver)); blocks > 0 && (x.State != record.Regressed || w.Told == "" && x.Ratio < g.toldFrom()) {
			w.Usual.learn(by)
		}
		if x.State == record.Regressed {
			g.who(w, i, x)
		}
	}
	for i, x := range drifts {
		w, from := &g.wanders[i], record.Suspect
		if w.Told != "" {
			from = record.Regressed
		}
		w.WithHost = x.State == record.Regressed && n.hostSlowerWith(g, w, x.Since)
		var expected, refuted bool
		var others []wave
		if x.State == record.Regressed {
			expected, refuted, others = g.expects(i, n.now), n.probesRefute(g, w.Drives, x.Since), n.otherWaves(g, w)
		}
		if !w.take(x, g.toldFrom(), g.isPair(), expected, refuted, others, n.now) {
			continue
		}
		out := g.event(drift.Event{
			Time: n.now, Statistic: x.Statistic, From: from, To: record.Regressed, Ratio: x.Ratio, Lower: x.Lower, Upper: x.Upper,
			Since: x.Since, Cause: x.Cause, Attribution: x.Attribution,
		})
		out.Drives, out.Scope = slices.Clone(w.Drives), w.scope()
		if w.Told.Blames() {
			out.Verdict = w.Told
		}
		n.events = append(n.events, out)
	}
}

// otherWaves returns the waves that other statistics of drives of the same kind have shown.
func (n *Node) otherWaves(of *group, w *wander) (waves []wave) {
	for _, g := range n.groups {
		if g.rotational != of.rotational {
			continue
		}
		for i := range g.wanders {
			if o := &g.wanders[i]; o != w {
				waves = append(waves, o.shows(n.now)...)
			}
		}
	}
	return waves
}

// hostSlowerWith reports whether nearly all drives of the same kind became slower by another statistic than that of w, at about
// the same time.
func (n *Node) hostSlowerWith(of *group, w *wander, since time.Time) bool {
	for _, g := range n.groups {
		if g.host == nil || len(g.members) == 0 || g.rotational != of.rotational {
			continue
		}
		for i, x := range g.host.Drift() {
			if o := &g.wanders[i]; o != w && o.Host && x.State == record.Regressed && x.Ratio >= g.toldFrom() && x.Since.Sub(since).Abs() <= together {
				return true
			}
		}
	}
	return false
}

// event returns the event about the host for one of its tracker.
func (g *group) event(e drift.Event) Event {
	return Event{
		Time: e.Time, Scope: record.ScopeHost, Source: g.name, Statistic: e.Statistic, State: e.To, Cause: e.Cause,
		Ratio: record.Ratio{Ratio: e.Ratio, Lower: e.Lower, Upper: e.Upper}, Since: e.Since, Drift: &e,
		Witnesses: []string{witnessOf(g.name)},
	}
}

// who notes which drives got slower by statistic i of the host. At a time at which that is expected, no drive
// stands out, and the drives noted before stay.
func (g *group) who(w *wander, i int, x record.Drift) {
	last := drift.Slot(g.host.LastJudged()) // there may have been a pause since
	moved, still, blurred := g.moved(i, drift.ShiftOf(x.Ratio), drift.Slot(x.Since), last)
	if len(moved) == 0 && w.Of != 0 {
		return
	}
	w.Drives, w.Of = nil, len(moved)+len(still)
	for _, s := range moved {
		w.Drives = append(w.Drives, s.drive.ID)
	}
	slices.Sort(w.Drives)
	w.Mixed = !slices.ContainsFunc(still, func(s *source) bool {
		return !slices.ContainsFunc(moved, func(o *source) bool {
			return o.drive.kind() == s.drive.kind() && o.tracker.Conditions().Firmware == s.tracker.Conditions().Firmware
		})
	})
	w.Blurred = w.Mixed && (blurred || w.Host && w.Blurred)      // else one drive could move the host to a batch and back
	w.Host = w.nearlyAll() || w.Host && w.Told == "" && w.most() // a host that wanders is no batch where some drives seem to be fast
}
