package web

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// refresh is how often the page renews itself. Rounds come every 30 s and more.
const refresh = 15 * time.Second

// view is what the template fills in: words only, nothing left to decide.
type view struct {
	Title, Node, Version string
	Style                template.CSS
	RefreshSeconds       int
	// Verdict is the page in a few words, Tone how bad that is.
	Verdict      string
	Tone         tone
	AsOf         *moment
	Started      *moment
	Watched      string
	Findings     []findingView
	Targets      []targetView
	Ignored      []ignoredView
	ReadingsGood int
	ReadingsBad  []record.CollectorStatus
	// Recordings are those that no target triggered.
	Recordings []recordingView
}

// tone is the class of an element in page.css.
type tone string

const (
	toneBad   tone = "bad"
	toneWarn  tone = "warn"
	toneGood  tone = "good"
	toneInfo  tone = "info"
	toneQuiet tone = "quiet"
)

// findingView is a finding, or several that say the same of different targets.
type findingView struct {
	finding.Group
	Tone tone
	// Anchors are the ids of the sections of the targets, by the targets' ids.
	Anchors map[string]string
	Began   *moment // nil when that is not known
}

type ignoredView struct{ Name, About, Reason string }

func newView(s record.Snapshot, version string) view {
	anchors := map[string]string{}
	for i, t := range s.Targets {
		anchors[t.ID] = fmt.Sprintf("target-%d", i+1)
	}
	v := view{
		Node: s.Node, Version: version, RefreshSeconds: int(refresh.Seconds()),
		AsOf: asOf(s.Time), Started: at(s.Started, s.Time), Watched: watched(s),
	}
	found := finding.Of(s)
	v.Findings = newFindingViews(found, anchors, s.Time)
	for _, t := range s.Targets {
		target := newTargetView(t, anchors[t.ID], finding.OfTarget(found, t.ID), s.Time)
		target.Health = newHealthViews(s.ControllersOf(t.Device.ID), s.Time)
		target.Recordings = newRecordingViews(s.Recorder, t.ID, t.Device.ID, s.Time)
		v.Targets = append(v.Targets, target)
		v.readings(t.Collectors)
	}
	v.Recordings = newRecordingViews(s.Recorder, "", "", s.Time)
	v.Verdict, v.Tone = verdict(v.Findings, v.Targets)
	v.Title = v.Verdict + " · " + s.Node + " · ssdprobe"
	v.readings(s.Collectors)
	for _, i := range s.Ignored {
		v.Ignored = append(v.Ignored, ignoredView{Name: i.Device.Name, About: identity(i.Device), Reason: i.Reason})
	}
	return v
}

func newFindingViews(found []finding.Finding, anchors map[string]string, now time.Time) []findingView {
	var views []findingView
	for _, g := range finding.Groups(found) {
		views = append(views, findingView{Group: g, Tone: severityTone(g.Severity), Anchors: anchors, Began: at(g.Since, now)})
	}
	return views
}

// ofProbe selects the findings of one probe, or with an empty name those of the whole target.
func ofProbe(found []finding.Finding, name string) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool { return f.Probe != name })
}

func (v *view) readings(collectors []record.CollectorStatus) {
	for _, c := range collectors {
		if c.Success {
			v.ReadingsGood++
		} else {
			v.ReadingsBad = append(v.ReadingsBad, c)
		}
	}
}

// verdict is "1 critical, 2 warnings", and how bad that is. What only explains does not count. Well is what is
// known to be.
func verdict(found []findingView, targets []targetView) (string, tone) {
	counts := map[finding.Severity]uint64{}
	for _, f := range found {
		counts[f.Severity]++
	}
	var parts []string
	if n := counts[finding.Critical]; n > 0 {
		parts = append(parts, units.Count(n)+" critical")
	}
	if n := counts[finding.Warning]; n > 0 {
		parts = append(parts, units.Plural(n, "warning"))
	}
	switch {
	case counts[finding.Critical] > 0:
		return strings.Join(parts, ", "), toneBad
	case counts[finding.Warning] > 0:
		return strings.Join(parts, ", "), toneWarn
	case len(targets) == 0:
		return "nothing is watched", toneWarn
	}
	unknown := uint64(0)
	for _, t := range targets {
		if !t.judged() {
			unknown++
		}
	}
	if unknown > 0 {
		return fmt.Sprintf("no problem found, %s of %s not fully judged", units.Count(unknown), units.Plural(uint64(len(targets)), "target")), toneQuiet
	}
	return "all well", toneGood
}

func severityTone(s finding.Severity) tone {
	switch s {
	case finding.Critical:
		return toneBad
	case finding.Warning:
		return toneWarn
	case finding.Info:
	}
	return toneInfo
}

// watched is "3 targets on 2 devices, 7 probes".
func watched(s record.Snapshot) string {
	var devices []string
	probes := 0
	for _, t := range s.Targets {
		devices = append(devices, t.Device.ID)
		probes += len(t.Probes)
	}
	devices = slices.Compact(slices.Sorted(slices.Values(devices)))
	return fmt.Sprintf("%s on %s, %s",
		units.Plural(len(s.Targets), "target"), units.Plural(len(devices), "device"), units.Plural(probes, "probe"))
}

type targetView struct {
	Anchor, Path, ID string
	// About tells which drive in short, Identity in full.
	About, Identity string
	State           badge
	Findings        []findingView // of the whole target
	Probes          []probeView
	Runs            []runView
	Conditions      []conditionView
	// Health tells what the controllers of the device say, a line each.
	Health []healthView
	// Recordings are those that the flight recorder kept of it.
	Recordings []recordingView
	// Written tells how much of a raw device can be measured, Cost what
	// ssdprobe itself has moved.
	Written, Cost string
}

// verdictBadge is the verdict on a drive as a whole: all there is to show of one without probes.
func verdictBadge(j record.Judgement, now time.Time) badge {
	b := badge{Tone: toneQuiet, Text: string(j.Verdict), Since: at(j.Since, now)}
	switch j.Verdict {
	case record.Healthy:
		b.Tone = toneGood
	case record.Watch:
		b.Tone = toneWarn
	case record.Degraded, record.Severe:
		b.Tone = toneBad
	case record.Unjudged:
	}
	return b
}

type conditionView struct {
	Name, Value string
	Changed     *moment
	// Recent marks a change of the last day.
	Recent bool
}

func newTargetView(t record.TargetStatus, anchor string, found []finding.Finding, now time.Time) targetView {
	v := targetView{
		Anchor: anchor, Path: t.Path, About: about(t.Device), Identity: identity(t.Device), ID: t.ID,
		Findings: newFindingViews(ofProbe(found, ""), nil, now), Runs: newRunViews(t.Runs, now),
	}
	if t.File && t.Device.Name != "" {
		v.About, v.Identity = "on "+t.Device.Name+", "+v.About, "on "+t.Device.Name+", "+v.Identity
	}
	var read, written uint64
	state := badge{}
	for _, p := range t.Probes {
		read, written = read+p.ReadBytes, written+p.WrittenBytes
		probe := newProbeView(p, t.Problem != "", now)
		probe.Findings = newFindingViews(ofProbe(found, p.Probe.Name), nil, now)
		v.Probes = append(v.Probes, probe)
		state = worse(state, probe.State)
	}
	v.State = state
	if j := t.Verdict; j != nil && j.Verdict.Blames() {
		v.State = worse(v.State, verdictBadge(*j, now))
	}
	if j := t.Verdict; j != nil && (len(t.Probes) == 0 || j.Verdict == record.Unjudged && state.Tone == toneGood) {
		v.State = verdictBadge(*j, now)
	}
	if t.Problem != "" {
		v.State = badge{Tone: toneBad, Text: "not probed"}
	}
	v.Cost = fmt.Sprintf("ssdprobe itself has read %s and written %s here since it started",
		units.DriveSize(int64(read)), units.DriveSize(int64(written)))
	if t.WrittenRatio != nil {
		v.Written = fmt.Sprintf("%s of the sampled blocks hold written data; %s written blocks are known",
			units.Percent(*t.WrittenRatio), keep(units.Count(t.PoolBlocks)))
	}
	for _, c := range t.Conditions.List() {
		changed := t.Changed[c.Name]
		if c.Value == "" && changed.IsZero() {
			continue
		}
		if c.Value == "" {
			c.Value = "unknown"
		}
		v.Conditions = append(v.Conditions, conditionView{
			Name: record.ConditionTitle(c.Name), Value: c.Value, Changed: at(changed, now),
			Recent: !changed.IsZero() && now.Sub(changed) < 24*time.Hour,
		})
	}
	return v
}
