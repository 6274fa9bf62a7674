package analysis

import (
	"cmp"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// CPUScalings tell for each load that was measured on different numbers of CPUs, and else
// alike, from how many on they are not the limit.
func CPUScalings(steps []record.Step, m Machine) []record.CPUScaling {
	var loads groups[string, groups[int, []record.Step]] // by the number of CPUs
	for _, s := range complete(steps) {
		if s.Workload != nil && s.Workload.CPUCores > 0 {
			same := loads.at(s.Workload.String()).at(len(s.Workload.CPUs))
			*same = append(*same, s)
		}
	}
	var all []record.CPUScaling
	for _, load := range loads.keys {
		numbers := loads.at(load)
		slices.SortFunc(numbers.keys, cmp.Compare)
		c := record.CPUScaling{Load: load}
		for _, n := range numbers.keys {
			repeats := *numbers.at(n)
			_, c.Unit = rateOf(*repeats[0].Workload, repeats[0])
			c.Points = append(c.Points, cpuPoint(repeats, m))
		}
		for _, p := range slices.Backward(c.Points) {
			if p.Limit == record.LimitCPU || p.Limit == record.LimitOthers {
				break
			}
			c.EnoughAt, c.Limit = p.CPUs, p.Limit
		}
		all = append(all, c)
	}
	return all
}

// cpuPoint is the mean of the repeats. The CPUs are the limit where they are in one of them.
func cpuPoint(repeats []record.Step, m Machine) record.CPUPoint {
	w := *repeats[0].Workload
	p := record.CPUPoint{CPUs: len(w.CPUs), Cores: w.CPUCores, Nodes: w.CPUNodes}
	n := float64(len(repeats))
	for _, s := range repeats {
		rate, _ := rateOf(w, s)
		p.Rate += rate / n
		p.Used += (s.UserCPU + s.SystemCPU) / n
		r := results(s)[0]
		p.Mean += r.Mean / time.Duration(len(repeats))
		p.P99 += r.Latency.Quantile(0.99) / time.Duration(len(repeats))
		if limit := bound(s, m).Limit; p.Limit == "" || limit == record.LimitCPU {
			p.Limit = limit
		}
	}
	return p
}
