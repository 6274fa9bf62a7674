package record

import "time"

// SpanSweep is the result of one load over parts of the target of rising size.
type SpanSweep struct {
	Load      string    `json:"load"` // "8 KiB random read, depth 1"
	Direction Direction `json:"direction"`
	// Points are in rising order of span. Each point is the mean of its repeats.
	Points  []SpanPoint `json:"points"`
	Verdict SpanVerdict `json:"verdict"`
	// Codes are the codes of the warnings by which the verdict is unsure, see SettingEffect.Codes.
	Codes []string `json:"codes,omitempty"`
	// KneeBytes is the largest span that is not certainly slower than the smallest one; 0 unless the verdict is
	// SpanKnee.
	KneeBytes int64 `json:"knee_bytes,omitempty"`
	// Limit is the Rise from which on a span counts as slower.
	Limit float64 `json:"limit"`
}

// SpanVerdict says whether latency rises with the span.
type SpanVerdict string

// The verdicts.
const (
	SpanKnee   SpanVerdict = "knee"   // latency rises beyond some span
	SpanFlat   SpanVerdict = "flat"   // latency does not rise by SpanSweep.Limit or more
	SpanUnsure SpanVerdict = "unsure" // the repeats differ too much to tell, or did not measure the drive alone
)

// SpanPoint is the result of the load over one part of the target.
type SpanPoint struct {
	SpanBytes int64 `json:"span_bytes"`
	Percent   int   `json:"percent"` // of the usable part of the target
	Repeats   int   `json:"repeats"`

	IOPS float64       `json:"iops"`
	Mean time.Duration `json:"mean_ns"`
	P50  time.Duration `json:"p50_ns"`
	P99  time.Duration `json:"p99_ns"`
	// P99Unsure is true when too few I/Os support P99; see Result.Unsure.
	P99Unsure bool `json:"p99_unsure,omitempty"`
	// Rise is the mean latency divided by that of the smallest span; 1 for the smallest span itself.
	Rise Interval `json:"rise"`
}

// SpareState is the steady state of writes while a part of the device is left unused.
type SpareState struct {
	// SparePercent is the part of the device, in percent, that was discarded and not written again, as
	// over-provisioning by the user. The rest is filled.
	SparePercent int    `json:"spare_percent"`
	FilledBytes  int64  `json:"filled_bytes"`
	Steady       Steady `json:"steady"`
	// MeanLatency and P99 are means over the rounds of the steady-state window.
	MeanLatency time.Duration `json:"mean_ns"`
	P99         time.Duration `json:"p99_ns"`
	// P99Unsure is true when too few I/Os support P99; see Result.Unsure.
	P99Unsure bool `json:"p99_unsure,omitempty"`
}
