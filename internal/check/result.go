package check

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
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
	// LastRound is when the last round was that is stored, where no daemon answers; zero where one does.
	LastRound time.Time `json:"last_round,omitzero"`
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

// Of is the result of what is known of a node. ids are those of the wanted targets; all, and with them the host, when
// there are none.
func Of(s record.Snapshot, ids []string) Result {
	r := Result{Time: s.Time, Node: s.Node, Verdict: record.Healthy, Reasons: []string{}, Drives: []Drive{}}
	if len(ids) == 0 && s.Host != nil && s.Host.Verdict.Blames() {
		r.add("the host", *s.Host)
	}
	for _, h := range finding.HealthOf(s) { // the worst first
		if len(ids) > 0 && !slices.Contains(ids, h.TargetID) {
			continue
		}
		d := Drive{TargetID: h.TargetID, Path: h.Path, Device: h.Device, Verdict: h.Judgement}
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
	if rank(v.Verdict) > rank(r.Verdict) {
		r.Verdict = []record.DriveVerdict{record.Healthy, record.Unjudged, record.Degraded, record.Severe}[rank(v.Verdict)]
	}
	if rank(v.Verdict) > rank(record.Healthy) {
		r.Reasons = append(r.Reasons, name+" is "+report.DriveVerdict(v))
	}
}

// missing adds something that nothing is known of.
func (r *Result) missing(why string) {
	r.Reasons = append(r.Reasons, why)
	if r.Verdict == record.Healthy {
		r.Verdict = record.Unjudged
	}
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

// Name is that of the device, or the path of a file.
func (d Drive) Name() string {
	if d.Path == "/dev/"+d.Device {
		return d.Device
	}
	return d.Path
}
