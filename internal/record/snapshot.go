package record

import (
	"slices"
	"time"
)

// Snapshot is everything the daemon knows at one moment. All code that shows the state of the daemon to people or to
// Prometheus reads only this.
type Snapshot struct {
	Time    time.Time `json:"time"`
	Node    string    `json:"node"`
	Started time.Time `json:"started,omitzero"` // the daemon
	// Stored says that no daemon answered, so that this is what was last stored. LastRound is when the last round was; zero
	// when no round is stored, and in a snapshot of a daemon.
	Stored    bool      `json:"stored,omitempty"`
	LastRound time.Time `json:"last_round,omitzero"`
	// NotReady says why the daemon is not working yet; empty when it is.
	NotReady string         `json:"not_ready,omitempty"`
	Targets  []TargetStatus `json:"targets"`
	// Controllers holds the health of the targets' devices, by controller name.
	Controllers []Controller `json:"controllers,omitempty"`
	// Ignored lists the devices that are present but not watched, with the reason.
	Ignored []Ignored `json:"ignored,omitempty"`
	// Collectors holds the sources of the whole node. Those of a single target are in its TargetStatus.
	Collectors []CollectorStatus `json:"collectors,omitempty"`
	Warnings   []Warning         `json:"warnings,omitempty"`
	// FallbackUsed says whether a file in the state directory is measured because nothing else may be; nil until that
	// is known.
	FallbackUsed *bool `json:"fallback_used,omitempty"`
	// ConfigChanged says whether the configuration file differs from the configuration in force; nil when there is no
	// file or it cannot be read.
	ConfigChanged *bool `json:"config_changed,omitempty"`
	// Host is the verdict on the host, based on how it affects its drives; nil when the host is not judged.
	Host *Judgement `json:"host,omitempty"`
	// Together lists the groups of drives that got slower together. When nearly all drives did, the host is the
	// cause.
	Together []Together `json:"together,omitempty"`
	// QuietUntil is the end of the quiet hours that stop the daemon from measuring now; zero outside of quiet hours.
	QuietUntil time.Time `json:"quiet_until,omitzero"`
	// Recorder is the status of the flight recorder; nil when the snapshot does not come from a daemon.
	Recorder *RecorderStatus `json:"recorder,omitempty"`
	// IOLatencyMissed counts the I/Os that the eBPF programs have missed since they were loaded, on the whole
	// machine, by reason; nil when no programs run.
	IOLatencyMissed map[IOMiss]uint64 `json:"io_latency_missed,omitempty"`
	// IOLatencyUnreported counts the slow I/Os that the programs have timed and not reported since then, by reason; nil
	// when no programs run.
	IOLatencyUnreported map[IOUnreported]uint64 `json:"io_latency_unreported,omitempty"`
}

// Ignored is a device that is not watched.
type Ignored struct {
	Device Device `json:"device"`
	Reason string `json:"reason"`
	// Denied is true when the device should be watched, but this process may not read it.
	Denied bool `json:"denied,omitempty"`
}

// TargetStatus is the status of one watched target.
type TargetStatus struct {
	// ID is the stable identity: the device's id, or "file:" and the path.
	ID   string `json:"id"`
	Path string `json:"path"`
	File bool   `json:"file"`
	// Device is the watched device, or the one below the file.
	Device     Device     `json:"device"`
	Conditions Conditions `json:"conditions"`
	// Changed holds the time at which each condition was last seen to change.
	Changed  map[string]time.Time `json:"changed,omitempty"`
	Warnings []Warning            `json:"warnings,omitempty"`
	// Verdict is the verdict on the whole drive, judged together with the other drives of the node; nil when it is
	// not judged.
	Verdict *Judgement `json:"verdict,omitempty"`
	// Returns is how many times the device came back after it had left the machine, since the daemon started; 0 for files.
	Returns uint64 `json:"returns,omitempty"`
	// Problem says why the target cannot be probed now; empty when it can.
	Problem string        `json:"problem,omitempty"`
	Probes  []ProbeStatus `json:"probes"`
	// Runs holds the status of each suite that runs on the target.
	Runs []RunStatus `json:"runs,omitempty"`
	// WrittenRatio is the share (0 to 1) of randomly sampled blocks that turned out to be written; nil when nothing
	// was sampled, and for files.
	WrittenRatio *float64 `json:"written_ratio,omitempty"`
	// PoolBlocks is the number of blocks known to be written, from which probes read.
	PoolBlocks int `json:"pool_blocks,omitempty"`
	// Traffic is the I/O of others on the device; nil when nothing is known about it.
	Traffic *TrafficStatus `json:"traffic,omitempty"`
	// IOLatency is the latency of applications' I/O; nil until it is known.
	IOLatency  *IOLatency        `json:"io_latency,omitempty"`
	Collectors []CollectorStatus `json:"collectors,omitempty"`
}

// ProbeStatus is the status of one probe on one target.
type ProbeStatus struct {
	Probe        Probe              `json:"probe"`
	Rounds       map[Outcome]uint64 `json:"rounds"`
	ReadBytes    uint64             `json:"read_bytes"`
	WrittenBytes uint64             `json:"written_bytes"`
	// LoadedRounds counts the small rounds on a busy device, with any outcome except busy.
	LoadedRounds uint64 `json:"loaded_rounds,omitempty"`
	// Confirmations counts the rounds that started ahead of schedule to confirm a suspicion.
	Confirmations uint64            `json:"confirmations,omitempty"`
	Errors        map[string]uint64 `json:"errors,omitempty"`
	// LastError is when I/Os last failed; zero when none has since the daemon started.
	LastError   time.Time `json:"last_error,omitzero"`
	LastSuccess time.Time `json:"last_success,omitzero"`
	// InflightSince is when the round in progress began; zero when none is in progress.
	InflightSince time.Time    `json:"inflight_since,omitzero"`
	Next          time.Time    `json:"next,omitzero"`
	Last          *Measurement `json:"last,omitempty"` // of any outcome
	Window        *Window      `json:"window,omitempty"`
	Baseline      *Baseline    `json:"baseline,omitempty"`
	// LearningRounds is how many of the LearningGoal rounds have been collected for the baseline.
	LearningRounds int     `json:"learning_rounds"`
	LearningGoal   int     `json:"learning_goal"`
	Drift          []Drift `json:"drift,omitempty"`
	// Effect is the effect of the change of conditions before the current baseline; nil when not known.
	Effect *Effect `json:"effect,omitempty"`
	// Earlier are the effects of the changes before it that still make the target slower and that nobody accepted, the
	// oldest first. What a later change made faster is taken off.
	Earlier []Effect `json:"earlier_effects,omitempty"`
	// Lifetime compares the level of the baseline with the first one; empty before the first change of conditions.
	Lifetime map[Statistic]Lifetime `json:"lifetime,omitempty"`
	// UnjudgedBlocks counts the blocks that were not judged, because the baseline had not seen such load from others.
	UnjudgedBlocks int `json:"unjudged_blocks,omitempty"`
}

// LongestWindow is the longest span that a percentile of a window may cover.
const LongestWindow = 6 * time.Hour

// Window summarizes the good rounds of the last minutes.
type Window struct {
	Span    time.Duration `json:"span_ns"`
	Rounds  int           `json:"rounds"`
	Latency Histogram     `json:"latency"`
	IOPS    float64       `json:"iops"`
	// Percentiles has each of Percentiles, over a span of its own.
	Percentiles []WindowPercentile `json:"percentiles,omitempty"`
}

// WindowPercentile is a latency percentile over the shortest span, from Window.Span to LongestWindow, that has enough
// I/Os to support it; see Supported.
type WindowPercentile struct {
	Percentile float64       `json:"percentile"` // 99.9
	Latency    time.Duration `json:"latency_ns"`
	// Span is LongestWindow when even that has too few I/Os, or when there are no older rounds. The percentile is
	// then close to the slowest I/O.
	Span time.Duration `json:"span_ns"`
	IOs  int64         `json:"ios"` // within Span
}

// Percentiles returns the percentiles that windows and runs are shown by, in rising order.
func Percentiles() []float64 { return []float64{50, 95, 99, 99.9} }

// Percentile returns the percentile of the window, or false when the window does not have it.
func (w Window) Percentile(percent float64) (WindowPercentile, bool) {
	i := slices.IndexFunc(w.Percentiles, func(p WindowPercentile) bool { return p.Percentile == percent })
	if i < 0 {
		return WindowPercentile{}, false
	}
	return w.Percentiles[i], true
}

// Supported reports whether enough I/Os support the percentile.
func (p WindowPercentile) Supported() bool { return Supported(p.Percentile/100, p.IOs) }

// CollectorConfiguration is the collector that fails when a reload is refused. It is no source of values: nothing is
// missing.
const CollectorConfiguration = "configuration"

// CollectorStatus is the result of the last reading of one source.
type CollectorStatus struct {
	Collector string        `json:"collector"`
	Device    string        `json:"device,omitempty"`
	Success   bool          `json:"success"`
	Duration  time.Duration `json:"duration_ns"`
	Error     string        `json:"error,omitempty"`
}
