package web

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

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
	Severity   severity
	Tone       tone
	Subjects   []subjectView
	Text, Code string
	Since      *moment

	since time.Time
}

// subjectView is what a finding is about. Anchor is the id of the target's
// section; empty for the node.
type subjectView struct{ Anchor, Name string }

type ignoredView struct{ Name, About, Reason string }

func newView(s record.Snapshot, version string, notReady error) view {
	anchors := map[string]string{}
	for i, t := range s.Targets {
		anchors[t.ID] = fmt.Sprintf("target-%d", i+1)
	}
	v := view{
		Node: s.Node, Version: version, RefreshSeconds: int(refresh.Seconds()),
		AsOf: asOf(s.Time), Started: at(s.Started, s.Time), Watched: watched(s),
	}
	v.Findings = newFindingViews(findings(s, notReady), anchors, s.Time)
	v.Verdict, v.Tone = verdict(v.Findings, len(s.Targets))
	v.Title = v.Verdict + " · " + s.Node + " · ssdprobe"
	for _, t := range s.Targets {
		target := newTargetView(t, anchors[t.ID], s.Time)
		target.Health = newHealthViews(s.ControllersOf(t.Device.ID), s.Time)
		v.Targets = append(v.Targets, target)
		v.readings(t.Collectors)
	}
	v.readings(s.Collectors)
	for _, i := range s.Ignored {
		v.Ignored = append(v.Ignored, ignoredView{Name: i.Device.Name, About: identity(i.Device), Reason: i.Reason})
	}
	return v
}

// newFindingViews puts findings of the same words together: what is wrong with
// the host is told once and not for each of its drives.
func newFindingViews(found []finding, anchors map[string]string, now time.Time) []findingView {
	var views []findingView
	for _, f := range found {
		subject := subjectView{Anchor: anchors[f.TargetID], Name: strings.TrimSpace(f.Path + " " + f.Probe)}
		if f.TargetID == "" {
			subject.Name = "this node"
		}
		same := func(v findingView) bool {
			return v.Severity == f.Severity && v.Code == f.Code && v.Text == f.Text && v.since.Equal(f.Since)
		}
		if i := slices.IndexFunc(views, same); i >= 0 {
			views[i].Subjects = append(views[i].Subjects, subject)
			continue
		}
		views = append(views, findingView{
			Severity: f.Severity, Tone: severityTone(f.Severity), Subjects: []subjectView{subject},
			Text: f.Text, Code: f.Code, Since: at(f.Since, now), since: f.Since,
		})
	}
	return views
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

// verdict is "1 problem, 2 warnings", and how bad that is.
func verdict(found []findingView, targets int) (string, tone) {
	counts := map[severity]uint64{}
	for _, f := range found {
		counts[f.Severity]++
	}
	var parts []string
	for _, s := range []severity{severityProblem, severityWarning} {
		if n := counts[s]; n > 0 {
			parts = append(parts, units.Plural(n, string(s)))
		}
	}
	switch {
	case counts[severityProblem] > 0:
		return strings.Join(parts, ", "), toneBad
	case counts[severityWarning] > 0:
		return strings.Join(parts, ", "), toneWarn
	case targets == 0:
		return "nothing is watched", toneWarn
	default:
		return "all well", toneGood
	}
}

func severityTone(s severity) tone {
	if s == severityProblem {
		return toneBad
	}
	return toneWarn
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
	Problem         string
	Warnings        []record.Warning
	Probes          []probeView
	Runs            []runView
	Conditions      []conditionView
	// Health tells what the controllers of the device say, a line each.
	Health []healthView
	// Written tells how much of a raw device can be measured, Cost what
	// ssdprobe itself has moved.
	Written, Cost string
}

type conditionView struct {
	Name, Value string
	Changed     *moment
	// Recent marks a change of the last day.
	Recent bool
}

func newTargetView(t record.TargetStatus, anchor string, now time.Time) targetView {
	v := targetView{
		Anchor: anchor, Path: t.Path, About: about(t.Device), Identity: identity(t.Device), ID: t.ID, Problem: t.Problem, Warnings: t.Warnings,
		Runs: newRunViews(t.Runs, now),
	}
	if t.File && t.Device.Name != "" {
		v.About, v.Identity = "on "+t.Device.Name+", "+v.About, "on "+t.Device.Name+", "+v.Identity
	}
	var read, written uint64
	state := badge{}
	for _, p := range t.Probes {
		read, written = read+p.ReadBytes, written+p.WrittenBytes
		probe := newProbeView(p, t.Problem != "", now)
		v.Probes = append(v.Probes, probe)
		state = worse(state, probe.State)
	}
	v.State = state
	if t.Problem != "" {
		v.State = badge{Tone: toneBad, Text: "not probed"}
	}
	v.Cost = fmt.Sprintf("ssdprobe itself has read %s and written %s here since it started",
		units.DriveSize(int64(read)), units.DriveSize(int64(written)))
	if t.WrittenRatio != nil {
		v.Written = fmt.Sprintf("%s of the sampled blocks read as written; %s written blocks are known to read from",
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
