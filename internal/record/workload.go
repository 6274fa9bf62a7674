package record

import "fmt"

// Workload is what a step did in figures, for what compares and plots steps.
type Workload struct {
	// Direction is empty for a mixed load.
	Direction  Direction `json:"direction,omitempty"`
	Pattern    Pattern   `json:"pattern"`
	BlockBytes int64     `json:"block_bytes"`
	QueueDepth int       `json:"queue_depth"` // of each job
	Jobs       int       `json:"jobs"`        // on each target
	// ReadPercent is the share of reads in a mixed load; 0 for others.
	ReadPercent int `json:"read_percent,omitempty"`
	// OffsetBytes is where on the target it began.
	OffsetBytes int64 `json:"offset_bytes,omitempty"`
	// SpanBytes is how much of the target is used and SpanPercent its share of what may be used; 0 for all of it.
	SpanBytes   int64 `json:"span_bytes,omitempty"`
	SpanPercent int   `json:"span_percent,omitempty"`
	// SparePercent is the part of the device that was discarded and left unused; nil where a step is not about that.
	SparePercent *int   `json:"spare_percent,omitempty"`
	Engine       string `json:"engine,omitempty"`
	// Buffered I/O went through the page cache.
	Buffered bool `json:"buffered,omitempty"`
	// CPUs are those that the jobs were bound to; empty when they were free.
	CPUs []int `json:"cpus,omitempty"`
	// CPUCores is how many physical cores and CPUNodes which NUMA nodes they are of, where a step is about that.
	CPUCores int   `json:"cpu_cores,omitempty"`
	CPUNodes []int `json:"cpu_nodes,omitempty"`
	// Repeat counts the repeats of a series from 1; 0 when there is only one.
	Repeat int `json:"repeat,omitempty"`
	// Round counts the rounds on the way to a steady state from 1; 0 when it is none.
	Round int `json:"round,omitempty"`
	// Settings are those of the device that the step was run under, by name.
	Settings map[string]string `json:"settings,omitempty"`
	// Targets are the paths of the targets; empty when it is that of the run alone.
	Targets []string `json:"targets,omitempty"`
	// Beside are the paths of other targets that were read meanwhile, which are no part of the figures.
	Beside []string `json:"beside,omitempty"`
}

// OfDrive reports whether figures of this load are those of the drive, as far as it is known: what
// went through the page cache is not.
func (w *Workload) OfDrive() bool { return w != nil && !w.Buffered }

// Part is the share of one target in a step that used several at once.
type Part struct {
	Target   string  `json:"target"` // its path
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

// String says "4 KiB random read, depth 32, 4 jobs".
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

// InFlight is how many I/Os the jobs on one target keep in flight.
func (w Workload) InFlight() int { return w.QueueDepth * max(1, w.Jobs) }
