package analysis

import (
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

const (
	// cpuFull is the share of the CPUs available to the jobs from which the CPUs count as
	// the limit.
	cpuFull = 0.9
	// linkFull is the share of the link's bandwidth from which the link counts as the
	// limit. The headers of 256-byte packets and flow control take the rest.
	linkFull = 0.82
)

// Machine describes the resources against which the limits of a step are judged.
type Machine struct {
	CPUs int // available to the jobs
	// LinkBytesPerSecond is the combined bandwidth of all links; 0 when not known.
	LinkBytesPerSecond float64
	LinkText           string
}

// Bounds returns for each step what limited it, with the evidence.
func Bounds(steps []record.Step, m Machine) []record.Bound {
	var all []record.Bound
	for _, s := range complete(steps) {
		all = append(all, bound(s, m))
	}
	return all
}

func bound(s record.Step, m Machine) record.Bound {
	b := record.Bound{Step: s.Name}
	used, jobs := s.UserCPU+s.SystemCPU, m.CPUs
	if s.Workload != nil {
		if n := len(s.Workload.CPUs); n > 0 {
			jobs = n
		}
		jobs = min(jobs, max(1, s.Workload.Jobs)*max(1, len(s.Parts)))
	}
	if jobs > 0 {
		b.CPUShare = new(used / float64(jobs))
	}
	if m.LinkBytesPerSecond > 0 {
		// The link carries both directions at once, each at its full rate.
		var most float64
		for _, r := range results(s) {
			most = max(most, r.BytesPerSecond)
		}
		b.LinkShare = new(most / m.LinkBytesPerSecond)
	}
	switch {
	case warned(s, record.WarnCPUBound) || b.CPUShare != nil && *b.CPUShare >= cpuFull:
		b.Limit = record.LimitCPU
		b.Evidence = fmt.Sprintf("the load generator used %.2f of the %s that its jobs could use", used, units.Plural(jobs, "CPU"))
	case b.LinkShare != nil && *b.LinkShare >= linkFull:
		b.Limit = record.LimitLink
		b.Evidence = fmt.Sprintf("%s are %s of what the PCIe link (%s) carries",
			units.Bandwidth(*b.LinkShare*m.LinkBytesPerSecond), units.Percent(*b.LinkShare), m.LinkText)
	case warned(s, record.WarnDisturbed):
		b.Limit = record.LimitOthers
		b.Evidence = "the jobs had to wait for a CPU, see the step's warning"
		if share := s.Disturbance.CPUWaitRatio; share > 0 {
			b.Evidence = fmt.Sprintf("the jobs waited for a CPU for %s of the time", units.Percent(share))
		}
	case s.Workload == nil && s.Depth != nil && s.Depth.Limit == record.DepthJob:
		b.Limit, b.Evidence = record.LimitJob, s.Depth.Evidence
	case s.Workload != nil && s.Workload.InFlight() == 1 && len(s.Parts) <= 1 && s.Sync != nil:
		b.Limit = record.LimitLatency
		b.Evidence = fmt.Sprintf("one write at a time, which takes %s on average with its sync", units.Latency(results(s)[0].Mean+s.Sync.Mean))
	case s.Workload != nil && s.Workload.InFlight() == 1 && len(s.Parts) <= 1:
		b.Limit = record.LimitLatency
		b.Evidence = "one I/O at a time"
		if mean := results(s)[0].Mean; mean > 0 {
			b.Evidence += fmt.Sprintf(", which takes %s on average", units.Latency(mean))
		}
	default:
		b.Limit = record.LimitDevice
		b.Evidence = notOthers(b)
	}
	return b
}

// notOthers explains why the limit is neither the CPU nor the link.
func notOthers(b record.Bound) string {
	text := "neither the CPUs"
	if b.CPUShare != nil {
		text += fmt.Sprintf(" (%s used)", units.Percent(*b.CPUShare))
	}
	if b.LinkShare == nil {
		return text + " nor a known link"
	}
	return text + fmt.Sprintf(" nor the PCIe link (%s used)", units.Percent(*b.LinkShare))
}

// InterruptRates returns the interrupt rates of the steps for which they are known.
// setting is the name of the setting that explains them; it may be empty.
func InterruptRates(steps []record.Step, setting string) []record.InterruptRate {
	var all []record.InterruptRate
	for _, s := range complete(steps) {
		if s.InterruptsPerIO < 0 {
			continue
		}
		r := record.InterruptRate{Step: s.Name, PerIO: s.InterruptsPerIO, PerSecond: s.InterruptsPerSecond}
		if r.PerSecond == 0 { // not observed, or a report of an earlier version, which has only the rate per I/O
			r.PerSecond = s.InterruptsPerIO * iopsOf(s)
		}
		if s.Workload != nil {
			r.Setting = s.Workload.Settings[setting]
		}
		all = append(all, r)
	}
	return all
}
