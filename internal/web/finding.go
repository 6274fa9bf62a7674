package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// finding is something that a person should know of.
type finding struct {
	Severity severity `json:"severity"`
	// Code is stable: hung, not_ready, cannot_probe, io_errors, regressed, stale,
	// suspect, collector, not_watched, or the code of a record.Warning.
	Code string `json:"code"`
	// TargetID is empty for what concerns the node; Probe for a whole target.
	TargetID string `json:"target_id,omitempty"`
	Path     string `json:"path,omitempty"`
	Device   string `json:"device,omitempty"`
	Probe    string `json:"probe,omitempty"`
	Text     string `json:"text"`
	// Since is absent when it is not known.
	Since time.Time `json:"since,omitzero"`

	rank rank
}

type severity string

const (
	severityProblem severity = "problem" // a drive is slower or not measured
	severityWarning severity = "warning" // something may be wrong, or a number may be
)

// rank orders findings, the worst first.
type rank int

const (
	rankHung rank = iota
	rankCannotProbe
	rankDrive
	rankIOErrors
	rankRegressed
	rankNotReady
	rankStale
	rankSuspect
	rankCollector
	rankWarning
)

// staleRounds is how many rounds in a row have to be lost before that is worth
// a finding: a busy hour is normal, a probe that never gets its turn is not.
const staleRounds = 10

// findings lists what is wrong, the worst first and else in the order of the snapshot.
func findings(s record.Snapshot, notReady error) []finding {
	all := []finding{}
	if notReady != nil {
		all = append(all, finding{rank: rankNotReady, Severity: severityWarning, Code: "not_ready", Text: "not ready: " + notReady.Error()})
	}
	all = append(all, ofCollectors(s.Collectors, s.Warnings)...)
	all = append(all, ofWarnings(s.Warnings)...)
	for _, i := range s.Ignored {
		if i.Denied {
			all = append(all, finding{
				rank: rankWarning, Severity: severityWarning, Code: "not_watched", Device: i.Device.Name,
				Text: i.Device.Name + " is not watched: " + i.Reason,
			})
		}
	}
	for _, t := range s.Targets {
		for _, f := range ofTarget(t, s) {
			f.TargetID, f.Path, f.Device = t.ID, t.Path, t.Device.Name
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b finding) int {
		// Of two severities the worse one has the name that comes first.
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.rank, b.rank))
	})
	return all
}

func ofTarget(t record.TargetStatus, s record.Snapshot) []finding {
	var all []finding
	if t.Problem != "" {
		all = append(all, finding{
			rank: rankCannotProbe, Severity: severityProblem, Code: "cannot_probe", Text: "cannot be probed now: " + t.Problem,
		})
	}
	all = append(all, ofCollectors(t.Collectors, t.Warnings)...)
	all = append(all, ofWarnings(t.Warnings)...)
	for _, p := range t.Probes {
		for _, f := range ofProbe(p, s, t.Problem != "") {
			f.Probe = p.Probe.Name
			all = append(all, f)
		}
	}
	return all
}

// ofProbe leaves out that there are no rounds where the target's own problem
// says why.
func ofProbe(p record.ProbeStatus, s record.Snapshot, explained bool) []finding {
	var all []finding
	if since, hung := hungSince(p, s.Time); hung {
		all = append(all, finding{
			rank: rankHung, Severity: severityProblem, Code: "hung", Since: since,
			Text: "the device does not answer: a round did not end within " + units.Span(p.Probe.Timeout),
		})
	} else if since := lastGood(p, s); !explained && s.Time.Sub(since) > staleRounds*p.Probe.Interval {
		all = append(all, finding{rank: rankStale, Severity: severityWarning, Code: "stale", Since: since, Text: staleText(p)})
	}
	if len(p.Errors) > 0 {
		f := finding{rank: rankIOErrors, Severity: severityWarning, Code: "io_errors", Text: errorsText(p.Errors) + " since ssdprobe started"}
		if p.Last != nil && p.Last.Outcome == record.OutcomeError {
			f.Severity, f.Since = severityProblem, p.Last.Start
		}
		all = append(all, f)
	}
	for _, verdict := range []struct {
		finding
		state record.DriftState
	}{
		{finding{rank: rankRegressed, Severity: severityProblem, Code: "regressed", Text: "slower than its baseline"}, record.Regressed},
		{finding{rank: rankSuspect, Severity: severityWarning, Code: "suspect", Text: "may be slower than its baseline"}, record.Suspect},
	} {
		if in := inState(p.Drift, verdict.state); len(in) > 0 {
			f := verdict.finding
			f.Text, f.Since = driftText(f.Text, in), earliest(in)
			all = append(all, f)
		}
	}
	if p.Last != nil {
		all = append(all, ofWarnings(p.Last.Warnings)...)
	}
	return all
}

// hungSince tells whether the device keeps a round from ending, and since when.
func hungSince(p record.ProbeStatus, now time.Time) (time.Time, bool) {
	switch {
	case !p.InflightSince.IsZero() && p.Probe.Timeout > 0 && now.Sub(p.InflightSince) > p.Probe.Timeout:
		return p.InflightSince, true
	case p.Last != nil && p.Last.Outcome == record.OutcomeTimeout:
		return p.Last.Start, true
	default:
		return time.Time{}, false
	}
}

// lastGood is when the last good round was, or the start of the daemon.
func lastGood(p record.ProbeStatus, s record.Snapshot) time.Time {
	if p.LastSuccess.IsZero() {
		return s.Started
	}
	return p.LastSuccess
}

func staleText(p record.ProbeStatus) string {
	switch {
	case p.Last == nil:
		return "not measured: no round has been run"
	case p.Last.Reason == "":
		return fmt.Sprintf("not measured: the last round was %s", p.Last.Outcome)
	default:
		return fmt.Sprintf("not measured: the last round was %s, %s", p.Last.Outcome, p.Last.Reason)
	}
}

// errorsText says "3 I/Os failed: 2 EIO, 1 ENODATA".
func errorsText(errors map[string]uint64) string {
	var total uint64
	var parts []string
	for _, errno := range slices.Sorted(maps.Keys(errors)) {
		total += errors[errno]
		parts = append(parts, fmt.Sprintf("%s %s", units.Count(errors[errno]), errno))
	}
	return fmt.Sprintf("%s failed: %s", units.Plural(total, "I/O"), strings.Join(parts, ", "))
}

func inState(drift []record.Drift, state record.DriftState) []record.Drift {
	return slices.DeleteFunc(slices.Clone(drift), func(d record.Drift) bool { return d.State != state })
}

func earliest(drift []record.Drift) time.Time {
	return slices.MinFunc(drift, func(a, b record.Drift) int { return a.Since.Compare(b.Since) }).Since
}

// driftText says by how much, and what came with it.
func driftText(what string, drifts []record.Drift) string {
	ratios := make([]string, len(drifts))
	for i, d := range drifts {
		ratios[i] = strings.TrimSpace(d.Statistic.Short() + " " + ratio(d))
		if between := interval(d); between != "" {
			ratios[i] += " (" + between + ")"
		}
		if d.Cause == record.BySlowRounds {
			ratios[i] = d.Statistic.Short() + " slow rounds have become common, the others are as before"
		}
	}
	return fmt.Sprintf("%s: %s; %s", what, strings.Join(ratios, ", "), because(drifts))
}

// because names the changes of conditions that came with a change of speed.
func because(drift []record.Drift) string {
	var causes []string
	for _, d := range drift {
		for _, change := range d.Attribution {
			if cause := change.String(); !slices.Contains(causes, cause) {
				causes = append(causes, cause)
			}
		}
	}
	if len(causes) == 0 {
		return "no change of conditions was seen with it: look at the drive itself"
	}
	return "with it came " + strings.Join(causes, ", ")
}

func ofWarnings(warnings []record.Warning) []finding {
	all := make([]finding, len(warnings))
	for i, w := range warnings {
		all[i] = finding{rank: rankWarning, Severity: severityWarning, Code: w.Code, Text: w.Text}
		if w.Code == record.WarnDriveCritical { // what the drive says of itself is more than a doubt
			all[i].rank, all[i].Severity = rankDrive, severityProblem
		}
	}
	return all
}

// ofCollectors leaves out what one of the warnings says in the same words.
func ofCollectors(collectors []record.CollectorStatus, warnings []record.Warning) []finding {
	var all []finding
	for _, c := range collectors {
		told := slices.ContainsFunc(warnings, func(w record.Warning) bool { return w.Text == c.Error })
		if !c.Success && !told {
			all = append(all, finding{
				rank: rankCollector, Severity: severityWarning, Code: "collector",
				Text: fmt.Sprintf("the last reading of %s failed: %s", c.Collector, c.Error),
			})
		}
	}
	return all
}
