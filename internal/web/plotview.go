package web

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

const (
	// plotSpan is the shortest time that a plot covers.
	plotSpan = 3 * time.Hour
	// plotGap is the distance, in blocks, beyond which two are not joined by a line.
	plotGap = 3
	// plotLeast keeps noise from filling the plot: the axis covers at least this factor slower and faster.
	plotLeast = 1.1
)

// addPlots adds the plot of its explanation to each probe.
func (v *targetView) addPlots(x report.Explained) {
	for i := range v.Probes {
		p := &v.Probes[i]
		at := slices.IndexFunc(x.Probes, func(e report.ProbeExplained) bool { return e.Probe == p.Name })
		if at >= 0 {
			p.Plot = newPlot(x.Probes[at].Explanation)
		}
	}
}

// newPlot plots the recent blocks of the statistic in the worst state against the baseline; nil when no block was
// judged. Ratios are on a logarithmic scale, so that twice as slow is as far from the baseline as twice as fast.
func newPlot(x drift.Explanation) *plot.Plot {
	if len(x.Statistics) == 0 {
		return nil
	}
	i := worstStatistic(x.Statistics)
	s := x.Statistics[i]
	x.Recent = slices.DeleteFunc(slices.Clone(x.Recent), func(b drift.Block) bool { return b.Ratios[i] == 0 }) // not judged
	if len(x.Recent) == 0 {
		return nil
	}
	until := x.Recent[len(x.Recent)-1].Time.Add(x.BlockLength)
	from := until.Add(-plotSpan)
	if first := x.Recent[0].Time; first.Before(from) {
		from = first
	}
	p := &plot.Plot{
		Height: 80,
		X:      plot.Axis{Label: "UTC", Scale: plot.Time, Room: &plot.Room{From: plot.Seconds(from), To: plot.Seconds(until)}},
		Y: plot.Axis{
			Label: s.Statistic.Short() + ", times", Scale: plot.Log10, Format: units.Ratio, Room: &plot.Room{From: 1 / plotLeast, To: plotLeast},
		},
		Series: series(x, i),
		Marks:  []plot.Mark{{Y: new(1.0), Label: "baseline"}},
	}
	low, high := x.Recent[0].Ratios[i], x.Recent[0].Ratios[i]
	for _, b := range x.Recent {
		low, high = min(low, b.Ratios[i]), max(high, b.Ratios[i])
	}
	p.Title = fmt.Sprintf("%s of the last %s: %s to %s slower than the baseline", s.Statistic.Short(),
		units.Plural(len(x.Recent), "block"), units.Ratio(low), units.Ratio(high))
	if s.NoiseUpper > 0 {
		normal := fmt.Sprintf("normal is %s to %s", units.Ratio(s.NoiseLower), units.Ratio(s.NoiseUpper))
		p.Title += "; " + normal
		p.Bands = []plot.Band{{From: cmp.Or(s.NoiseLower, 1), To: s.NoiseUpper, Label: normal, Left: true}}
	}
	if s.State.Drifts() {
		if s.Since.Before(from) {
			p.Title += "; it began before"
		} else {
			p.Marks = append(p.Marks, plot.Mark{X: new(plot.Seconds(s.Since)), Label: "onset"})
		}
	}
	return p
}

// series returns the recent blocks as lines between neighbours, points for those without neighbours, and marks on those with
// a slow round.
func series(x drift.Explanation, i int) []plot.Series {
	var points []plot.Point
	slow := plot.Series{Name: "blocks with a slow round", Shape: plot.Points, Colour: 5}
	for _, b := range x.Recent {
		p := plot.Point{X: plot.Seconds(b.Time.Add(x.BlockLength / 2)), Y: b.Ratios[i]}
		points = append(points, p)
		if b.Slow[i] {
			slow.Points = append(slow.Points, p)
		}
	}
	all := apart("", 1, points, (plotGap * x.BlockLength).Seconds())
	if len(slow.Points) > 0 {
		all = append(all, slow)
	}
	return all
}

// worstStatistic returns the index of the first statistic in the worst state.
func worstStatistic(list []drift.StatisticExplanation) int {
	for _, state := range []record.DriftState{record.Regressed, record.Suspect, record.Improved} {
		if i := slices.IndexFunc(list, func(s drift.StatisticExplanation) bool { return s.State == state }); i >= 0 {
			return i
		}
	}
	return 0
}
