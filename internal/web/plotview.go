package web

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

const (
	plotWidth, plotHeight = 720, 90
	// plotSpan is the least time on show; blockSpan is that of a block.
	plotSpan, blockSpan = 3 * time.Hour, 5 * time.Minute
	// plotGap is from where on blocks are not joined by a line.
	plotGap = 3 * blockSpan
	// plotLeast keeps noise from filling the plot: at least so much slower and faster is on show.
	plotLeast = 1.1
)

// plotView is a plot of recent blocks against the baseline. Its numbers are units of
// its drawing, plotWidth by plotHeight.
type plotView struct {
	Width, Height int
	Tone          tone
	// Label says in words what the drawing shows.
	Label, Caption string
	High, Low      string
	Base           string
	Band           *bandView
	Lines          []string // points of polylines
	Dots           []pointView
	Slow           []string // x of blocks with a slow round
	Onset          string   // x; empty when it is not on show
}

type (
	bandView  struct{ Y, Height string }
	pointView struct{ X, Y string }
)

// addPlots adds to each probe the plot of what is explained of it.
func (v *view) addPlots(s record.Snapshot, explain func(id string) (report.Explained, bool)) {
	for i, t := range s.Targets {
		x, ok := explain(t.ID)
		if !ok {
			continue
		}
		for j := range v.Targets[i].Probes {
			p := &v.Targets[i].Probes[j]
			at := slices.IndexFunc(x.Probes, func(e report.ProbeExplained) bool { return e.Probe == p.Name })
			if at >= 0 {
				p.Plot = newPlotView(x.Probes[at].Explanation)
			}
		}
	}
}

// newPlotView plots the statistic in the worst state; nil when no block was judged.
func newPlotView(x drift.Explanation) *plotView {
	if len(x.Recent) == 0 || len(x.Statistics) == 0 {
		return nil
	}
	i := worstStatistic(x.Statistics)
	s := x.Statistics[i]
	ratios := make([]float64, len(x.Recent))
	for k, b := range x.Recent {
		ratios[k] = b.Ratios[i]
	}
	last := x.Recent[len(x.Recent)-1].Time
	from := last.Add(blockSpan - plotSpan)
	if first := x.Recent[0].Time; first.Before(from) {
		from = first
	}
	low, high := slices.Min(ratios), slices.Max(ratios)
	d := drawing{
		from: from, span: last.Add(blockSpan).Sub(from),
		low: min(1/plotLeast, low, cmp.Or(s.NoiseLower, 1)), high: max(plotLeast, high, s.NoiseUpper),
	}
	v := &plotView{
		Width: plotWidth, Height: plotHeight, Tone: stateTone(s.State), Base: d.y(1), High: units.Ratio(d.high), Low: units.Ratio(d.low),
	}
	v.Label = fmt.Sprintf("%s of the last %s of five minutes: %s to %s slower than the baseline", s.Statistic.Short(),
		units.Plural(len(ratios), "block"), units.Ratio(low), units.Ratio(high))
	caption := []string{fmt.Sprintf("%s since %s UTC against the baseline, load taken out", s.Statistic.Short(), from.UTC().Format("15:04"))}
	if s.NoiseUpper > 0 {
		v.Band = &bandView{Y: d.y(s.NoiseUpper), Height: number(d.position(s.NoiseLower) - d.position(s.NoiseUpper))}
		v.Label += fmt.Sprintf("; normal is %s to %s", units.Ratio(s.NoiseLower), units.Ratio(s.NoiseUpper))
		caption = append(caption, "band: what is normal")
	}
	if drifting := s.State != record.Stable && s.State != record.Learning; drifting && !s.Since.Before(from) {
		v.Onset = d.x(s.Since)
		caption = append(caption, "dashed: the onset")
	} else if drifting {
		caption = append(caption, "it began before")
	}
	v.draw(d, x.Recent, i)
	if len(v.Slow) > 0 {
		caption = append(caption, "marks on top: blocks with a slow round")
	}
	v.Caption = strings.Join(caption, "; ")
	return v
}

// draw adds the blocks: lines between neighbours, and dots for those without.
func (v *plotView) draw(d drawing, blocks []drift.Block, i int) {
	for len(blocks) > 0 {
		n := 1
		for n < len(blocks) && blocks[n].Time.Sub(blocks[n-1].Time) <= plotGap {
			n++
		}
		points := make([]string, n)
		for k, b := range blocks[:n] {
			middle := b.Time.Add(blockSpan / 2)
			points[k] = d.x(middle) + "," + d.y(b.Ratios[i])
			if b.Slow[i] {
				v.Slow = append(v.Slow, d.x(middle))
			}
		}
		if n > 1 {
			v.Lines = append(v.Lines, strings.Join(points, " "))
		} else {
			v.Dots = append(v.Dots, pointView{d.x(blocks[0].Time.Add(blockSpan / 2)), d.y(blocks[0].Ratios[i])})
		}
		blocks = blocks[n:]
	}
}

// worstStatistic is the first of those in the worst state.
func worstStatistic(list []drift.StatisticExplanation) int {
	for _, state := range []record.DriftState{record.Regressed, record.Suspect, record.Improved} {
		if i := slices.IndexFunc(list, func(s drift.StatisticExplanation) bool { return s.State == state }); i >= 0 {
			return i
		}
	}
	return 0
}

// drawing places times and ratios. Ratios are on a logarithmic scale: twice as slow
// is as far from the baseline as twice as fast.
type drawing struct {
	from      time.Time
	span      time.Duration
	low, high float64
}

func (d drawing) x(t time.Time) string {
	return number(float64(plotWidth) * float64(t.Sub(d.from)) / float64(d.span))
}

func (d drawing) y(ratio float64) string { return number(d.position(ratio)) }

func (d drawing) position(ratio float64) float64 {
	return float64(plotHeight) * math.Log(d.high/ratio) / math.Log(d.high/d.low)
}

// number writes a coordinate to a tenth.
func number(v float64) string { return fmt.Sprintf("%.1f", v) }
