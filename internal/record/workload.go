package record

import "fmt"

// Workload describes the load of a step in figures, for code that compares and plots steps.
type Workload struct {
	// Direction is empty for a mixed load.
	Direction  Direction `json:"direction,omitempty"`
	Pattern    Pattern   `json:"pattern"`
	BlockBytes int64     `json:"block_bytes"`
	QueueDepth int       `json:"queue_depth"` // of each job
	Jobs       int       `json:"jobs"`        // on each target
	// ReadPercent is the percentage of reads in a mixed load; 0 for other loads.
	ReadPercent int `json:"read_percent,omitempty"`
	// OffsetBytes is the offset on the target at which the load began.
	OffsetBytes int64 `json:"offset_bytes,omitempty"`
	// SpanBytes is the size of the part of the target that is used. SpanPercent is its percentage of the usable part.
	// Both are 0 when the load uses all of it.
	SpanBytes   int64 `json:"span_bytes,omitempty"`
	SpanPercent int   `json:"span_percent,omitempty"`
	// SparePercent is the percentage of the device that was discarded and left unused; nil for steps that do not vary
	// it.
	SparePercent *int   `json:"spare_percent,omitempty"`
	Engine       string `json:"engine,omitempty"`
	// Buffered is true when the I/O went through the page cache.
	Buffered bool `json:"buffered,omitempty"`
	// CPUs are the CPUs that the jobs were bound to; empty when they were not bound.
	CPUs []int `json:"cpus,omitempty"`
	// CPUCores is the number of physical cores, and CPUNodes the NUMA nodes, that the CPUs belong to. They are set
	// only for steps that vary the CPUs.
	CPUCores int   `json:"cpu_cores,omitempty"`
	CPUNodes []int `json:"cpu_nodes,omitempty"`
	// Repeat is the number of the repeat within its series, from 1; 0 when there is only one.
	Repeat int `json:"repeat,omitempty"`
	// Round is the number of the round on the way to a steady state, from 1; 0 for other steps.
	Round int `json:"round,omitempty"`
	// Settings holds the device settings under which the step ran, by name.
	Settings map[string]string `json:"settings,omitempty"`
	// Targets are the paths of the targets; empty when only the target of the run is used.
	Targets []string `json:"targets,omitempty"`
	// Beside are the paths of other targets that were read meanwhile. They are not included in the figures.
	Beside []string `json:"beside,omitempty"`
}

// OfDrive reports whether the figures of this load describe the drive, as far as is known. Figures of buffered I/O do
// not.
func (w *Workload) OfDrive() bool { return w != nil && !w.Buffered }

// Part is the share of one target in a step that used several at once.
type Part struct {
	Target   string  `json:"target"` // the path of the target
	TargetID string  `json:"target_id"`
	Group    string  `json:"group,omitempty"` // PCIe root
	Read     *Result `json:"read,omitempty"`
	Write    *Result `json:"write,omitempty"`
	Depth    *Depth  `json:"depth,omitempty"`
}

// RunTarget is one of several targets of a run.
type RunTarget struct {
	Path       string     `json:"path"`
	ID         string     `json:"id"`
	Group      string     `json:"group,omitempty"` // PCIe root
	Device     Device     `json:"device"`
	Conditions Conditions `json:"conditions"`
}

// String returns text such as "4 KiB random read, depth 32, 4 jobs".
func (w Workload) String() string {
	kind := fmt.Sprintf("%d %% read, %d %% write", w.ReadPercent, 100-w.ReadPercent)
	if w.Direction != "" {
		kind = string(w.Direction)
	}
	text := Probe{BlockBytes: w.BlockBytes, Pattern: w.Pattern, Direction: Direction(kind), QueueDepth: w.QueueDepth}.String()
	if w.Jobs > 1 {
		text += fmt.Sprintf(", %d jobs", w.Jobs)
	}
	if w.SpanPercent > 0 {
		text += fmt.Sprintf(", over %d %%", w.SpanPercent)
	}
	return text
}

// InFlight returns the number of I/Os that the jobs on one target keep in flight.
func (w Workload) InFlight() int { return w.QueueDepth * max(1, w.Jobs) }
