package record

import (
	"slices"
	"time"
)

// Snapshot is everything the daemon knows at one moment. What shows it to
// people or to Prometheus reads this and nothing else.
type Snapshot struct {
	Time    time.Time `json:"time"`
	Node    string    `json:"node"`
	Started time.Time `json:"started"`
	// NotReady says why the daemon does not do its work yet; empty when it does.
	NotReady string         `json:"not_ready,omitempty"`
	Targets  []TargetStatus `json:"targets"`
	// Controllers have the health of the targets' devices, by name.
	Controllers []Controller `json:"controllers,omitempty"`
	// Ignored are devices that are here and not watched, with the reason.
	Ignored []Ignored `json:"ignored,omitempty"`
	// Collectors are the sources of the whole node; those of a target are with it.
	Collectors []CollectorStatus `json:"collectors,omitempty"`
	Warnings   []Warning         `json:"warnings,omitempty"`
	// FallbackUsed says whether a file in the state directory is measured because nothing
	// else may be; nil until that is known.
	FallbackUsed *bool `json:"fallback_used,omitempty"`
	// ConfigChanged says whether the configuration file holds something else than what is in
	// force; nil when there is none, or it cannot be read.
	ConfigChanged *bool `json:"config_changed,omitempty"`
	// Host is the verdict on the host, by what it does to its drives; nil when it is not judged.
	Host *Judgement `json:"host,omitempty"`
	// Together is what drives of the node did together: when nearly all got slower, it is the host.
	Together []Together `json:"together,omitempty"`
	// QuietUntil is when the quiet hours end that keep the daemon from measuring now; zero
	// outside of them.
	QuietUntil time.Time `json:"quiet_until,omitzero"`
	// Recorder is what the flight recorder keeps; nil when no daemon tells.
	Recorder *RecorderStatus `json:"recorder,omitempty"`
	// IOLatencyMissed is how many I/Os the programs in the kernel have not counted since they were loaded, on the whole
	// machine and by the reason; nil where none run.
	IOLatencyMissed map[IOMiss]uint64 `json:"io_latency_missed,omitempty"`
}

// Ignored is a device that is not watched.
type Ignored struct {
	Device Device `json:"device"`
	Reason string `json:"reason"`
	// Denied says that it is wanted and that this process may not read it.
	Denied bool `json:"denied,omitempty"`
}

// TargetStatus is one watched target.
type TargetStatus struct {
	// ID is the stable identity: the device's, or "file:" and the path.
	ID   string `json:"id"`
	Path string `json:"path"`
	File bool   `json:"file"`
	// Device is the watched device, or the one below the file.
	Device     Device     `json:"device"`
	Conditions Conditions `json:"conditions"`
	// Changed holds when each condition was last seen to change.
	Changed  map[string]time.Time `json:"changed,omitempty"`
	Warnings []Warning            `json:"warnings,omitempty"`
	// Verdict is what is said of the drive as a whole, judged beside the others of the node; nil
	// when it is not judged.
	Verdict *Judgement `json:"verdict,omitempty"`
	// Problem says in words why the target cannot be probed now; empty when it can.
	Problem string        `json:"problem,omitempty"`
	Probes  []ProbeStatus `json:"probes"`
	// Runs are the full runs of suites on the target, by suite.
	Runs []RunStatus `json:"runs,omitempty"`
	// WrittenRatio is the share (0 to 1) of blindly sampled blocks that read as
	// written; nil when nothing was sampled, and on files.
	WrittenRatio *float64 `json:"written_ratio,omitempty"`
	// PoolBlocks is how many written blocks are known to read from.
	PoolBlocks int `json:"pool_blocks,omitempty"`
	// Traffic is what others do to the device; nil when nothing is known of that.
	Traffic *TrafficStatus `json:"traffic,omitempty"`
	// IOLatency is how long the I/O of applications takes; nil until that is known.
	IOLatency  *IOLatency        `json:"io_latency,omitempty"`
	Collectors []CollectorStatus `json:"collectors,omitempty"`
}

// ProbeStatus is one probe on one target.
type ProbeStatus struct {
	Probe        Probe              `json:"probe"`
	Rounds       map[Outcome]uint64 `json:"rounds"`
	ReadBytes    uint64             `json:"read_bytes"`
	WrittenBytes uint64             `json:"written_bytes"`
	// LoadedRounds counts the small rounds on a busy device, of any outcome but busy.
	LoadedRounds uint64 `json:"loaded_rounds,omitempty"`
	// Confirmations counts the rounds that began out of turn, to confirm a suspicion.
	Confirmations uint64            `json:"confirmations,omitempty"`
	Errors        map[string]uint64 `json:"errors,omitempty"`
	LastSuccess   time.Time         `json:"last_success,omitzero"`
	// InflightSince is when the round in progress began; zero when none is.
	InflightSince time.Time    `json:"inflight_since,omitzero"`
	Next          time.Time    `json:"next,omitzero"`
	Last          *Measurement `json:"last,omitempty"` // of any outcome
	Window        *Window      `json:"window,omitempty"`
	Baseline      *Baseline    `json:"baseline,omitempty"`
	// LearningRounds of LearningGoal are gathered for the baseline.
	LearningRounds int     `json:"learning_rounds"`
	LearningGoal   int     `json:"learning_goal"`
	Drift          []Drift `json:"drift,omitempty"`
	// Effect is what the change of conditions before the current baseline did; nil
	// when not known.
	Effect *Effect `json:"effect,omitempty"`
	// UnjudgedBlocks counts the five minutes under more load from others than the
	// baseline has seen.
	UnjudgedBlocks int `json:"unjudged_blocks,omitempty"`
}

// LongestWindow is how far back a percentile of a window reaches when it has to.
const LongestWindow = 6 * time.Hour

// Window is what the good rounds of the last minutes say together.
type Window struct {
	Span    time.Duration `json:"span_ns"`
	Rounds  int           `json:"rounds"`
	Latency Histogram     `json:"latency"`
	IOPS    float64       `json:"iops"`
	// Percentiles are WindowPercentiles, each over a span of its own.
	Percentiles []WindowPercentile `json:"percentiles,omitempty"`
}

// WindowPercentile is a latency percentile over the shortest span, from Window.Span to
// LongestWindow, whose I/Os support it: see Supported.
type WindowPercentile struct {
	Percentile float64       `json:"percentile"` // 99.9
	Latency    time.Duration `json:"latency_ns"`
	// Span is LongestWindow when even that has too few I/Os, or when there are no older
	// rounds. The percentile is then close to the slowest I/O.
	Span time.Duration `json:"span_ns"`
	IOs  int64         `json:"ios"` // within Span
}

// WindowPercentiles are the percentiles of a window, in rising order.
func WindowPercentiles() []float64 { return []float64{50, 95, 99, 99.9} }

// Percentile returns one of WindowPercentiles; false when there is none.
func (w Window) Percentile(percent float64) (WindowPercentile, bool) {
	i := slices.IndexFunc(w.Percentiles, func(p WindowPercentile) bool { return p.Percentile == percent })
	if i < 0 {
		return WindowPercentile{}, false
	}
	return w.Percentiles[i], true
}

// Supported reports whether enough I/Os stand for the percentile.
func (p WindowPercentile) Supported() bool { return Supported(p.Percentile/100, p.IOs) }

// CollectorStatus is how the last reading of one source went.
type CollectorStatus struct {
	Collector string        `json:"collector"`
	Device    string        `json:"device,omitempty"`
	Success   bool          `json:"success"`
	Duration  time.Duration `json:"duration_ns"`
	Error     string        `json:"error,omitempty"`
}
