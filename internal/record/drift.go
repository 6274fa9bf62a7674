package record

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Statistic is a figure of a round that is compared with its baseline. Its name includes its unit.
type Statistic string

// The statistics of a probe.
const (
	LatencyP50 Statistic = "latency_p50_seconds"
	LatencyP95 Statistic = "latency_p95_seconds"
	LatencyP99 Statistic = "latency_p99_seconds"
	IOPS       Statistic = "iops"
)

// Statistics lists the statistics of a probe.
func Statistics() []Statistic { return []Statistic{LatencyP50, LatencyP95, LatencyP99, IOPS} }

// The statistics of a drive's own traffic. They are mean latencies of I/O that ssdprobe did not issue, from the
// kernel's counters.
const (
	OthersReadLatency  Statistic = "others_read_latency_seconds"
	OthersWriteLatency Statistic = "others_write_latency_seconds"
	OthersFlushLatency Statistic = "others_flush_latency_seconds"
)

// TrafficStatistics lists the statistics of a drive's own traffic.
func TrafficStatistics() []Statistic {
	return []Statistic{OthersReadLatency, OthersWriteLatency, OthersFlushLatency}
}

// AllStatistics returns the statistics of rounds, and then those of traffic.
func AllStatistics() []Statistic { return slices.Concat(Statistics(), TrafficStatistics()) }

// IsTail reports whether the statistic describes the slowest I/Os of a round.
func (s Statistic) IsTail() bool { return s == LatencyP95 || s == LatencyP99 }

// Short returns the name for people, such as "p50" or "IOPS".
func (s Statistic) Short() string {
	switch s {
	case IOPS:
		return "IOPS"
	case OthersReadLatency:
		return "reads of others"
	case OthersWriteLatency:
		return "writes of others"
	case OthersFlushLatency:
		return "flushes of others"
	case LatencyP50, LatencyP95, LatencyP99:
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(s), "latency_"), "_seconds")
}

// Of returns the statistic of a round in its unit: seconds, or I/Os per second. It is 0 for the statistics of
// traffic.
func (s Statistic) Of(m Measurement) float64 {
	return s.OfResult(Result{IOPS: m.IOPS(), Latency: m.Latency})
}

// OfResult returns the statistic of a step in its unit; 0 when it is not known.
func (s Statistic) OfResult(r Result) float64 {
	switch s {
	case LatencyP50:
		return r.Quantile(0.50).Seconds()
	case LatencyP95:
		return r.Quantile(0.95).Seconds()
	case LatencyP99:
		return r.Quantile(0.99).Seconds()
	case IOPS:
		return r.IOPS
	case OthersReadLatency, OthersWriteLatency, OthersFlushLatency: // a step does not have them
	}
	return 0
}

// Slower returns how many times slower now is than before. A value above 1 is worse for every statistic, so IOPS are
// inverted. It is 0 when either value is not positive.
func (s Statistic) Slower(before, now float64) float64 {
	if before <= 0 || now <= 0 {
		return 0
	}
	if s == IOPS {
		return before / now
	}
	return now / before
}

// Maturity says how much data a baseline is based on, and so what can be judged with it. It grows with the time over
// which the baseline was learned. It is empty while there is no baseline.
type Maturity string

// The maturities of a baseline, in the order in which it passes through them.
const (
	// Early means learned from the first rounds. Only large shifts are judged.
	Early Maturity = "early"
	// Provisional means that the noise of at least about two hours is known. Shifts beyond drift.threshold are
	// judged.
	Provisional Maturity = "provisional"
	// Final means that a whole day and its load are known. A final baseline does not move for the rest of its epoch,
	// so that a slow creep cannot hide in it.
	Final Maturity = "final"
)

// Cause is the kind of evidence that revealed a drift.
type Cause string

// The causes of a drift.
const (
	ByLevel      Cause = "level"       // all rounds have become slower or faster
	BySlowRounds Cause = "slow_rounds" // slow rounds have become common; the others are as before
	ByLargeShift Cause = "large_shift" // nearly all rounds of five minutes were far too slow
)

// Baseline is the learned reference of one probe on one device during one epoch.
type Baseline struct {
	Conditions Conditions            `json:"conditions"`
	Learned    time.Time             `json:"learned,omitzero"` // zero while learning
	Rounds     int                   `json:"rounds"`
	Values     map[Statistic]float64 `json:"values"`
	Maturity   Maturity              `json:"maturity,omitempty"`
	// HostSlower is how many times slower than usual the host was while the values were learned, by statistic, where that
	// matters. The values contain it.
	HostSlower map[Statistic]float64 `json:"host_slower,omitempty"`
	// Pinned is true when an operator pinned the baseline. Learning then does not move its level, and nothing
	// replaces it.
	Pinned bool `json:"pinned,omitempty"`
}

// Effect is the effect of a change of conditions: the first rounds after it, compared with the baseline before it.
type Effect struct {
	Time    time.Time           `json:"time"` // of the change
	Changes []Change            `json:"changes"`
	Ratios  map[Statistic]Ratio `json:"ratios"`
	// Accepted is true when an operator accepted the level since the change as normal.
	Accepted bool `json:"accepted,omitempty"`
}

// slowedBy is the ratio from which on an effect is told for as long as it lasts. Its baseline follows smaller ones
// silently: most are of kernels, and nobody undoes those.
const slowedBy = 1.2

// Slowed returns the statistics that the change certainly made at least 1.2 times slower and that nobody accepted.
// It leaves out tails, of which the hour after a change says little. The effect may be nil.
func (e *Effect) Slowed() []Statistic {
	if e == nil || e.Accepted {
		return nil
	}
	return slices.DeleteFunc(AllStatistics(), func(s Statistic) bool {
		return s.IsTail() || e.Ratios[s].Ratio < slowedBy || e.Ratios[s].Lower <= 1
	})
}

// Lifetime is how many times slower than at first the level of a statistic became with all changes of conditions since. What
// somebody accepted is not counted.
type Lifetime struct {
	Ratio
	Since time.Time `json:"since"` // when the level that it is compared with was learned
}

// SlowedUntold returns the statistics of a probe that changes of conditions have certainly made at least 1.2 times slower, apart from
// the effects that are told by themselves: each change did less. Those before the lifetime reference are not in it.
func SlowedUntold(all map[Statistic]Lifetime, told []Effect) map[Statistic]Lifetime {
	out := map[Statistic]Lifetime{}
	for _, s := range Statistics() {
		l, by := all[s], 1.0
		for _, e := range told {
			if e.Time.After(l.Since) && slices.Contains(e.Slowed(), s) {
				by *= e.Ratios[s].Ratio
			}
		}
		if l.Ratio.Ratio >= slowedBy*by && l.Lower > by {
			out[s] = l
		}
	}
	return out
}

// Of reports whether a condition is among those that changed.
func (e *Effect) Of(condition string) bool {
	return slices.ContainsFunc(e.Changes, func(c Change) bool { return c.Condition == condition })
}

// Ratio is how many times slower something is, with the bounds of the 95 % interval. Both bounds are 0 when there is
// no interval.
type Ratio struct {
	Ratio float64 `json:"ratio"`
	Lower float64 `json:"lower,omitempty"`
	Upper float64 `json:"upper,omitempty"`
}

// String returns text for a sentence, such as "18 % faster (16 to 20 %)", or "2.5 times slower (2.4 to 2.6)" for factors
// of 2 and more. It is empty when nothing was compared. Among other figures, units.RatioWithin writes the ratio.
func (r Ratio) String() string {
	word, ratio, lower, upper := "slower", r.Ratio, r.Lower, r.Upper
	switch {
	case ratio <= 0:
		return ""
	case ratio < 1:
		word, ratio = "faster", 1/ratio
		if lower > 0 {
			lower, upper = 1/upper, 1/lower
		}
	}
	if ratio >= 2 {
		text := fmt.Sprintf("%.1f times %s", ratio, word)
		if lower > 0 {
			text += fmt.Sprintf(" (%.1f to %.1f)", lower, upper)
		}
		return text
	}
	text := fmt.Sprintf("%.0f %% %s", 100*(ratio-1), word)
	if lower > 0 {
		text += fmt.Sprintf(" (%.0f to %.0f %%)", 100*(lower-1), 100*(upper-1))
	}
	return text
}

// Words returns a phrase for each statistic, such as "since firmware A → B: p50 18 % faster (16 to 20 %)" and "p95
// …". It returns none when the effect is not known.
func (e *Effect) Words() []string {
	if e == nil {
		return nil
	}
	var words []string
	for _, s := range AllStatistics() {
		if r, ok := e.Ratios[s]; ok {
			words = append(words, s.Short()+" "+r.String())
		}
	}
	if len(words) > 0 {
		words[0] = "since " + strings.Join(ChangeTexts(e.Changes), ", ") + ": " + words[0]
	}
	return words
}

// String returns Words as one line.
func (e *Effect) String() string { return strings.Join(e.Words(), ", ") }

// DriftState is the verdict on one statistic.
type DriftState string

// The states of drift.
const (
	Learning  DriftState = "learning"
	Stable    DriftState = "stable"
	Suspect   DriftState = "suspect"
	Regressed DriftState = "regressed"
	Improved  DriftState = "improved"
	// Waiting means that there is not yet enough data to judge by.
	Waiting DriftState = "waiting"
	Unknown DriftState = "unknown"
)

// DriftStates lists all states.
func DriftStates() []DriftState {
	return []DriftState{Learning, Waiting, Unknown, Stable, Suspect, Regressed, Improved}
}

// Judged reports whether the state is the result of a comparison.
func (s DriftState) Judged() bool {
	switch s {
	case Learning, Waiting, Unknown:
		return false
	case Stable, Suspect, Regressed, Improved:
	}
	return true
}

// Drifts reports whether the statistic differs from the baseline, or seems to.
func (s DriftState) Drifts() bool { return s.Judged() && s != Stable }

// Drift is the comparison of one statistic in the recent window with the baseline.
type Drift struct {
	Statistic Statistic  `json:"statistic"`
	State     DriftState `json:"state"`
	// Since is when the state began; for a drift, its estimated onset.
	Since time.Time `json:"since,omitzero"`
	// Over is the time span that Now, Ratio and its bounds cover; nil when there is none.
	Over *Span `json:"over,omitempty"`
	// Now is the statistic over that span, adjusted to the load at which the baseline's value holds; 0 when there is
	// none.
	Now float64 `json:"now,omitempty"`
	// Ratio is how many times slower than the baseline the statistic is; 0 when nothing was compared recently.
	Ratio float64 `json:"ratio,omitempty"`
	// Lower and Upper bound the 95 % interval of Ratio; both are 0 when the window has too few rounds for an
	// interval.
	Lower float64 `json:"lower,omitempty"`
	Upper float64 `json:"upper,omitempty"`
	Cause Cause   `json:"cause,omitempty"` // of a drift
	// Attribution lists the changes of conditions at the onset, if any.
	Attribution []Change `json:"attribution,omitempty"`
	// Unjudged says why the statistic is not judged or, in state Regressed, why it is no longer compared. It is nil
	// when it is compared.
	Unjudged *WhyUnjudged `json:"unjudged,omitempty"`
}

// NotAfter returns when something began, but no later than now: the clock may have been set back since.
func NotAfter(began, now time.Time) time.Time {
	if began.After(now) {
		return now.Round(0)
	}
	return began
}

// Span is a period of time.
type Span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Length returns the length of the span.
func (s Span) Length() time.Duration { return s.To.Sub(s.From) }
