package record

import (
	"encoding/json"
	"time"
)

// Analysis holds the conclusions from the steps of a run. A field is nil or empty when the suite does not ask for
// that analysis or the steps do not allow it.
type Analysis struct {
	// Spreads has the spread over the repeats of each load, in the order of the loads.
	Spreads []Spread `json:"spreads,omitempty"`
	Knees   []Knee   `json:"knees,omitempty"`
	Steady  *Steady  `json:"steady,omitempty"`
	// Scalings has one entry per load.
	Scalings []Scaling `json:"scalings,omitempty"`
	// Effects has the effects of the device settings that the run changed.
	Effects []SettingEffect `json:"effects,omitempty"`
	// Offsets has the speeds over each device, alone and while others are read.
	Offsets OffsetLines `json:"offsets,omitempty"`
	// Spans shows how latency rises with the part of the target that is used, one entry per load.
	Spans []SpanSweep `json:"spans,omitempty"`
	// Spares has the steady states by the share of the device that is left unused, in rising order.
	Spares []SpareState `json:"spares,omitempty"`
	// CPUs shows how many CPUs each load needs.
	CPUs []CPUScaling `json:"cpus,omitempty"`
	// Bounds says what limited each step.
	Bounds []Bound `json:"bounds,omitempty"`
	// DataSheet compares the results with the data sheet that the user supplied.
	DataSheet []SheetShare `json:"data_sheet,omitempty"`
	// Interrupts has the interrupt rates of the steps for which they are known.
	Interrupts []InterruptRate `json:"interrupts,omitempty"`
	// CostModel is the cost model for the kernel's io.cost.
	CostModel *CostModel `json:"cost_model,omitempty"`
}

// Interval is a value with its 95 % interval. Both bounds are nil when there are too few values for an interval.
type Interval struct {
	Value float64  `json:"value"`
	Lower *float64 `json:"lower,omitempty"`
	Upper *float64 `json:"upper,omitempty"`
}

// Wide reports whether the interval is wider than the value itself. Such a value is meaningless.
func (i Interval) Wide() bool { return i.Lower != nil && i.Upper != nil && *i.Upper-*i.Lower > i.Value }

// Excludes reports whether the interval is known and does not contain x.
func (i Interval) Excludes(x float64) bool {
	return i.Lower != nil && i.Upper != nil && (*i.Lower > x || *i.Upper < x)
}

// Spread describes how much the repeats of one load differ, in one direction.
type Spread struct {
	Load      string    `json:"load"` // Step.Series
	Direction Direction `json:"direction"`
	Repeats   int       `json:"repeats"`
	// IOPS, BytesPerSecond and MeanSeconds (the mean latency) are means over the repeats.
	IOPS           SpreadOf `json:"iops"`
	BytesPerSecond SpreadOf `json:"bytes_per_second"`
	MeanSeconds    SpreadOf `json:"mean_seconds"`
}

// SpreadOf is the mean of one figure over the repeats, with its interval by Student's t, and the extremes.
type SpreadOf struct {
	Mean Interval `json:"mean"`
	Min  float64  `json:"min"`
	Max  float64  `json:"max"`
}

// Knee is the queue depth beyond which latency grows faster than IOPS.
type Knee struct {
	Load string `json:"load"`
	// Depth is 0 when IOPS still grow faster at the deepest depth tried, and when Deepest is 0.
	Depth int           `json:"depth"`
	IOPS  float64       `json:"iops,omitempty"`
	Mean  time.Duration `json:"mean_ns,omitempty"`
	P99   time.Duration `json:"p99_ns,omitempty"`
	// P99Unsure is true when too few I/Os support P99; see Result.Unsure.
	P99Unsure bool `json:"p99_unsure,omitempty"`
	// Deepest is the deepest depth tried. IOPSGain and LatencyGrowth are the IOPS and the mean latency there, divided
	// by those at the knee. Without latencies, Mean and LatencyGrowth are 0.
	Deepest int `json:"deepest"`
	// Disregarded counts the steps that measured something other than the drive, and Codes are the codes of the
	// warnings that say so; see Step.Spoiled. Deepest is 0 when fewer than three depths remain, which is too few to
	// find a knee.
	Disregarded   int      `json:"disregarded,omitempty"`
	Codes         []string `json:"codes,omitempty"`
	IOPSGain      float64  `json:"iops_gain,omitempty"`
	LatencyGrowth float64  `json:"latency_growth,omitempty"`
}

// Steady says whether the rounds have become steady by the SNIA Performance Test Specification. Over a window of
// rounds, the range must be at most MaxRange of the mean, and the excursion of the fitted line at most MaxSlope of
// the mean.
type Steady struct {
	Reached bool `json:"reached"`
	// Round is the last round of the first window that meets the criteria, counted from 1; 0 when none does.
	Round  int `json:"round,omitempty"`
	Window int `json:"window"` // rounds
	// Mean is the mean of that window in Unit. When no window meets the criteria, Mean and the ratios describe the
	// last one.
	Mean       float64 `json:"mean"`
	Unit       string  `json:"unit"` // "IOPS" or "B/s"
	RangeRatio float64 `json:"range_ratio"`
	SlopeRatio float64 `json:"slope_ratio"`
	MaxRange   float64 `json:"max_range"`
	MaxSlope   float64 `json:"max_slope"`
	// Codes are the codes of the warnings of rounds of that window that measured something other than the drive, see
	// Step.Spoiled.
	Codes []string `json:"codes,omitempty"`
	// Fresh is the value of the first round divided by Mean.
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
	// WrittenBytes is the number of bytes that the run had written by the end of the round.
	WrittenBytes int64 `json:"written_bytes"`
}

// Scaling shows how much each added device contributes.
type Scaling struct {
	Load string `json:"load"`
	Unit string `json:"unit"` // of the rates: "IOPS" or "B/s"
	// Alone is the rate of the first device alone.
	Alone  float64      `json:"alone"`
	Points []ScalePoint `json:"points"`
	// BreaksAt is the first number of devices whose linearity is below Limit, along with its whole interval if it has
	// one; 0 when there is none.
	BreaksAt int     `json:"breaks_at,omitempty"`
	Limit    float64 `json:"limit"`
	// Group is the group of devices that lost the most at BreaksAt, such as "pci0000:40".
	Group string `json:"group,omitempty"`
	// GroupRatio is the mean rate of the devices of that group at BreaksAt, divided by their mean rate alone.
	GroupRatio float64 `json:"group_ratio,omitempty"`
}

// ScalePoint is the result of the load on several devices at once.
type ScalePoint struct {
	Devices int     `json:"devices"`
	Added   string  `json:"added"` // path of the device that was added last
	Group   string  `json:"group,omitempty"`
	Total   float64 `json:"total"`
	// Ideal is what the devices reach alone, added up. A device that was not measured alone counts as the first one. It is
	// 0 in reports of earlier versions, whose ideal is Devices times Alone.
	Ideal float64 `json:"ideal,omitempty"`
	// Linearity is Total divided by the ideal. Lower and Upper bound its 95 % interval; they are nil when
	// there are too few repeats for one.
	Linearity float64  `json:"linearity"`
	Lower     *float64 `json:"lower,omitempty"`
	Upper     *float64 `json:"upper,omitempty"`
	Slowest   float64  `json:"slowest"`
	Fastest   float64  `json:"fastest"`
	// Codes are the codes of the warnings by which the linearity is not known, see SettingEffect.Codes.
	Codes []string `json:"codes,omitempty"`
}

// Unclear reports whether the interval of the linearity includes the limit, so that it is not certain on which side
// of the limit the linearity is.
func (p ScalePoint) Unclear(limit float64) bool {
	return p.Lower != nil && p.Upper != nil && *p.Lower < limit && *p.Upper >= limit
}

// SettingEffect is the effect of a setting on one load: the figures with the value To, divided by those with the
// value From.
type SettingEffect struct {
	Load      string    `json:"load"`
	Direction Direction `json:"direction"`
	Setting   string    `json:"setting"`
	From      string    `json:"from"`
	To        string    `json:"to"`
	IOPS      Interval  `json:"iops_ratio"`
	Latency   Interval  `json:"latency_ratio"` // of the mean latency
	// Verdict is that of Judge.
	Verdict Verdict `json:"verdict"`
	// Codes are the codes of the warnings of steps that measured something other than the drive, see Step.Spoiled.
	// They decide nothing, and count only where no repeat of their load may decide.
	Codes []string `json:"codes,omitempty"`
}

// Judge sets the verdict on the IOPS: slower or faster when their interval excludes 1 and there are no Codes, and
// inconclusive otherwise. The steps of one run alternate on one host, so that every certain change counts: unlike between
// runs there is no threshold, and no verdict "same".
func (e *SettingEffect) Judge() {
	switch {
	case len(e.Codes) > 0 || !e.IOPS.Excludes(1):
		e.Verdict = Inconclusive
	case e.IOPS.Value < 1:
		e.Verdict = Slower
	default:
		e.Verdict = Faster
	}
}

// UnmarshalJSON also accepts an effect without a verdict, which is what earlier versions stored.
func (e *SettingEffect) UnmarshalJSON(data []byte) error {
	type stored SettingEffect
	err := json.Unmarshal(data, (*stored)(e))
	if e.Verdict == "" {
		e.Judge()
	}
	return err
}

// OffsetLines holds the speeds over several devices. The line of a device alone precedes its lines beside others.
type OffsetLines []OffsetSpeeds

// UnmarshalJSON also accepts a single OffsetSpeeds, which is what earlier versions stored.
func (l *OffsetLines) UnmarshalJSON(data []byte) error {
	var one OffsetSpeeds
	if len(data) > 0 && data[0] == '{' {
		err := json.Unmarshal(data, &one)
		*l = OffsetLines{one}
		return err
	}
	return json.Unmarshal(data, (*[]OffsetSpeeds)(l))
}

// OffsetSpeeds holds the sequential speeds over one device, in rising order of offset.
type OffsetSpeeds struct {
	// Target is the path of the device; empty when the run had only one target.
	Target string `json:"target,omitempty"`
	// Beside is the number of other devices that were read meanwhile. OthersBytesPerSecond is the mean of their
	// combined speed.
	Beside               int     `json:"beside,omitempty"`
	OthersBytesPerSecond float64 `json:"others_bytes_per_second,omitempty"`
	// AgainstAlone is the speed divided by that of the device alone: the geometric mean over the places, with its 95
	// % interval. It is nil when no place was measured both ways.
	AgainstAlone *Interval `json:"against_alone,omitempty"`

	Points []OffsetSpeed `json:"points"`
	// Disregarded counts the steps that measured something other than the drive, and Codes are the codes of the
	// warnings that say so; see Step.Spoiled. Places that only such steps measured are listed in Points, but do not
	// count for the figures below.
	Disregarded int      `json:"disregarded,omitempty"`
	Codes       []string `json:"codes,omitempty"`
	// Slowest and Fastest are the extremes of the points that count, and Evenness is Slowest divided by Fastest. All
	// three are zero when fewer than two points count.
	Slowest  OffsetSpeed `json:"slowest"`
	Fastest  OffsetSpeed `json:"fastest"`
	Evenness float64     `json:"evenness"`
}

// OffsetSpeed is the speed at one offset.
type OffsetSpeed struct {
	OffsetBytes    int64   `json:"offset_bytes"`
	BytesPerSecond float64 `json:"bytes_per_second"`
	// Disregarded is true when every step at this place was disregarded.
	Disregarded bool `json:"disregarded,omitempty"`
	// Lower and Upper bound the 95 % interval over the repeats; nil when there are too few for one.
	Lower *float64 `json:"lower,omitempty"`
	Upper *float64 `json:"upper,omitempty"`
}

// Limit names what limits the speed of a load.
type Limit string

// The limits.
const (
	LimitCPU     Limit = "cpu"     // the CPUs that the load generator may use
	LimitLink    Limit = "link"    // the PCIe link
	LimitLatency Limit = "latency" // only one I/O is in flight, so the device's latency is the limit
	LimitJob     Limit = "job"     // the user's own job, which paces or delays its I/Os
	LimitOthers  Limit = "others"  // other processes on the host, which kept the load generator from its CPUs
	LimitDevice  Limit = "device"  // none of the above: the device, or something on the way to it
)

// Bound says what limited a step.
type Bound struct {
	Step  string `json:"step"`
	Limit Limit  `json:"limit"`
	// CPUShare is the used share of the CPUs that the jobs could use, and LinkShare the used share of the link's
	// bandwidth; nil when not known.
	CPUShare  *float64 `json:"cpu_share,omitempty"`
	LinkShare *float64 `json:"link_share,omitempty"`
	// Evidence is one sentence that supports Limit.
	Evidence string `json:"evidence"`
}

// DataSheet holds the figures from the data sheet of a drive. Figures that it does not give are nil.
type DataSheet struct {
	Model                         string
	RandomReadIOPS                *Promise[float64]
	RandomWriteIOPS               *Promise[float64]
	SequentialReadBytesPerSecond  *Promise[float64]
	SequentialWriteBytesPerSecond *Promise[float64]
	RandomReadLatency             *Promise[time.Duration]
	RandomWriteLatency            *Promise[time.Duration]
}

// Promise is a figure of a data sheet. A drive that maps its flash in larger units has random writes stated for
// blocks of that size, beside random reads and latencies for 4 KiB, so each figure has its own.
type Promise[T float64 | time.Duration] struct {
	Value T
	// BlockBytes is the block size that the sheet states the figure for; 0 where it names none, see SheetRandomBytes and
	// SheetSequentialBytes.
	BlockBytes int64
}

// Makers state figures for these block sizes where their data sheets name no other. Sequential figures are also true of
// larger blocks.
const (
	SheetRandomBytes     = 4 << 10
	SheetSequentialBytes = 128 << 10
)

// SheetShare compares the best figure of the run with the figure of the data sheet.
type SheetShare struct {
	Figure string `json:"figure"` // "random read"
	Unit   string `json:"unit"`   // "IOPS", "B/s" or "s"
	// BlockBytes is the block size of the steps that can measure the figure: for bandwidths (B/s) the smallest one. It is
	// 0 in reports of builds that compared steps of any block size.
	BlockBytes int64   `json:"block_bytes,omitempty"`
	Promised   float64 `json:"promised"`
	Measured   float64 `json:"measured,omitempty"`
	Step       string  `json:"step,omitempty"` // the step that measured it; empty if none did, and there is no share
	// Share is Measured divided by Promised, or the inverse for latencies, so that a value below 1 always means worse
	// than promised.
	Share float64 `json:"share,omitempty"`
	// Codes are the codes of the warnings of steps of this kind that measured something other than the drive, see
	// Step.Spoiled. The share then says nothing about the drive.
	Codes []string `json:"codes,omitempty"`
}

// MostInterrupts is the number of interrupts per second that all drives of a host together should stay below (NVMe
// tuning guide for AMD EPYC 9005).
const MostInterrupts = 1.5e6

// InterruptRate is the rate of interrupts from the device during a step.
type InterruptRate struct {
	Step      string  `json:"step"`
	Setting   string  `json:"setting,omitempty"` // the setting of coalescing or polling
	PerIO     float64 `json:"per_io"`
	PerSecond float64 `json:"per_second"`
}
