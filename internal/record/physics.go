package record

import (
	"fmt"
	"time"
)

// busRoundTrip is the least time that an I/O spends on the bus besides its data:
// the doorbell, the fetch of the command and its completion cross it one after the
// other, a few hundred nanoseconds each.
const busRoundTrip = time.Microsecond

// Impossible says why what was measured cannot be true of a device behind this
// link: more bytes per second in one direction than it carries, or a typical
// latency shorter than blockBytes take to cross it. It returns false when nothing
// speaks against the figures. Zero figures are not looked at.
//
// Nothing is concluded from a link that could do no more than 2.5 GT/s x1: that is
// what emulated controllers say, which have none.
func (l PCIeLink) Impossible(bytesPerSecond float64, blockBytes int64, typical time.Duration) (Warning, bool) {
	carries := l.BytesPerSecond()
	if carries <= 0 || l.MaxGTs <= 2.5 && l.MaxLanes <= 1 {
		return Warning{}, false
	}
	const advice = "unwritten blocks or a cache answered instead of the drive, or the clock is wrong"
	if bytesPerSecond > carries {
		return Warning{Code: WarnImpossible, Text: fmt.Sprintf("impossible: %.0f MB/s is more than the PCIe link (%s) can carry, %.0f MB/s: %s",
			bytesPerSecond/1e6, l, carries/1e6, advice)}, true
	}
	least := busRoundTrip + time.Duration(float64(blockBytes)/carries*1e9)
	if typical > 0 && typical < least {
		return Warning{Code: WarnImpossible, Text: fmt.Sprintf("impossible: a median latency of %.2f µs is less than the %.2f µs that %d bytes take over the PCIe link (%s): %s",
			float64(typical)/1e3, float64(least)/1e3, blockBytes, l, advice)}, true
	}
	return Warning{}, false
}

// FlagImpossible adds a warning to each step whose figures the device's link
// cannot carry: of several targets at once, each is held against its own link. What
// went through the page cache is not looked at.
func (r *RunReport) FlagImpossible() {
	for i := range r.Steps {
		step := &r.Steps[i]
		if step.Workload != nil && step.Workload.Buffered {
			continue
		}
		target := r.Target
		if step.Workload != nil && len(step.Workload.Targets) == 1 {
			target = step.Workload.Targets[0]
		}
		parts := step.Parts
		if len(parts) == 0 {
			parts = []Part{{Target: target, Read: step.Read, Write: step.Write}}
		}
		for _, part := range parts {
			step.Warnings = append(step.Warnings, part.impossible(r.linkOf(part.Target))...)
		}
	}
}

// linkOf returns the link of a target; nil when it has none.
func (r *RunReport) linkOf(path string) *PCIeLink {
	for _, t := range r.Targets {
		if t.Path == path {
			return t.Device.Link
		}
	}
	return r.Device.Link
}

func (p Part) impossible(link *PCIeLink) []Warning {
	if link == nil {
		return nil
	}
	var all []Warning
	for _, result := range []*Result{p.Read, p.Write} {
		if result == nil || result.IOs <= 0 {
			continue
		}
		if w, bad := link.Impossible(result.BytesPerSecond, result.Bytes/result.IOs, result.Latency.Quantile(0.5)); bad {
			all = append(all, w)
		}
	}
	return all
}
