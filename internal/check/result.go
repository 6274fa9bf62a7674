package check

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Result is what is said of the drives of one node.
type Result struct {
	Time time.Time `json:"time"`
	Node string    `json:"node"`
	// Verdict is the worst of all drives: healthy, degraded, severe or unknown. A drive that is not judged makes it
	// unknown, unless another is slow.
	Verdict record.DriveVerdict `json:"verdict"`
	// Reasons say in words why it is not healthy, the worst first.
	Reasons []string `json:"reasons"`
	Drives  []Drive  `json:"drives"`
}

// Drive is what is said of one target.
type Drive struct {
	TargetID string           `json:"target_id"`
	Path     string           `json:"path"`
	Device   string           `json:"device,omitempty"`
	Verdict  record.Judgement `json:"verdict"`
}

// Unknown is the result when nothing can be said, and why.
func Unknown(node, reason string, now time.Time) Result {
	return Result{Time: now, Node: node, Verdict: record.Unjudged, Reasons: []string{reason}, Drives: []Drive{}}
}

// Of is the result of what a running daemon says. ids are those of the wanted targets; all, and with them the host, when
// there are none.
func Of(s record.Snapshot, ids []string) Result {
	r := Result{Time: s.Time, Node: s.Node, Reasons: []string{}, Drives: []Drive{}}
	for _, t := range s.Targets {
		if len(ids) > 0 && !slices.Contains(ids, t.ID) {
			continue
		}
		d := Drive{TargetID: t.ID, Path: t.Path, Device: t.Device.Name, Verdict: record.Judgement{Verdict: record.Unjudged}}
		if t.Verdict != nil {
			d.Verdict = *t.Verdict
		}
		r.Drives = append(r.Drives, d)
	}
	var host, missing []string
	if len(ids) == 0 {
		for _, f := range finding.Of(s) {
			switch f.Code {
			case finding.HostSlower:
				host = append(host, f.String())
			case finding.NotReady:
				missing = append(missing, f.String())
			case finding.NotWatched:
				missing = append(missing, f.String())
			}
		}
	}
	return r.concluded(host, missing)
}

// freshFor is how old the last round of a drive may be for its stored verdict to hold: a daemon that is being restarted
// stores every ten minutes and at its end.
const freshFor = 15 * time.Minute

// Stored is the result of what a daemon that does not run stored last.
func Stored(node string, targets []state.Target, kept judge.State, ids []string, now time.Time) Result {
	r := Result{Time: now, Node: node, Reasons: []string{}, Drives: []Drive{}}
	for _, t := range targets {
		i := slices.IndexFunc(kept.Drives, func(d judge.DriveState) bool { return d.ID == t.ID })
		wanted := slices.Contains(ids, t.ID)
		if i < 0 && !wanted || len(ids) > 0 && !wanted { // one that has gone for more than a day
			continue
		}
		d := Drive{TargetID: t.ID, Path: t.Path, Device: t.Device.Name, Verdict: record.Judgement{Verdict: record.Unjudged}}
		why := record.WhyUnjudged{Reason: record.ReasonNoRounds, Detail: "no daemon runs"}
		if i >= 0 {
			d.Verdict = kept.Drives[i].Verdict
			why.Since = kept.Drives[i].Last
		}
		if age := now.Sub(why.Since); age > freshFor || age < -freshFor {
			if !why.Since.IsZero() {
				why.Detail = "no daemon runs, and the last round was " + units.Ago(why.Since, now)
			}
			d.Verdict = record.Judgement{Verdict: record.Unjudged, Unjudged: &why}
		}
		r.Drives = append(r.Drives, d)
	}
	return r.concluded(nil, nil)
}

// concluded sums up the drives, what is said of the host, and what else is not known.
func (r Result) concluded(host, missing []string) Result {
	slices.SortStableFunc(r.Drives, func(a, b Drive) int { return rank(b.Verdict.Verdict) - rank(a.Verdict.Verdict) })
	r.Verdict = record.Healthy
	if len(r.Drives) == 0 {
		missing = append(missing, "no drive is watched")
	}
	for _, d := range r.Drives {
		if rank(d.Verdict.Verdict) > rank(r.Verdict) {
			r.Verdict = []record.DriveVerdict{record.Healthy, record.Unjudged, record.Degraded, record.Severe}[rank(d.Verdict.Verdict)]
		}
		if rank(d.Verdict.Verdict) > rank(record.Healthy) {
			r.Reasons = append(r.Reasons, d.name()+" is "+report.DriveVerdict(d.Verdict))
		}
	}
	if len(missing) > 0 && r.Verdict == record.Healthy {
		r.Verdict = record.Unjudged
	}
	if len(host) > 0 && !r.Verdict.Blames() {
		r.Verdict = record.Degraded
	}
	r.Reasons = slices.Concat(host, r.Reasons, missing)
	return r
}

// rank orders verdicts from fine to bad. A suspicion is fine: it becomes a verdict or ends.
func rank(v record.DriveVerdict) int {
	switch v {
	case record.Severe:
		return 3
	case record.Degraded:
		return 2
	case record.Healthy, record.Watch:
		return 0
	case record.Unjudged:
	}
	return 1 // what a newer daemon says is not known to be good
}

// count is how many drives have a verdict.
func (r Result) count(v record.DriveVerdict) int {
	n := 0
	for _, d := range r.Drives {
		if d.Verdict.Verdict == v {
			n++
		}
	}
	return n
}

// name is that of the device, or the path of a file.
func (d Drive) name() string {
	if d.Path == "/dev/"+d.Device {
		return d.Device
	}
	return d.Path
}
