package check

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Result is the summary of the drives of one node.
type Result struct {
	Time time.Time `json:"time"`
	Node string    `json:"node"`
	// Verdict is the worst of all drives: healthy, degraded, severe or unknown. A drive that is not judged makes it
	// unknown, unless another drive is degraded or severe.
	Verdict record.DriveVerdict `json:"verdict"`
	// Reasons say in words why the verdict is not healthy, the worst first.
	Reasons []string `json:"reasons"`
	Drives  []Drive  `json:"drives"`
	// LastRound is the time of the last stored round when no daemon answers; zero when one does.
	LastRound time.Time `json:"last_round,omitzero"`
}

// Drive is the verdict on one target.
type Drive struct {
	TargetID string           `json:"target_id"`
	Path     string           `json:"path"`
	Device   string           `json:"device,omitempty"`
	State    finding.State    `json:"state"`
	Verdict  record.Judgement `json:"verdict"`
}

// Unknown returns the result for a node of which nothing is known, with the reason.
func Unknown(node, reason string, now time.Time) Result {
	return Result{Time: now, Node: node, Verdict: record.Unjudged, Reasons: []string{reason}, Drives: []Drive{}}
}

// Of returns the result for a node. ids selects targets; without ids, the result covers all targets and the host.
func Of(s record.Snapshot, ids []string) Result {
	r := Result{Time: s.Time, Node: s.Node, LastRound: s.LastRound, Verdict: record.Healthy, Reasons: []string{}, Drives: []Drive{}}
	if len(ids) == 0 && s.Host != nil && s.Host.Verdict.Blames() {
		r.add("the host", *s.Host)
	}
	for _, h := range finding.HealthOf(s) { // the worst first
		if len(ids) > 0 && !slices.Contains(ids, h.TargetID) {
			continue
		}
		d := Drive{TargetID: h.TargetID, Path: h.Path, Device: h.Device, State: h.State, Verdict: h.Judgement}
		r.Drives = append(r.Drives, d)
		r.add(d.Name(), d.Verdict)
	}
	if len(r.Drives) == 0 {
		r.missing("no drive is watched")
	}
	if len(ids) > 0 {
		return r
	}
	for _, f := range finding.Of(s) {
		switch f.Code {
		case finding.NotReady:
			r.missing(f.String())
		case finding.NotWatched:
			r.missing(f.Device + " is " + f.String())
		}
	}
	return r
}

// add adds the verdict on a drive or on the host.
func (r *Result) add(name string, v record.Judgement) {
	counts := countsAs(v.Verdict)
	if counts.Badness() > r.Verdict.Badness() {
		r.Verdict = counts
	}
	if counts != record.Healthy {
		r.Reasons = append(r.Reasons, name+" is "+report.DriveVerdict(v, units.UTC))
	}
}

// missing adds a reason why something is unknown.
func (r *Result) missing(why string) {
	r.Reasons = append(r.Reasons, why)
	if r.Verdict == record.Healthy {
		r.Verdict = record.Unjudged
	}
}

// countsAs returns what a verdict counts as. Watch counts as healthy: it either becomes a verdict or ends. An unknown verdict,
// as of a newer daemon, is not known to be good.
func countsAs(v record.DriveVerdict) record.DriveVerdict {
	switch v {
	case record.Watch:
		return record.Healthy
	case record.Healthy, record.Degraded, record.Severe:
		return v
	case record.Unjudged:
	}
	return record.Unjudged
}

// count returns how many drives have a verdict.
func (r Result) count(v record.DriveVerdict) int {
	n := 0
	for _, d := range r.Drives {
		if d.Verdict.Verdict == v {
			n++
		}
	}
	return n
}

// despite returns how many drives are in a state other than healthy, although their verdict counts as healthy.
func (r Result) despite(state finding.State) int {
	n := 0
	for _, d := range r.Drives {
		if d.State == state && state != finding.State(record.Healthy) && countsAs(d.Verdict.Verdict) == record.Healthy {
			n++
		}
	}
	return n
}

// Name returns the name of the device, or the path of a file.
func (d Drive) Name() string {
	if d.Path == "/dev/"+d.Device {
		return d.Device
	}
	return d.Path
}
