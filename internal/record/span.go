package record

import "time"

// SpanSweep is what one load does over rising parts of the target.
type SpanSweep struct {
	Load      string    `json:"load"` // "8 KiB random read, depth 1"
	Direction Direction `json:"direction"`
	// Points are in rising order of span; repeats count as their mean.
	Points  []SpanPoint `json:"points"`
	Verdict SpanVerdict `json:"verdict"`
	// KneeBytes is the largest span that is no slower than the smallest one for certain; 0 unless the verdict is SpanKnee.
	KneeBytes int64 `json:"knee_bytes,omitempty"`
	// Limit is the rise of mean latency from which on a span is slower.
	Limit float64 `json:"limit"`
}

// SpanVerdict says whether latency rises with span.
type SpanVerdict string

// The verdicts.
const (
	SpanKnee   SpanVerdict = "knee"   // it rises from some span on
	SpanFlat   SpanVerdict = "flat"   // it does not, by SpanSweep.Limit or more
	SpanUnsure SpanVerdict = "unsure" // the repeats do not tell
)

// SpanPoint is the load over one part of the target.
type SpanPoint struct {
	SpanBytes int64 `json:"span_bytes"`
	Percent   int   `json:"percent"` // of what may be used of the target
	Repeats   int   `json:"repeats"`

	IOPS float64       `json:"iops"`
	Mean time.Duration `json:"mean_ns"`
	P50  time.Duration `json:"p50_ns"`
	P99  time.Duration `json:"p99_ns"`
	// Rise is the mean latency over that of the smallest span; 1 for that one.
	Rise Interval `json:"rise"`
}

// SpareState is the steady state of writes when a part of the device is left unused.
type SpareState struct {
	// SparePercent is the part of the device that was discarded and not written again: its over-provisioning by the
	// user. The rest is filled.
	SparePercent int    `json:"spare_percent"`
	FilledBytes  int64  `json:"filled_bytes"`
	Steady       Steady `json:"steady"`
	// MeanLatency and P99 are means over the rounds of the window.
	MeanLatency time.Duration `json:"mean_ns"`
	P99         time.Duration `json:"p99_ns"`
}
