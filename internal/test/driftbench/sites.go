package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/test/verdicts"
)

// roles checks that drives that do different work are not blamed.
func roles(o options) ([]row, error) {
	scenarios := map[string]drifttest.Scenario{}
	for _, noise := range drifttest.SharedNoises() {
		for _, load := range []float64{0.05, 0.3} {
			for _, drives := range []int{4, 12} {
				s := drifttest.Site{Noise: noise, Seed: o.seed, Drives: drives, Days: 5, Load: load, Role: true}
				scenarios[fmt.Sprintf("%s, %d drives, %.0f %%", noise, drives, 100*load)] = s.Scenario()
			}
		}
	}
	s, err := judgeAll(scenarios, o.settings)
	return append([]row{none("roles: blamed", s.Wrong)}, o.listed("roles", s.Wrong)...), err
}

// fast checks that large slowdowns are found soon, at the default interval and while the drive can be probed.
func fast(o options) ([]row, error) {
	double, five := map[string]drifttest.Scenario{}, map[string]drifttest.Scenario{}
	for _, u := range []float64{0, 0.01, 0.05, 0.10, 0.20} {
		r := drifttest.Reacting{Utilisation: u, Wave: 0.1, Slower: 2, Seed: o.seed, Days: 4}
		double[fmt.Sprintf("%g", u)] = r.Scenario()
		if u < 0.2 { // else the slow drive cannot be probed any more
			r.Slower = 5
			five[fmt.Sprintf("%g", u)] = r.Scenario()
		}
	}
	two, err := judgeAll(double, o.settings)
	if err != nil {
		return nil, err
	}
	more, err := judgeAll(five, o.settings)
	return []row{
		within("fast: 2 × that can be probed", two, 2*time.Minute, "x2"),
		within("fast: 5 × that can be probed", more, 90*time.Second, "x5"),
		none("fast: false alarms", slices.Concat(two.Wrong, more.Wrong)),
	}, err
}

// unprobed checks drives of which only the traffic is known.
func unprobed(o options) ([]row, error) {
	alone, beside := map[string]drifttest.Scenario{}, map[string]drifttest.Scenario{}
	for _, u := range []float64{0.05, 0.3, 0.6, 0.9} {
		for _, slower := range []float64{1, 1.3, 2} {
			r := drifttest.Reacting{Utilisation: u, Wave: 0.1, Slower: slower, Seed: o.seed, Days: 4, Unprobed: true}
			alone[fmt.Sprintf("%.0f %% %g ×", 100*u, slower)] = r.Scenario()
		}
	}
	for _, noise := range drifttest.SharedNoises() {
		n := drifttest.Site{Noise: noise, Seed: o.seed, Drives: 8, Days: 3, Load: 0.2, Unprobed: true, Slower: 1.6, Born: true}
		beside[noise] = n.Scenario()
	}
	s, err := judgeAll(alone, o.settings)
	if err != nil {
		return nil, err
	}
	peers, err := judgeAll(beside, o.settings)
	wrong := slices.Concat(s.Wrong, peers.Wrong)
	return append([]row{
		within("traffic alone: 2 ×", s, 10*time.Minute, "x2"),
		within("traffic alone: 1.3 ×", s, 45*time.Minute, "x1.3"),
		within("traffic alone: born 1.6 ×, beside peers", peers, 24*time.Hour, "born"),
		none("traffic alone: false alarms", wrong),
	}, o.listed("traffic alone", wrong)...), err
}

const (
	mostCPU   = 0.001 // of a core, for 24 drives
	mostState = 24 << 10
)

// cost measures the cost of judging 24 drives with a round and a sample of traffic every 30 s.
func cost(o options) ([]row, error) {
	s := drifttest.Site{Noise: "calm", Seed: o.seed, Drives: 24, Days: 2, Interval: 30 * time.Second, Load: 0.2}.Scenario()
	started := cpuTime()
	for range s.Samples { // to know what making the samples takes
	}
	making := cpuTime() - started
	started = cpuTime()
	node, err := verdicts.Follow(s, o.settings)
	if err != nil {
		return nil, err
	}
	share := float64(cpuTime()-started-making) / float64(s.Duration)
	largest := 0
	for _, source := range []string{verdicts.Probe, judge.Traffic} {
		data, err := json.Marshal(node.Tracker(s.Drives[0].ID, source).State())
		if err != nil {
			return nil, err
		}
		largest = max(largest, len(data))
	}
	return []row{
		{"cost: 24 drives, share of a core", fmt.Sprintf("at most %g %%", 100*mostCPU), fmt.Sprintf("%.3f %%", 100*share), share <= mostCPU},
		{"cost: state of a probe", fmt.Sprintf("at most %d KiB", mostState>>10), fmt.Sprintf("%.1f KiB", float64(largest)/1024), largest <= mostState},
	}, nil
}

// cpuTime returns the CPU time that this process has used.
func cpuTime() time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// parts returns the parts of the table, with their names for -only.
func parts() []part {
	return []part{{"reacting", reacting}, {"nodes", nodes}, {"roles", roles}, {"fast", fast}, {"traffic", unprobed}, {"cost", cost}}
}

type part struct {
	name string
	rows func(options) ([]row, error)
}
