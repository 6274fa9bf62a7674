package record

import "fmt"

// Depth is the queue depth that a step reached on one device, as the kernel saw it.
type Depth struct {
	// Asked is the total number of I/Os that the jobs should have kept in flight.
	Asked int `json:"asked"`
	// Mean is the average number of requests in flight: the kernel's weighted time in queue (field 11 of
	// /sys/block/*/stat) divided by the duration of the step. It is 0 when unknown: the device does not count I/Os,
	// others used it as well, or the I/O went through the page cache.
	Mean float64 `json:"mean,omitempty"`
	// Levels divides the I/Os by the depth that fio itself had when it queued them.
	Levels []DepthLevel `json:"levels,omitempty"`
	// Limit is the most likely reason why Mean is not Asked; empty when it is.
	Limit DepthLimit `json:"limit,omitempty"`
	// Evidence supports Limit, such as "nr_requests is 8".
	Evidence string `json:"evidence,omitempty"`
}

// DepthLevel is the share of the I/Os at one level of depth.
type DepthLevel struct {
	// Least is the lowest depth of the level, a power of two up to 64. The level ends below the Least of the next
	// one.
	Least int     `json:"least"`
	Share float64 `json:"share"` // 0 to 1
}

// DepthLimit says why a device had a different depth from the one asked for.
type DepthLimit string

// The reasons.
const (
	DepthEngine     DepthLimit = "engine"      // the I/O engine issues one I/O at a time
	DepthJob        DepthLimit = "job"         // the job limited itself, by a rate or think time
	DepthRequests   DepthLimit = "nr_requests" // the queue has too few requests
	DepthSplit      DepthLimit = "split"       // a block is larger than a request may be, so the kernel splits it
	DepthMerged     DepthLimit = "merged"      // the kernel merged several I/Os into one request
	DepthSubmission DepthLimit = "submission"  // the device answered faster than the jobs submitted, or the jobs waited for a CPU
	DepthUnknown    DepthLimit = "unknown"
)

// String returns text such as "11.8 of 32 (nr_requests is 8)". It is empty when Mean and Limit are both unknown.
func (d Depth) String() string {
	text := fmt.Sprintf("%.1f of %d", d.Mean, d.Asked)
	if d.Mean == 0 {
		text = fmt.Sprintf("not %d", d.Asked)
	}
	switch {
	case d.Mean == 0 && d.Limit == "":
		return ""
	case d.Evidence == "":
		return text
	}
	return fmt.Sprintf("%s (%s)", text, d.Evidence)
}

// Warning returns a warning that the depth asked for was not reached. It returns false when it was reached, and when
// that is not a fault of the set-up: the job limited itself, or the device is too fast. It also returns false when
// the reason is unknown, because that comes and goes on a busy host with a fast drive.
func (d Depth) Warning() (Warning, bool) {
	switch {
	case d.Limit == "", d.Limit == DepthJob, d.Limit == DepthSubmission, d.Limit == DepthUnknown:
		return Warning{}, false
	case d.Asked == 1: // a single block that is split
		return Warning{}, false
	}
	text := fmt.Sprintf("asked for depth %d: %s", d.Asked, d.Evidence)
	if d.Mean > 0 {
		text = fmt.Sprintf("asked for depth %d, the kernel saw %.1f on average: %s", d.Asked, d.Mean, d.Evidence)
	}
	return Warning{Code: WarnDepth, Text: text}, true
}

// SumDepths returns the total depth on several devices, or nil when the depth on one of them is not known.
func SumDepths(depths []*Depth) *Depth {
	var all Depth
	for _, d := range depths {
		if d == nil || d.Mean == 0 {
			return nil
		}
		all.Asked += d.Asked
		all.Mean += d.Mean
	}
	if all.Asked == 0 {
		return nil
	}
	return &all
}
