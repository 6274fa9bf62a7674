package record

import "fmt"

// Depth is how many I/Os a step kept in flight on one device, as the kernel saw it.
type Depth struct {
	// Asked is what the jobs were to keep in flight together.
	Asked int `json:"asked"`
	// Mean is how many requests the device had on average: the kernel's weighted time in
	// queue (field 11 of /sys/block/*/stat) over the time of the step. It is 0 when nobody
	// knows: the device does not count, others used it too, or the page cache was between.
	Mean float64 `json:"mean,omitempty"`
	// Levels are the shares of I/Os by the depth that fio itself had when it queued them.
	Levels []DepthLevel `json:"levels,omitempty"`
	// Limit is the most likely reason why Mean is not what was asked for; empty when it is.
	Limit DepthLimit `json:"limit,omitempty"`
	// Evidence is what speaks for that: "nr_requests is 8".
	Evidence string `json:"evidence,omitempty"`
}

// DepthLevel is a share of I/Os.
type DepthLevel struct {
	// Least is the lowest depth of the level: a power of two up to 64. The next one ends it.
	Least int     `json:"least"`
	Share float64 `json:"share"` // 0 to 1
}

// DepthLimit is why a device had another depth than was asked for.
type DepthLimit string

// The reasons.
const (
	DepthEngine     DepthLimit = "engine"      // the I/O engine does one I/O at a time
	DepthJob        DepthLimit = "job"         // the job held itself back: a rate, a think time
	DepthRequests   DepthLimit = "nr_requests" // the queue has no more requests
	DepthSplit      DepthLimit = "split"       // a block is larger than a request may be
	DepthMerged     DepthLimit = "merged"      // the kernel made one request of several I/Os
	DepthSubmission DepthLimit = "submission"  // the device answered faster than the jobs submit, or they waited for a CPU
	DepthUnknown    DepthLimit = "unknown"
)

// String says "11.8 of 32 (nr_requests is 8)"; empty when the depth is not known and
// nothing kept it from what was asked.
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

// Warning says that the depth asked for was not reached. It returns false when it was, or
// when that is no fault of the set-up: the job wanted it so, or the device is too fast. What
// nothing explains is no alarm either: on a busy host with a fast drive it comes and goes.
func (d Depth) Warning() (Warning, bool) {
	switch {
	case d.Limit == "", d.Limit == DepthJob, d.Limit == DepthSubmission, d.Limit == DepthUnknown:
		return Warning{}, false
	case d.Asked == 1: // a block that is split, with nothing else in flight
		return Warning{}, false
	}
	text := fmt.Sprintf("asked for depth %d: %s", d.Asked, d.Evidence)
	if d.Mean > 0 {
		text = fmt.Sprintf("asked for depth %d, the kernel saw %.1f on average: %s", d.Asked, d.Mean, d.Evidence)
	}
	return Warning{Code: WarnDepth, Text: text}, true
}

// SumDepths is the depth on several devices at once; nil when that of one is not known.
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
