package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// depthPoint is the result at one depth of a sweep.
type depthPoint struct {
	depth     int
	iops      float64
	mean, p99 time.Duration
	unsure    bool // the p99
}

// Knees finds the knee of each load that was measured at three or more depths with
// everything else equal. Repeats at one depth count as their mean. Steps that did not
// measure the drive, such as those through the page cache, do not count.
func Knees(steps []record.Step) []record.Knee {
	var sweeps groups[sweepKey, []record.Step]
	for _, s := range complete(steps) {
		if !s.Workload.OfDrive() || s.Workload.Round > 0 {
			continue
		}
		for _, r := range results(s) {
			add(&sweeps, sweepKey{SweepName(*s.Workload, r.direction), r.direction}, s)
		}
	}
	var knees []record.Knee
	for _, key := range sweeps.keys {
		all := *sweeps.at(key)
		if len(depthsOf(all, key.direction)) < 3 {
			continue
		}
		deciding, rest, codes := decide(all)
		var k record.Knee
		if points := depthsOf(deciding, key.direction); len(points) >= 3 {
			k = knee(points)
		}
		k.Load, k.Disregarded, k.Codes = key.load, len(rest), codes
		knees = append(knees, k)
	}
	return knees
}

// sweepKey identifies a sweep within a run.
type sweepKey struct {
	load      string
	direction record.Direction
}

// depthsOf returns one direction of steps as points in order of depth.
func depthsOf(steps []record.Step, d record.Direction) []depthPoint {
	var points []depthPoint
	for _, s := range steps {
		for _, r := range results(s) {
			if r.direction == d {
				points = append(points, depthPoint{s.Workload.InFlight(), r.IOPS, r.Mean, r.Quantile(0.99), r.Unsure(0.99)})
			}
		}
	}
	return byDepth(points)
}

// SweepName returns the load without its depth and jobs, such as "4 KiB random read".
// Knees reports the load under this name.
func SweepName(w record.Workload, d record.Direction) string {
	span := w.SpanPercent
	w.QueueDepth, w.Jobs, w.SpanPercent = 0, 1, 0
	text := w.String()
	name := text[:len(text)-len(", depth 0")]
	if span > 0 {
		name += fmt.Sprintf(", over %d %%", span)
	}
	if w.Direction == "" {
		name += ": " + string(d)
	}
	for _, key := range slices.Sorted(maps.Keys(w.Settings)) {
		name += fmt.Sprintf(", %s %s", key, w.Settings[key])
	}
	for _, target := range w.Targets {
		name += " on " + target
	}
	return name
}

// byDepth sorts the points by depth and merges points of one depth into their mean.
func byDepth(points []depthPoint) []depthPoint {
	slices.SortStableFunc(points, func(a, b depthPoint) int { return cmp.Compare(a.depth, b.depth) })
	var same groups[int, []depthPoint]
	for _, p := range points {
		add(&same, p.depth, p)
	}
	merged := make([]depthPoint, len(same.keys))
	for i, depth := range same.keys {
		repeats := *same.at(depth)
		sum, n := depthPoint{depth: depth}, len(repeats)
		for _, p := range repeats {
			sum.iops, sum.mean, sum.p99 = sum.iops+p.iops, sum.mean+p.mean, sum.p99+p.p99
			sum.unsure = sum.unsure || p.unsure
		}
		merged[i] = depthPoint{depth, sum.iops / float64(n), sum.mean / time.Duration(n), sum.p99 / time.Duration(n), sum.unsure}
	}
	return merged
}

// knee returns the first depth at which doubling the depth raises latency more than IOPS.
// By Little's law the depth is IOPS times latency, so this is where IOPS grow by less
// than the square root of the growth in depth. The next depth has to agree, unless it is
// the last one, so that a single disturbed step makes no knee.
func knee(points []depthPoint) record.Knee {
	deepest := points[len(points)-1]
	past := make([]bool, len(points))
	for i := range points {
		j := doubled(points, i)
		grown := math.Log(points[j].iops / points[i].iops)
		past[i] = j > i && grown < math.Log(float64(points[j].depth)/float64(points[i].depth))/2
	}
	for i := range points[:len(points)-1] {
		agrees := i+2 >= len(points) || past[i+1]
		if !past[i] || !agrees {
			continue
		}
		at := points[i]
		k := record.Knee{
			Depth: at.depth, IOPS: at.iops, Mean: at.mean, P99: at.p99, P99Unsure: at.unsure, Deepest: deepest.depth,
			IOPSGain: deepest.iops / at.iops,
		}
		if at.mean > 0 { // a job can do without latencies (gtod_reduce)
			k.LatencyGrowth = float64(deepest.mean) / float64(at.mean)
		}
		return k
	}
	return record.Knee{Deepest: deepest.depth}
}

// doubled returns the index of the first point with at least twice the depth of point i,
// or of the last point when there is none.
func doubled(points []depthPoint, i int) int {
	for j := i + 1; j < len(points); j++ {
		if points[j].depth >= 2*points[i].depth {
			return j
		}
	}
	return len(points) - 1
}
