package report_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// suiteRun returns a run of a suite on the data centre drive, without warnings.
func suiteRun(suite string, steps ...record.Step) record.RunReport {
	r := quickRun()
	r.Suite, r.Warnings, r.Steps = suite, nil, steps
	r.Finished = r.Started.Add(time.Duration(len(steps)) * 30 * time.Second)
	return r
}

// step returns a step with a workload.
func step(name string, w record.Workload, r *record.Result) record.Step {
	s := record.Step{Name: name, Plan: w.String(), Duration: 30 * time.Second, Workload: &w, InterruptsPerIO: -1, UserCPU: 0.1, SystemCPU: 0.3}
	if w.Direction == record.Write {
		s.Write = r
	} else {
		s.Read = r
	}
	return s
}

// saturating returns the latencies of a drive in a sweep: 80 µs for one I/O, and at most 310 000 IOPS.
func saturating(base record.Histogram, depth int) record.Histogram {
	factor := 1 + math.Pow(float64(depth)*12_500/310_000, 2)
	factor = math.Sqrt(factor)
	return slowed(base, factor)
}

// depthRun returns the suite depth-sweep; the step at depth 8 was disturbed.
func depthRun() record.RunReport {
	base := depth1(20_000)
	var steps []record.Step
	for depth := 1; depth <= 1024; depth *= 2 {
		w := record.Workload{Direction: record.Read, Pattern: record.Random, BlockBytes: 4 << 10, QueueDepth: depth, Jobs: 1, Engine: "libaio"}
		s := step(fmt.Sprintf("random-read-qd%d", depth), w, result(saturating(base, depth), 4<<10, float64(depth)))
		s.JobFile = fmt.Sprintf("[%s]\nfilename=/dev/nvme0n1\nrw=randread\niodepth=%d\n", s.Name, depth)
		s.Depth = &record.Depth{Asked: depth, Mean: 0.96 * float64(depth)}
		if depth == 1024 {
			s.Depth = &record.Depth{Asked: depth, Mean: 1001.4, Limit: record.DepthRequests, Evidence: "nr_requests is 1023"}
		}
		if depth == 8 {
			s.Warnings = []record.Warning{{Code: record.WarnDisturbed, Text: "The jobs waited for a CPU for 9 % of the step: repeat on a quieter machine."}}
		}
		steps = append(steps, s)
	}
	r := suiteRun("depth-sweep", steps...)
	r.Analysis = &record.Analysis{Knees: analysis.Knees(steps), Bounds: analysis.Bounds(steps, analysis.Machine{CPUs: 16, LinkBytesPerSecond: 7.88e9, LinkText: "8 GT/s x4"})}
	return r
}

// linearRun returns the suite linear-read on a drive that gets slower towards its end.
func linearRun() record.RunReport {
	base := sequential(2000)
	var steps []record.Step
	for i := range 48 {
		share := float64(i) / 47
		w := record.Workload{Direction: record.Read, Pattern: record.Sequential, BlockBytes: 1 << 20, QueueDepth: 8, Jobs: 1, OffsetBytes: int64(share * 3.83e12)}
		slow := 1 + 0.2*share*share
		if i == 30 {
			slow = 1.6
		}
		steps = append(steps, step(fmt.Sprintf("read-at-%d", i), w, result(slowed(base, 9*slow), 1<<20, 8)))
	}
	r := suiteRun("linear-read", steps...)
	r.Analysis = &record.Analysis{Offsets: analysis.Offsets(steps)}
	return r
}

// linesRun returns the suite linear-read on three drives, each alone and beside the others. The last two share a narrow
// bus.
func linesRun() record.RunReport {
	base := sequential(500)
	r := suiteRun("linear-read")
	for i := range 3 {
		path := fmt.Sprintf("/dev/nvme%dn1", i)
		r.Targets = append(r.Targets, record.RunTarget{Path: path, ID: path, Device: datacentreDrive(), Conditions: datacentreConditions()})
		for _, beside := range [][]string{nil, {"/dev/others1", "/dev/others2"}} {
			for place := range 5 {
				share := float64(place) / 4
				w := record.Workload{
					Direction: record.Read, Pattern: record.Sequential, BlockBytes: 1 << 20, QueueDepth: 8, Jobs: 1, OffsetBytes: int64(share * 3.83e12),
					Targets: []string{path}, Beside: beside,
				}
				slow := 9 * (1 + 0.2*share*share + 0.03*float64(i))
				switch {
				case beside != nil && i > 0:
					slow *= 1.7 + 0.02*float64(place%3)
				case beside != nil:
					slow *= 1.03
				}
				s := step(fmt.Sprintf("drive-%d-offset-%d-beside-%d", i+1, place, len(beside)), w, result(slowed(base, slow), 1<<20, 8))
				if beside != nil {
					other := record.Part{Read: result(slowed(base, 20), 1<<20, 8)}
					s.Parts = []record.Part{{Target: path, Read: s.Read}, other, other}
				}
				r.Steps = append(r.Steps, s)
			}
		}
	}
	r.Steps[3].Warnings = []record.Warning{{Code: record.WarnOthersActive, Text: "Others completed 1 240 I/Os on the device during the step."}}
	r.Analysis = &record.Analysis{Offsets: analysis.Offsets(r.Steps)}
	return r
}

// steadyRun returns the suite steady-state: fast while fresh, then down to a quarter.
func steadyRun() record.RunReport {
	random, base := rand.New(rand.NewPCG(1, 2)), depth32(5000)
	var steps []record.Step
	for round := 1; round <= 24; round++ {
		w := record.Workload{Direction: record.Write, Pattern: record.Random, BlockBytes: 4 << 10, QueueDepth: 32, Jobs: 1, Round: round}
		slow := 4 - 3*math.Exp(-math.Pow(float64(round)/8, 3)) + 0.2*random.Float64()
		steps = append(steps, step(fmt.Sprintf("round-%d", round), w, result(slowed(base, slow), 4<<10, 32)))
	}
	r := suiteRun("steady-state", steps...)
	r.Settings = map[string]string{"round": "1m", "precondition": "none"}
	r.Analysis = &record.Analysis{Steady: analysis.Steadiness(steps, analysis.PTS())}
	return r
}

// scaleRun returns the suite scale on 24 drives of two PCIe roots. From the 18th drive on, those of the second root share
// too narrow a link.
func scaleRun() record.RunReport {
	base := depth32(1000)
	var steps []record.Step
	for n := 1; n <= 24; n++ {
		w := record.Workload{Direction: record.Read, Pattern: record.Random, BlockBytes: 4 << 10, QueueDepth: 128, Jobs: 4}
		s := step(fmt.Sprintf("devices-%d", n), w, result(base, 4<<10, 128))
		s.Read.IOPS = 0
		for i := range n {
			part := record.Part{Target: fmt.Sprintf("/dev/nvme%dn1", i), Group: "pci0000:00", Read: result(base, 4<<10, 128)}
			part.Read.IOPS = 1.9e6
			if i >= 12 {
				part.Group = "pci0000:40"
				part.Read.IOPS *= math.Min(1, 4.5/float64(n-12))
			}
			s.Read.IOPS += part.Read.IOPS
			s.Parts = append(s.Parts, part)
		}
		steps = append(steps, s)
	}
	r := suiteRun("scale", steps...)
	r.Analysis = &record.Analysis{Scalings: analysis.Scalings(steps)}
	for _, p := range steps[23].Parts {
		d := datacentreDrive()
		c := datacentreConditions()
		if p.Target == "/dev/nvme20n1" {
			c.Firmware = "GDC5302Q"
		}
		r.Targets = append(r.Targets, record.RunTarget{Path: p.Target, Group: p.Group, Device: d, Conditions: c})
	}
	return r
}

// cacheRun returns the suite write-cache with four repeats of each load, cache on and off.
func cacheRun() record.RunReport {
	random, base := rand.New(rand.NewPCG(3, 4)), depth1(4000)
	var steps []record.Step
	for _, depth := range []int{1, 32} {
		for _, cache := range []string{"on", "off"} {
			for repeat := 1; repeat <= 4; repeat++ {
				w := record.Workload{
					Direction: record.Write, Pattern: record.Random, BlockBytes: 8 << 10, QueueDepth: depth, Jobs: 1, Repeat: repeat,
					Settings: map[string]string{"write cache": cache},
				}
				slow := 1 + 0.08*random.Float64()
				if cache == "off" && depth == 1 {
					slow *= 9
				}
				series := fmt.Sprintf("random-write-qd%d-cache-%s", depth, cache)
				s := step(fmt.Sprintf("%s-%d", series, repeat), w, result(slowed(base, slow), 8<<10, float64(depth)))
				s.Series = series
				if repeat == 1 && cache == "on" {
					s.Warnings = []record.Warning{{Code: record.WarnOthersActive, Text: "Others completed 1 240 I/Os on the device during the step."}}
				}
				steps = append(steps, s)
			}
		}
	}
	r := suiteRun("write-cache", steps...)
	r.Analysis = &record.Analysis{Spreads: analysis.Spreads(steps), Effects: analysis.Effects(steps, "write cache")}
	return r
}

// spanRun returns the suite span on a drive without its own memory: single reads get slower from half of the drive on.
// The drive is then written with a part left unused.
func spanRun() record.RunReport {
	random, base := rand.New(rand.NewPCG(5, 6)), depth1(2000)
	var steps []record.Step
	for _, depth := range []int{1, 32} {
		for repeat := 1; repeat <= 3; repeat++ {
			for _, percent := range []int{1, 10, 25, 50, 75, 100} {
				w := record.Workload{
					Direction: record.Read, Pattern: record.Random, BlockBytes: 8 << 10, QueueDepth: depth, Jobs: 1, Repeat: repeat,
					SpanPercent: percent, SpanBytes: 38_400_000_000 * int64(percent),
				}
				slow := 1 + 0.02*random.Float64()
				if percent > 25 && depth == 1 {
					slow *= 1 + float64(percent-25)/100
				}
				series := fmt.Sprintf("span%d-random-read-qd%d", percent, depth)
				s := step(fmt.Sprintf("%s-repeat%d", series, repeat), w, result(slowed(base, slow*math.Sqrt(float64(depth))), 8<<10, float64(depth)))
				s.Series = series
				if percent == 50 && repeat == 2 {
					s.Warnings = []record.Warning{{Code: record.WarnOthersActive, Text: "Others completed 1 240 I/Os on the device during the step."}}
				}
				steps = append(steps, s)
			}
		}
	}
	for spare, slow := range map[int]float64{0: 4, 20: 2, 40: 1.5} {
		for round := 1; round <= 5; round++ {
			w := record.Workload{
				Direction: record.Write, Pattern: record.Random, BlockBytes: 8 << 10, QueueDepth: 32, Jobs: 1, Round: round,
				SparePercent: &spare, SpanPercent: 100 - spare, SpanBytes: 38_400_000_000 * int64(100-spare),
			}
			steps = append(steps, step(fmt.Sprintf("spare%d-round-%d", spare, round), w, result(slowed(base, slow+0.01*float64(round)), 8<<10, 32)))
		}
	}
	slices.SortStableFunc(steps, func(a, b record.Step) int { return cmp.Compare(a.Workload.Round, b.Workload.Round) })
	slices.SortStableFunc(steps, func(a, b record.Step) int { return cmp.Compare(spareOf(a), spareOf(b)) })
	r := suiteRun("span", steps...)
	r.Analysis = &record.Analysis{Spans: analysis.Spans(steps), Spares: analysis.Spares(steps, analysis.PTS())}
	return r
}

func spareOf(s record.Step) int {
	if s.Workload.SparePercent == nil {
		return -1
	}
	return *s.Workload.SparePercent
}

// cpusRun returns the suite cpus: from eight CPUs on, the drive is the limit.
func cpusRun() record.RunReport {
	base := depth32(2000)
	var steps []record.Step
	for n := 1; n <= 32; n *= 2 {
		w := record.Workload{
			Direction: record.Read, Pattern: record.Random, BlockBytes: 4 << 10, QueueDepth: 32, Jobs: 32, CPUCores: min(n, 16), CPUNodes: []int{1},
		}
		if n > 8 {
			w.CPUNodes = []int{1, 0}
		}
		for cpu := range n {
			w.CPUs = append(w.CPUs, cpu)
		}
		served := math.Min(float64(n), 6.5)
		s := step(fmt.Sprintf("cpus%d", n), w, result(slowed(base, 200/served), 4<<10, 1024))
		s.UserCPU, s.SystemCPU = 0.25*served, 0.73*served
		if n < 8 {
			s.Warnings = []record.Warning{{Code: record.WarnCPUBound, Text: "The load generator used up its CPUs: they were the limit, not the drive; use a machine with more."}}
		}
		steps = append(steps, s)
	}
	m := analysis.Machine{CPUs: 32}
	r := suiteRun("cpus", steps...)
	r.Analysis = &record.Analysis{CPUs: analysis.CPUScalings(steps, m), Bounds: analysis.Bounds(steps, m)}
	return r
}

// sheetRun returns quick with all analyses that have no plot of their own.
func sheetRun() record.RunReport {
	r := quickRun()
	r.Analysis = &record.Analysis{
		DataSheet: []record.SheetShare{
			{Figure: "random read", Unit: "IOPS", BlockBytes: 4 << 10, Promised: 1e6, Measured: 297_072, Step: "random-read-qd32", Share: 0.297},
			{Figure: "sequential read", Unit: "B/s", BlockBytes: 128 << 10, Promised: 6.9e9, Measured: 5.5e9, Step: "sequential-read-qd8", Share: 0.797},
			{Figure: "random read latency", Unit: "s", BlockBytes: 4 << 10, Promised: 85e-6, Measured: 79.7e-6, Step: "random-read-qd1", Share: 1.066},
			{Figure: "random write", Unit: "IOPS", BlockBytes: 16 << 10, Promised: 40e3},
		},
		Interrupts: []record.InterruptRate{{Step: "random-read-qd1", Setting: "off", PerIO: 1, PerSecond: 12_544}},
		Bounds: []record.Bound{
			{Step: "random-read-qd1", Limit: record.LimitLatency, Evidence: "one I/O at a time, which takes 79.7 µs on average"},
			{Step: "random-read-qd32", Limit: record.LimitCPU, CPUShare: new(0.99), Evidence: "the load generator used 0.99 of the 1 CPU that its jobs could use"},
		},
	}
	return r
}

// suiteRuns returns all of these runs by name.
func suiteRuns() map[string]record.RunReport {
	return map[string]record.RunReport{
		"depth": depthRun(), "linear": linearRun(), "steady": steadyRun(), "scale": scaleRun(), "cache": cacheRun(), "sheet": sheetRun(),
		"probe": probeRun(), "model": modelRun(), "span": spanRun(), "cpus": cpusRun(), "lines": linesRun(),
	}
}
