package record

import (
	"encoding/json"
	"time"
)

// Analysis is what the steps of a run come to. What the suite does not ask for,
// or the steps do not tell, is nil or empty.
type Analysis struct {
	// Spreads are over the repeats of each load, in the order of the loads.
	Spreads []Spread `json:"spreads,omitempty"`
	Knees   []Knee   `json:"knees,omitempty"`
	Steady  *Steady  `json:"steady,omitempty"`
	// Scalings are one per load.
	Scalings []Scaling `json:"scalings,omitempty"`
	// Effects are of settings that were changed for the run.
	Effects []SettingEffect `json:"effects,omitempty"`
	// Offsets are the speeds over each device, alone and beside others.
	Offsets OffsetLines `json:"offsets,omitempty"`
	// Spans tell how latency rises with the part of the target that is used, one per load.
	Spans []SpanSweep `json:"spans,omitempty"`
	// Spares are steady states by how much of the device is left unused, the least first.
	Spares []SpareState `json:"spares,omitempty"`
	// CPUs tell how many CPUs each load takes.
	CPUs []CPUScaling `json:"cpus,omitempty"`
	// Bounds say for each step what its limit was.
	Bounds []Bound `json:"bounds,omitempty"`
	// DataSheet compares with the figures that the user gave.
	DataSheet []SheetShare `json:"data_sheet,omitempty"`
	// Interrupts are those of each step, where they are known.
	Interrupts []InterruptRate `json:"interrupts,omitempty"`
	// CostModel is for the kernel's io.cost.
	CostModel *CostModel `json:"cost_model,omitempty"`
}

// Interval is a value with the bounds of its 95 % interval; both bounds are nil
// when there are too few values for one.
type Interval struct {
	Value float64  `json:"value"`
	Lower *float64 `json:"lower,omitempty"`
	Upper *float64 `json:"upper,omitempty"`
}

// Wide reports whether the interval is wider than the value itself, which then says nothing.
func (i Interval) Wide() bool { return i.Lower != nil && i.Upper != nil && *i.Upper-*i.Lower > i.Value }

// Spread is how far the repeats of one load lie apart, in one direction.
type Spread struct {
	Load      string    `json:"load"` // Step.Series
	Direction Direction `json:"direction"`
	Repeats   int       `json:"repeats"`
	// IOPS, BytesPerSecond and MeanSeconds (the mean latency) are means over the repeats.
	IOPS           SpreadOf `json:"iops"`
	BytesPerSecond SpreadOf `json:"bytes_per_second"`
	MeanSeconds    SpreadOf `json:"mean_seconds"`
}

// SpreadOf is the mean of one figure over repeats with its interval, by Student's
// t, and its extremes.
type SpreadOf struct {
	Mean Interval `json:"mean"`
	Min  float64  `json:"min"`
	Max  float64  `json:"max"`
}

// Knee is the depth after which latency grows faster than IOPS.
type Knee struct {
	Load string `json:"load"`
	// Depth is 0 when IOPS still grew faster at the deepest depth tried.
	Depth int           `json:"depth"`
	IOPS  float64       `json:"iops,omitempty"`
	Mean  time.Duration `json:"mean_ns,omitempty"`
	P99   time.Duration `json:"p99_ns,omitempty"`
	// Deepest is the deepest depth tried; IOPSGain and LatencyGrowth are what it has
	// over the knee, as factors.
	Deepest int `json:"deepest"`
	// Disregarded is how many steps measured something else than the drive, and Codes are those of the warnings that say
	// so: see Step.Spoiled. Deepest is 0 when they leave fewer than three depths, so that no knee can be told.
	Disregarded   int      `json:"disregarded,omitempty"`
	Codes         []string `json:"codes,omitempty"`
	IOPSGain      float64  `json:"iops_gain,omitempty"`
	LatencyGrowth float64  `json:"latency_growth,omitempty"`
}

// Steady is whether rounds have become steady by the SNIA Performance Test
// Specification: over a window of rounds, the range is at most MaxRange of the
// mean, and the excursion of the fitted line at most MaxSlope of it.
type Steady struct {
	Reached bool `json:"reached"`
	// Round is the last of the first window that holds, from 1; 0 when none does.
	Round  int `json:"round,omitempty"`
	Window int `json:"window"` // rounds
	// Mean is that of the window, in IOPS or bytes per second: see Unit. When no
	// window holds, it and the ratios are those of the last one.
	Mean       float64 `json:"mean"`
	Unit       string  `json:"unit"` // "IOPS" or "B/s"
	RangeRatio float64 `json:"range_ratio"`
	SlopeRatio float64 `json:"slope_ratio"`
	MaxRange   float64 `json:"max_range"`
	MaxSlope   float64 `json:"max_slope"`
	// Fresh is the mean of the first round over that of the window.
	Fresh float64 `json:"fresh_ratio"`
	// Path has all rounds in order.
	Path []SteadyRound `json:"path"`
}

// SteadyRound is one round on the way to the steady state.
type SteadyRound struct {
	Round int     `json:"round"` // from 1
	Value float64 `json:"value"` // in Steady.Unit
	// Phase is fresh, transition or steady.
	Phase string        `json:"phase"`
	Mean  time.Duration `json:"mean_ns"`
	// WrittenBytes are all that the run had written when the round ended.
	WrittenBytes int64 `json:"written_bytes"`
}

// Scaling is what each added device brought.
type Scaling struct {
	Load string `json:"load"`
	Unit string `json:"unit"` // of the rates: "IOPS" or "B/s"
	// Alone is the rate of the first device alone.
	Alone  float64      `json:"alone"`
	Points []ScalePoint `json:"points"`
	// BreaksAt is the number of devices from which on linearity is below Limit, in all of its
	// interval; 0 when it never is.
	BreaksAt int     `json:"breaks_at,omitempty"`
	Limit    float64 `json:"limit"`
	// Group is where devices lost the most when it broke: "pci0000:40".
	Group string `json:"group,omitempty"`
	// GroupRatio is the mean of the group's devices over Alone then.
	GroupRatio float64 `json:"group_ratio,omitempty"`
}

// ScalePoint is the load on a number of devices at once.
type ScalePoint struct {
	Devices int     `json:"devices"`
	Added   string  `json:"added"` // path of the device that came last
	Group   string  `json:"group,omitempty"`
	Total   float64 `json:"total"`
	// Linearity is Total over Devices times Alone; Lower and Upper bound its 95 % interval, and are
	// nil when there are too few repeats for one.
	Linearity float64  `json:"linearity"`
	Lower     *float64 `json:"lower,omitempty"`
	Upper     *float64 `json:"upper,omitempty"`
	Slowest   float64  `json:"slowest"`
	Fastest   float64  `json:"fastest"`
}

// Unclear reports whether the repeats lie too far apart to tell on which side of a limit the linearity is.
func (p ScalePoint) Unclear(limit float64) bool {
	return p.Lower != nil && p.Upper != nil && *p.Lower < limit && *p.Upper >= limit
}

// SettingEffect is what a setting did to one load: the figures under To over those
// under From.
type SettingEffect struct {
	Load      string    `json:"load"`
	Direction Direction `json:"direction"`
	Setting   string    `json:"setting"`
	From      string    `json:"from"`
	To        string    `json:"to"`
	IOPS      Interval  `json:"iops_ratio"`
	Latency   Interval  `json:"latency_ratio"` // of the mean latency
	// Certain is true when the interval of IOPS excludes 1.
	Certain bool `json:"certain"`
}

// OffsetLines are the speeds over several devices, each alone first.
type OffsetLines []OffsetSpeeds

// UnmarshalJSON also reads the speeds over one device, which is how they were stored before there were several.
func (l *OffsetLines) UnmarshalJSON(data []byte) error {
	var one OffsetSpeeds
	if len(data) > 0 && data[0] == '{' {
		err := json.Unmarshal(data, &one)
		*l = OffsetLines{one}
		return err
	}
	return json.Unmarshal(data, (*[]OffsetSpeeds)(l))
}

// OffsetSpeeds are sequential speeds over one device, in rising order of offset.
type OffsetSpeeds struct {
	// Target is its path; empty when the run had only one.
	Target string `json:"target,omitempty"`
	// Beside is how many other devices were read meanwhile, and OthersBytesPerSecond what they read together, as a mean.
	Beside               int     `json:"beside,omitempty"`
	OthersBytesPerSecond float64 `json:"others_bytes_per_second,omitempty"`
	// AgainstAlone is the speed over that of the device alone, place by place: the geometric mean with its 95 %
	// interval over the places. Nil when it was not measured alone.
	AgainstAlone *Interval `json:"against_alone,omitempty"`

	Points []OffsetSpeed `json:"points"`
	// Disregarded is how many steps measured something else than the drive, and Codes are those of the warnings that say
	// so: see Step.Spoiled. Places that only they measured are in Points, and decide nothing.
	Disregarded int      `json:"disregarded,omitempty"`
	Codes       []string `json:"codes,omitempty"`
	// Slowest and Fastest are of all points that decide, Evenness their ratio; all zero when fewer than two do.
	Slowest  OffsetSpeed `json:"slowest"`
	Fastest  OffsetSpeed `json:"fastest"`
	Evenness float64     `json:"evenness"`
}

// OffsetSpeed is the speed at one place.
type OffsetSpeed struct {
	OffsetBytes    int64   `json:"offset_bytes"`
	BytesPerSecond float64 `json:"bytes_per_second"`
	// Disregarded says that every step at the place was.
	Disregarded bool `json:"disregarded,omitempty"`
	// Lower and Upper are the bounds of the 95 % interval over repeats; nil without them.
	Lower *float64 `json:"lower,omitempty"`
	Upper *float64 `json:"upper,omitempty"`
}

// Limit is what keeps a load from being faster.
type Limit string

// The limits.
const (
	LimitCPU     Limit = "cpu"     // the CPUs of the load generator
	LimitLink    Limit = "link"    // the PCIe link
	LimitLatency Limit = "latency" // one I/O at a time: how long the device takes for it
	LimitOthers  Limit = "others"  // others on the host, who kept the CPUs from the load generator
	LimitDevice  Limit = "device"  // none of the others: the device, or what lies between
)

// Bound is what the limit of a step was.
type Bound struct {
	Step  string `json:"step"`
	Limit Limit  `json:"limit"`
	// CPUShare is the share of the CPUs that the jobs could use, LinkShare that of
	// the link's bandwidth; nil when not known.
	CPUShare  *float64 `json:"cpu_share,omitempty"`
	LinkShare *float64 `json:"link_share,omitempty"`
	// Evidence is one sentence.
	Evidence string `json:"evidence"`
}

// DataSheet is what a drive's maker says of it. What it does not say is nil.
type DataSheet struct {
	Model                         string         `json:"model,omitempty"`
	RandomReadIOPS                *float64       `json:"random_read_iops,omitempty"`
	RandomWriteIOPS               *float64       `json:"random_write_iops,omitempty"`
	SequentialReadBytesPerSecond  *float64       `json:"sequential_read_bytes_per_second,omitempty"`
	SequentialWriteBytesPerSecond *float64       `json:"sequential_write_bytes_per_second,omitempty"`
	RandomReadLatency             *time.Duration `json:"random_read_latency_ns,omitempty"`
	RandomWriteLatency            *time.Duration `json:"random_write_latency_ns,omitempty"`
}

// SheetShare is the best figure of the run over the one of the data sheet.
type SheetShare struct {
	Figure   string  `json:"figure"` // "random read"
	Unit     string  `json:"unit"`   // "IOPS", "B/s" or "s"
	Promised float64 `json:"promised"`
	Measured float64 `json:"measured"`
	Step     string  `json:"step"` // where it was measured
	// Share is Measured over Promised; for latencies the other way round, so that
	// below 1 is always worse than promised.
	Share float64 `json:"share"`
}

// MostInterrupts is how many interrupts a second a host should stay below, from all its
// drives together (NVMe tuning guide for AMD EPYC 9005).
const MostInterrupts = 1.5e6

// InterruptRate is how often the device interrupted in a step.
type InterruptRate struct {
	Step      string  `json:"step"`
	Setting   string  `json:"setting,omitempty"` // of coalescing or polling
	PerIO     float64 `json:"per_io"`
	PerSecond float64 `json:"per_second"`
}
