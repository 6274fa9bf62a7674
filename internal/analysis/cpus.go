package analysis

import (
	"cmp"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/confidence"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// CPUGain is the ratio of two rates from which a load counts as faster on more CPUs.
const CPUGain = 1.1

// CPUScalings covers each load that was measured on different numbers of CPUs under
// otherwise equal conditions. It reports the number of CPUs from which they are no longer
// the limit.
func CPUScalings(steps []record.Step, m Machine) []record.CPUScaling {
	var loads groups[string, groups[int, []record.Step]] // by the number of CPUs
	for _, s := range complete(steps) {
		if s.Workload != nil && s.Workload.CPUCores > 0 {
			add(loads.at(s.Workload.String()), len(s.Workload.CPUs), s)
		}
	}
	var all []record.CPUScaling
	for _, load := range loads.keys {
		numbers := loads.at(load)
		slices.SortFunc(numbers.keys, cmp.Compare)
		c := record.CPUScaling{Load: load}
		var rates [][]float64
		for _, n := range numbers.keys {
			repeats := undisturbed(*numbers.at(n))
			_, c.Unit = rateOf(*repeats[0].Workload, repeats[0])
			point, own := cpuPoint(repeats, m)
			c.Points, rates = append(c.Points, point), append(rates, own)
		}
		limitFaster(c.Points, rates)
		for _, p := range slices.Backward(c.Points) {
			if p.Limit == record.LimitCPU || len(p.Codes) > 0 {
				break
			}
			c.EnoughAt, c.Limit = p.CPUs, p.Limit
		}
		all = append(all, c)
	}
	return all
}

// undisturbed leaves out the repeats that may not decide, unless that is true of all repeats.
func undisturbed(repeats []record.Step) []record.Step {
	calm := slices.DeleteFunc(slices.Clone(repeats), func(s record.Step) bool { return s.Spoiled() != "" })
	if len(calm) == 0 {
		return repeats
	}
	return calm
}

// limitFaster sets the limit to the CPUs at each point that gets faster with more of them.
// CPUs that the jobs do not use fully may still limit them, as part of the time goes to
// interrupts, for example. If only this shows that the second-largest number of CPUs was the
// limit, the largest number may not suffice either. A device limit there then becomes a CPU
// limit too.
func limitFaster(points []record.CPUPoint, rates [][]float64) {
	last := len(points) - 1
	for i := range points {
		for _, more := range rates[i+1:] {
			faster := confidence.Ratio(rates[i], more)
			if len(points[i].Codes) > 0 || faster.Value < CPUGain || faster.Lower != nil && *faster.Lower <= 1 {
				continue
			}
			if i == last-1 && points[i].Limit != record.LimitCPU && points[last].Limit == record.LimitDevice {
				points[last].Limit = record.LimitCPU
			}
			points[i].Limit = record.LimitCPU
		}
	}
}

// cpuPoint returns the mean of the repeats and the rate of each one. When the repeats have
// different limits, the point takes the CPUs first, then others, the link, latency and the
// device.
func cpuPoint(repeats []record.Step, m Machine) (p record.CPUPoint, rates []float64) {
	w := *repeats[0].Workload
	p = record.CPUPoint{CPUs: len(w.CPUs), Cores: w.CPUCores, Nodes: w.CPUNodes}
	n := float64(len(repeats))
	var limits []record.Limit
	for _, s := range repeats {
		rate, _ := rateOf(w, s)
		p.Rate += rate / n
		rates = append(rates, rate)
		p.Used += (s.UserCPU + s.SystemCPU) / n
		r := results(s)[0]
		p.Mean += r.Mean / time.Duration(len(repeats))
		p.P99 += r.Latency.Quantile(0.99) / time.Duration(len(repeats))
		p.P99Unsure = p.P99Unsure || r.Unsure(0.99)
		p.Codes = addSpoiled(p.Codes, s)
		limits = append(limits, bound(s, m).Limit)
	}
	for _, limit := range []record.Limit{record.LimitDevice, record.LimitLatency, record.LimitLink, record.LimitOthers, record.LimitCPU} {
		if slices.Contains(limits, limit) {
			p.Limit = limit
		}
	}
	return p, rates
}
