package analysis_test

import (
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// randomRead returns a step of random reads at a depth.
func randomRead(depth int, iops float64) record.Step {
	return record.Step{
		Name:            fmt.Sprintf("random-read-qd%d", depth),
		Workload:        &record.Workload{Direction: record.Read, Pattern: record.Random, BlockBytes: 4096, QueueDepth: depth, Jobs: 1},
		Read:            rate(iops, 4096, depth),
		InterruptsPerIO: -1,
	}
}

// rate returns a result that obeys Little's law.
func rate(iops float64, block int64, depth int) *record.Result {
	mean := time.Duration(float64(depth) / iops * float64(time.Second))
	return &record.Result{
		IOs: int64(iops), Bytes: int64(iops) * block, IOPS: iops, BytesPerSecond: iops * float64(block), Mean: mean,
		Latency: record.Histogram{{Latency: mean, Count: int64(iops)}},
	}
}

type step = record.Step

func short(s record.Step) record.Step {
	s.Warnings = append(s.Warnings, record.Warning{Code: record.WarnShort})
	return s
}

func disturbed(s record.Step) record.Step {
	s.Warnings = append(s.Warnings, record.Warning{Code: record.WarnDisturbed})
	return s
}

func impossible(s record.Step) record.Step {
	s.Warnings = append(s.Warnings, record.Warning{Code: record.WarnImpossible})
	return s
}

// rounds returns random writes on the way to the steady state.
func rounds(iops ...float64) []record.Step {
	steps := make([]record.Step, len(iops))
	for i, v := range iops {
		steps[i] = record.Step{
			Name:     fmt.Sprintf("round-%d", i+1),
			Workload: &record.Workload{Direction: record.Write, Pattern: record.Random, BlockBytes: 4096, QueueDepth: 32, Jobs: 1, Round: i + 1},
			Write:    rate(v, 4096, 32),
		}
	}
	return steps
}

// together returns a step with the same load on several devices at once, given the IOPS
// of each.
func together(groups []string, iops ...float64) record.Step {
	s := record.Step{
		Name:     fmt.Sprintf("%d-devices", len(iops)),
		Workload: &record.Workload{Direction: record.Read, Pattern: record.Random, BlockBytes: 4096, QueueDepth: 32, Jobs: 1},
	}
	var all float64
	for i, v := range iops {
		s.Parts = append(s.Parts, record.Part{Target: fmt.Sprintf("/dev/nvme%dn1", i), Group: groups[i], Read: rate(v, 4096, 32)})
		all += v
	}
	s.Read = rate(all, 4096, 32*len(iops))
	return s
}
