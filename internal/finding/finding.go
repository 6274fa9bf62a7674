package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Finding is something that a person should know about a node.
type Finding struct {
	Severity Severity `json:"severity"`
	// Code is one of the codes in the table in kinds.go.
	Code string `json:"code"`
	// TargetID is empty for a finding about the node. Probe is empty for one about a whole
	// target.
	TargetID string `json:"target_id,omitempty"`
	Path     string `json:"path,omitempty"`
	Device   string `json:"device,omitempty"`
	Probe    string `json:"probe,omitempty"`
	// Text says what is wrong, without the name of the drive.
	Text string `json:"text"`
	// Evidence holds the figures that support the finding: "p50 1.62× (1.57× to 1.68×)".
	Evidence []string `json:"evidence,omitempty"`
	// Action says what to do; empty when that is not known.
	Action string `json:"action,omitempty"`
	// Since is absent when it is not known.
	Since time.Time `json:"since,omitzero"`
	// Recording is the id of the flight recording of the event; empty when there is none.
	Recording string `json:"recording,omitempty"`
}

// String returns the text with its evidence.
func (f Finding) String() string {
	if len(f.Evidence) == 0 {
		return f.Text
	}
	return f.Text + ": " + strings.Join(f.Evidence, ", ")
}

// Of lists the findings of a node: by severity, the worst first, then in the order of the table,
// then in that of the snapshot.
func Of(s record.Snapshot) []Finding {
	all := []Finding{}
	if s.NotReady != "" {
		all = append(all, found(NotReady, "not ready", s.NotReady))
	}
	if !s.QuietUntil.IsZero() {
		all = append(all, found(Quiet, "quiet hours", "nothing is measured until "+units.Minute(s.QuietUntil)))
	}
	all = append(all, ofCollectors(s.Collectors, s.Warnings)...)
	all = append(all, ofWarnings(s.Warnings)...)
	all = append(all, ofTogether(s.Together, s.Targets)...)
	all = append(all, ofChanges(s.Targets)...)
	for _, i := range s.Ignored {
		if i.Denied {
			f := found(NotWatched, "not watched", i.Reason)
			f.Path, f.Device = "/dev/"+i.Device.Name, i.Device.Name
			all = append(all, f)
		}
	}
	for i, t := range s.Targets {
		// The empty id stands for the node, so a target without an id counts as a duplicate too.
		twice := t.ID == "" || slices.ContainsFunc(s.Targets[:i], func(before record.TargetStatus) bool { return before.ID == t.ID })
		if slices.ContainsFunc(s.Targets[:i], func(before record.TargetStatus) bool { return shareTraffic(before, t) }) {
			t.Traffic = nil // already reported: several files may share a device, which may itself be watched
		}
		for _, f := range ofTarget(t, s, twice) {
			f.TargetID, f.Path, f.Device = t.ID, t.Path, t.Device.Name
			all = append(all, f)
		}
	}
	nameRecordings(all, s)
	Sort(all)
	return all
}

// Sort sorts by severity, the worst first, and then by the order of the table. It keeps the order
// of findings with the same code.
func Sort(all []Finding) {
	kinds := Kinds()
	rank := make(map[string]int, len(kinds))
	for i, k := range kinds {
		rank[k.Code] = i - len(kinds) // negative, so that a code that is not in the table comes last
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(rank[a.Code], rank[b.Code]))
	})
}

// OfTarget returns the findings of one target.
func OfTarget(all []Finding, id string) []Finding {
	of := []Finding{}
	for _, f := range all {
		if f.TargetID == id && id != "" {
			of = append(of, f)
		}
	}
	return of
}

// found returns a finding with the severity and action that the table has for its code. An
// unknown code, as a newer daemon may send it, becomes a warning without an action.
func found(code, text string, evidence ...string) Finding {
	f := Finding{Severity: Warning, Code: code, Text: OneLine(text)}
	for _, e := range evidence {
		f.Evidence = append(f.Evidence, OneLine(e))
	}
	for _, k := range Kinds() {
		if k.Code == code {
			f.Severity, f.Action = k.Severity, k.Action
		}
	}
	return f
}

// OneLine puts the text of an error, which may have a line for each problem, on one line.
func OneLine(text string) string {
	return strings.NewReplacer(":\n", ": ", "\n", "; ").Replace(strings.TrimSpace(text))
}

// from returns the finding with the time when it began.
func (f Finding) from(since time.Time) Finding {
	f.Since = since
	return f
}

// OfWarning returns the finding for a warning of a run, or of a drive that is read now. These have no list of findings.
func OfWarning(w record.Warning) Finding { return found(w.Code, w.Text) }

// Advised returns the text with what to do about it.
func (f Finding) Advised() string {
	if f.Action == "" {
		return f.Text
	}
	return strings.TrimSuffix(f.Text, ".") + "; " + f.Action
}

func ofTarget(t record.TargetStatus, s record.Snapshot, twice bool) []Finding {
	var all []Finding
	if twice {
		all = append(all, found(record.WarnDuplicate, "another target has the same id", t.ID))
	}
	if t.Problem != "" {
		all = append(all, found(CannotProbe, "cannot be probed", t.Problem))
	}
	all = append(all, ofTraffic(t.Traffic)...)
	all = append(all, ofVerdict(t, s.Time)...)
	all = append(all, ofCollectors(t.Collectors, t.Warnings)...)
	all = append(all, ofWarnings(t.Warnings)...)
	for _, r := range t.Runs {
		all = append(all, ofRun(r, s.Time)...)
	}
	for i, p := range t.Probes {
		of := ofProbe(p, t.HeldBack(&p), s, t.Problem != "" || !s.QuietUntil.IsZero())
		if slices.ContainsFunc(t.Probes[:i], func(before record.ProbeStatus) bool { return before.Probe.Name == p.Probe.Name }) {
			of = append(of, found(record.WarnDuplicate, "another probe of the target has the same name", p.Probe.Name))
		}
		for _, f := range of {
			f.Probe = p.Probe.Name
			all = append(all, f)
		}
	}
	return asBadAs(t.Verdict, all)
}

// asBadAs makes the findings that make a drive severe critical: how bad a drive is, is judged in one place only. What its
// witnesses saw before a restart has no finding of its own, and gets one.
func asBadAs(v *record.Judgement, all []Finding) []Finding {
	if v == nil || v.Verdict != record.Severe || v.Held {
		return all
	}
	by := []string{Regressed, TrafficSlower}
	for _, w := range []struct{ witness, code, text string }{
		{record.WitnessErrors, IOErrors, "I/Os of its probes failed within the last hour"}, {record.WitnessStalls, Stalled, "it stalled within the last hour"},
	} {
		if !slices.Contains(v.Witnesses, w.witness) {
			continue
		}
		by = append(by, w.code)
		if !slices.ContainsFunc(all, func(f Finding) bool { return f.Code == w.code || f.Code == Hung }) {
			all = append(all, found(w.code, w.text).from(v.Onset(w.witness)))
		}
	}
	for i := range all {
		if slices.Contains(by, all[i].Code) {
			all[i].Severity = Critical
		}
	}
	return all
}

// OfDevice lists the findings for the warnings of a device that is not a target. A zero device
// stands for the node.
func OfDevice(d record.Device, warnings []record.Warning) []Finding {
	all := ofWarnings(warnings)
	for i := range all {
		if all[i].Device = d.Name; d.Name != "" {
			all[i].Path = "/dev/" + d.Name
		}
	}
	return all
}

func ofWarnings(warnings []record.Warning) []Finding {
	all := make([]Finding, len(warnings))
	for i, w := range warnings {
		all[i] = OfWarning(w)
	}
	return all
}

// ofCollectors leaves out errors that a warning already contains. The warning may have them on
// one line.
func ofCollectors(collectors []record.CollectorStatus, warnings []record.Warning) []Finding {
	var all []Finding
	for _, c := range collectors {
		problem := strings.Join(strings.Fields(c.Error), " ")
		told := slices.ContainsFunc(warnings, func(w record.Warning) bool { return problem != "" && strings.Contains(w.Text, problem) })
		switch {
		case c.Success || told:
		case c.Collector == record.CollectorConfiguration:
			all = append(all, found(record.WarnConfigFile, "the new configuration is refused, and the old one stays in force", c.Error))
		default:
			all = append(all, found(Collector, fmt.Sprintf("the last reading of %s failed", c.Collector), c.Error))
		}
	}
	return all
}
