package record

import (
	"slices"
	"time"
)

// DriveVerdict is what is said of a drive, or of a host, as a whole.
type DriveVerdict string

// The verdicts, from the best to the worst; unknown is not one of them.
const (
	Healthy  DriveVerdict = "healthy"
	Watch    DriveVerdict = "watch"    // a suspicion
	Degraded DriveVerdict = "degraded" // at least 1.2 times slower, or slow I/Os have become common
	Severe   DriveVerdict = "severe"   // about twice as slow, or it stalls or fails I/Os beyond doubt
	Unjudged DriveVerdict = "unknown"  // nothing was compared
)

// DriveVerdicts lists all of them.
func DriveVerdicts() []DriveVerdict {
	return []DriveVerdict{Unjudged, Healthy, Watch, Degraded, Severe}
}

// Blames reports whether the verdict says that the drive is slow or failing.
func (v DriveVerdict) Blames() bool { return v == Degraded || v == Severe }

// Badness orders verdicts: the worse is greater. What is not judged is worse than healthy, as nobody knows that it is well.
func (v DriveVerdict) Badness() int {
	return slices.Index([]DriveVerdict{Healthy, Unjudged, Watch, Degraded, Severe}, v)
}

// Scope is who is slow.
type Scope string

// The scopes of a verdict.
const (
	ScopeDrive Scope = "drive"
	ScopeBatch Scope = "batch" // several drives that got slower together
	ScopeHost  Scope = "host"  // nearly all drives of the host
)

// Judgement is what is said of a drive as a whole.
type Judgement struct {
	Verdict DriveVerdict `json:"verdict"`
	Scope   Scope        `json:"scope,omitempty"`
	// Ratio is how many times slower, by the witness that says the worst; zero when none does.
	Ratio Ratio     `json:"ratio,omitzero"`
	Since time.Time `json:"since,omitzero"`
	// Witnesses are whose I/O says so: "probes", "traffic". Those of what is no matter of speed: "stalls", "errors".
	Witnesses []string `json:"witnesses,omitempty"`
	// ThanBefore are those Witnesses that say that it is slower than before; the others say that it
	// is far slower than its peers.
	ThanBefore []string `json:"than_before,omitempty"`
	// Held says that nothing shows it now: it came back within a week before, and so does not end at once.
	Held bool `json:"held,omitempty"`
	// Peers is beside how many drives of its model the level was judged; 0 when it was not.
	Peers int `json:"peers,omitempty"`
	// Source is the probe with the worst ratio, or "traffic".
	Source string `json:"source,omitempty"`
	// Unjudged says why, while the verdict is unknown; nil otherwise.
	Unjudged *WhyUnjudged `json:"unjudged,omitempty"`
}

// Judged is the verdict on the target; of one that nobody judges it is unknown.
func (t *TargetStatus) Judged() Judgement {
	if t.Verdict != nil {
		return *t.Verdict
	}
	why := &WhyUnjudged{Reason: ReasonNoRounds}
	if t.Problem != "" {
		why.Reason, why.Detail = ReasonUnavailable, t.Problem
	}
	return Judgement{Verdict: Unjudged, Scope: ScopeDrive, Unjudged: why}
}

// ToldVerdict is what others were told last of a drive, or of a host: a verdict that has not ended.
type ToldVerdict struct {
	Name    string       `json:"name"`
	Verdict DriveVerdict `json:"verdict"`
	Since   time.Time    `json:"since"`
	// Eased is how often it has gone back from severe to degraded since it began.
	Eased int `json:"eased,omitempty"`
}

// Together is what drives of a host did together.
type Together struct {
	Scope Scope `json:"scope"`
	// Verdict is that of the ratio: watch, degraded or severe.
	Verdict   DriveVerdict `json:"verdict"`
	Source    string       `json:"source"`
	Statistic Statistic    `json:"statistic"`
	Ratio     Ratio        `json:"ratio"`
	Since     time.Time    `json:"since"`
	// Drives are the ids of the targets that got slower, of Of that were compared.
	Drives []string `json:"drives"`
	Of     int      `json:"of"`
	// Attribution are the changes of conditions at the onset.
	Attribution []Change `json:"attribution,omitempty"`
}
