package record

import (
	"slices"
	"time"
)

// DriveVerdict is the verdict on a whole drive or host.
type DriveVerdict string

// The verdicts.
const (
	Healthy  DriveVerdict = "healthy"
	Watch    DriveVerdict = "watch"    // a suspicion, or a drift too small to matter
	Degraded DriveVerdict = "degraded" // at least 1.2 times slower, or slow I/Os have become common
	Severe   DriveVerdict = "severe"   // about twice as slow, or beyond doubt stalls or fails I/Os
	Unjudged DriveVerdict = "unknown"  // nothing was compared
)

// DriveVerdicts lists all verdicts, from best to worst. Unjudged is worse than Healthy, because such a drive is not known to
// be well.
func DriveVerdicts() []DriveVerdict {
	return []DriveVerdict{Healthy, Unjudged, Watch, Degraded, Severe}
}

// Blames reports whether the verdict says that the drive is slow or failing.
func (v DriveVerdict) Blames() bool { return v == Degraded || v == Severe }

// Suspects reports whether the verdict says that the drive is or may be slow or failing: watch or worse.
func (v DriveVerdict) Suspects() bool { return v == Watch || v.Blames() }

// Badness is the place of a verdict in DriveVerdicts: a worse one has a greater number.
func (v DriveVerdict) Badness() int { return slices.Index(DriveVerdicts(), v) }

// Scope says what is slow.
type Scope string

// The scopes of a verdict.
const (
	ScopeDrive Scope = "drive"
	ScopeBatch Scope = "batch" // several drives that became slower together
	ScopeHost  Scope = "host"  // nearly all drives of the host
)

// The witnesses of a verdict: what shows that a drive is slow or failing.
const (
	WitnessProbes  = "probes"
	WitnessTraffic = "traffic"
	WitnessStalls  = "stalls"
	WitnessErrors  = "errors"
)

// OfSpeed reports whether a witness shows slow I/O. Stalls and errors do not concern speed.
func OfSpeed(witness string) bool { return witness == WitnessProbes || witness == WitnessTraffic }

// SourceTraffic is the source of figures that is a drive's own traffic. All other sources are probes, by their names.
const SourceTraffic = "traffic"

// Judgement is the verdict on a drive or host, with its evidence.
type Judgement struct {
	Verdict DriveVerdict `json:"verdict"`
	Scope   Scope        `json:"scope,omitempty"`
	// Ratio is how many times slower the drive is, according to the witness with the worst ratio; zero when there is
	// none: it only stalls or fails I/Os, or slow rounds have become common. While Unjudged is set, it is that of the last
	// comparison.
	Ratio Ratio `json:"ratio,omitzero"`
	// Since is the first of Onsets.
	Since time.Time `json:"since,omitzero"`
	// Onsets is when what each witness shows began: a drive that fails I/Os may become slow much later. It also has those
	// whose evidence is no more than a suspicion.
	Onsets map[string]time.Time `json:"onsets,omitempty"`
	// Witnesses names the evidence for the verdict: WitnessProbes or WitnessTraffic for slow I/O, and WitnessStalls or
	// WitnessErrors for faults other than slowness.
	Witnesses []string `json:"witnesses,omitempty"`
	// ThanBefore lists the Witnesses that show that the drive is slower than before. The others show that it is far
	// slower than its peers.
	ThanBefore []string `json:"than_before,omitempty"`
	// Held is true when nothing shows the verdict any more, though something may show a milder one. It is kept because the drive got worse again within a
	// week after it had recovered before.
	Held bool `json:"held,omitempty"`
	// Peers is the number of drives of the same model with which the level was compared; 0 when it was not.
	Peers int `json:"peers,omitempty"`
	// Source is the probe with the worst ratio, or SourceTraffic.
	Source string `json:"source,omitempty"`
	// Attribution lists the changes of conditions at the time when Source became slower.
	Attribution []Change `json:"attribution,omitempty"`
	// Unjudged says why the verdict is unknown or, for a drive or host that is slow, why nothing has confirmed Ratio for an
	// hour; nil when something has.
	Unjudged *WhyUnjudged `json:"unjudged,omitempty"`
	// Accepted is when an operator last accepted a level as normal (drift accept); zero when nobody did.
	Accepted time.Time `json:"accepted,omitzero"`
}

// RatioNow returns Ratio if it is current, else zero. While a verdict is held, it is that of the time when there was evidence.
func (v Judgement) RatioNow() Ratio {
	if v.Unjudged != nil || v.Held {
		return Ratio{}
	}
	return v.Ratio
}

// Began notes since when a witness shows something.
func (v *Judgement) Began(witness string, since time.Time) {
	if v.Onsets == nil {
		v.Onsets = map[string]time.Time{}
	}
	if known, ok := v.Onsets[witness]; !ok || since.Before(known) {
		v.Onsets[witness] = since
	}
	if v.Since.IsZero() || since.Before(v.Since) {
		v.Since = since
	}
}

// Onset returns when what a witness shows began, or Since when that is not known, as in the state of an older version.
func (v Judgement) Onset(witness string) time.Time {
	if at, ok := v.Onsets[witness]; ok {
		return at
	}
	return v.Since
}

// SlowSince returns when the I/O became slow; zero when only stalls or errors were found.
func (v Judgement) SlowSince() time.Time {
	if len(v.Onsets) == 0 {
		return v.Since
	}
	var first time.Time
	for witness, at := range v.Onsets {
		if OfSpeed(witness) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// Judged returns the verdict on the target. It is Unjudged when nothing judges the target.
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

// ToldVerdict is the last verdict on a drive or host that was reported to Kubernetes, as long as it has not ended.
type ToldVerdict struct {
	Name    string       `json:"name"`
	Verdict DriveVerdict `json:"verdict"`
	Since   time.Time    `json:"since"`
	// Eased counts how often the verdict went back from severe to degraded since it began.
	Eased int `json:"eased,omitempty"`
}

// Together describes drives of a host that became slower together.
type Together struct {
	Scope Scope `json:"scope"`
	// Verdict is the verdict for Ratio: watch, degraded or severe.
	Verdict   DriveVerdict `json:"verdict"`
	Source    string       `json:"source"`
	Statistic Statistic    `json:"statistic"`
	Ratio     Ratio        `json:"ratio"`
	Since     time.Time    `json:"since"`
	// Drives lists the ids of the targets that became slower, out of the Of targets that were compared.
	Drives []string `json:"drives"`
	Of     int      `json:"of"`
	// Attribution lists the changes of conditions at the onset.
	Attribution []Change `json:"attribution,omitempty"`
	// Unjudged says why nothing has confirmed Ratio for an hour; nil when something has.
	Unjudged *WhyUnjudged `json:"unjudged,omitempty"`
}

// LastCompared returns " when last compared", with the reason, if Ratio is not of now; else it is empty.
func (t Together) LastCompared() string {
	if t.Unjudged == nil {
		return ""
	}
	return " when last compared (" + t.Unjudged.String() + ")"
}
