package fiorun

import (
	"runtime"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// cpus returns how many CPUs the jobs may use together.
func (r Run) cpus() int {
	used := map[int]bool{}
	for i, s := range r.Job.Sections {
		if s.Name == fio.Global {
			continue
		}
		list, ok := parseCPUs(r.Job.Effective(i).CPUsAllowed)
		if !ok {
			return runtime.NumCPU()
		}
		for _, cpu := range list {
			used[cpu] = true
		}
	}
	if len(used) == 0 {
		return runtime.NumCPU()
	}
	return min(len(used), runtime.NumCPU())
}

// parseCPUs parses fio's cpus_allowed, "0-3,8". ok is false if it names no CPU.
func parseCPUs(text string) (cpus []int, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			high = low
		}
		first, err := strconv.ParseUint(low, 10, 16)
		if err != nil {
			return nil, false
		}
		last, err := strconv.ParseUint(high, 10, 16)
		if err != nil || last < first {
			return nil, false
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, int(cpu))
		}
	}
	return cpus, true
}
