package web

import (
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/history"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// refresh is how often the page refreshes itself. Rounds come every 30 s or less often.
const refresh = 15 * time.Second

// frame is what all pages have in common.
type frame struct {
	Title, Node, Version string
	Style                template.CSS
	Script               template.JS
	RefreshSeconds       int
	AsOf                 *moment
	Started              *moment
}

func newFrame(s record.Snapshot, title, version string) frame {
	return frame{
		Title: title + " · " + s.Node + " · ssdprobe", Node: s.Node, Version: version,
		Style: template.CSS(pageStyle()), Script: template.JS(pageScript), // part of the program, not of a request
		RefreshSeconds: int(refresh.Seconds()), AsOf: asOf(s.Time), Started: at(s.Started, s.Time),
	}
}

// overview is the data for the template of the status page. It contains only final texts, so that the template
// decides nothing.
type overview struct {
	frame
	// Verdict summarizes the page in a few words. Tone says how bad it is.
	Verdict string
	Tone    tone
	Watched string
	// Host is the verdict on the host, nil while it is not judged. HostWhy says what it is based on, unless it is healthy.
	Host    *badge
	HostWhy string
	// NotReady says that the daemon has not looked at every target yet.
	NotReady     bool
	Rows         []rowView
	Notes        []noteView
	Findings     []findingView
	Ignored      []ignoredView
	ReadingsGood int
	ReadingsBad  []record.CollectorStatus
	// Recordings are the recordings that no target triggered.
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

// findingView is a finding, or several findings that say the same about different targets.
type findingView struct {
	finding.Group
	Tone  tone
	Began *moment // nil when not known
}

type ignoredView struct{ Name, About, Reason string }

func newOverview(s record.Snapshot, histories func(id string) (*history.History, bool), version string) overview {
	found := finding.Of(s)
	v := overview{Watched: watched(s), NotReady: s.NotReady != "", Findings: newFindingViews(found, s.Time), Recordings: newRecordingViews(s.Recorder, "", "", s.Time)}
	v.Rows = newRowViews(s, histories)
	v.Notes = newNoteViews(v.Rows)
	summary, grade := finding.Summary(s, found)
	v.Verdict, v.Tone = summary, gradeTone(grade)
	v.frame = newFrame(s, v.Verdict, version)
	if s.Host != nil {
		v.Host, v.HostWhy = new(newBadge(finding.State(s.Host.Verdict))), whyNotHealthy(*s.Host, s.Time)
	}
	for _, t := range s.Targets {
		v.readings(t.Collectors)
	}
	v.readings(s.Collectors)
	for _, i := range s.Ignored {
		v.Ignored = append(v.Ignored, ignoredView{Name: i.Device.Name, About: identity(i.Device), Reason: i.Reason})
	}
	return v
}

func newFindingViews(found []finding.Finding, now time.Time) []findingView {
	var views []findingView
	for _, g := range finding.Groups(found) {
		views = append(views, findingView{Group: g, Tone: severityTone(g.Severity), Began: at(g.Since, now)})
	}
	return views
}

// ofProbe selects the findings about one probe or, with an empty name, about the target as a whole.
func ofProbe(found []finding.Finding, name string) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool { return f.Probe != name })
}

func (v *overview) readings(collectors []record.CollectorStatus) {
	for _, c := range collectors {
		if c.Success {
			v.ReadingsGood++
		} else {
			v.ReadingsBad = append(v.ReadingsBad, c)
		}
	}
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

// watched returns text such as "3 targets on 2 devices, 7 probes".
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
