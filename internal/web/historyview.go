package web

import (
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/history"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// pastView is the history of a drive over a span.
type pastView struct {
	// Spans are the spans to choose from.
	Spans []spanView
	// Plots are the plots of the chosen span; none while nothing is known.
	Plots []pastPlot
}

type spanView struct {
	Name   string
	Chosen bool
}

type pastPlot struct {
	*plot.Plot
	Caption string
}

// spanNamed returns the span with this name, or the day if there is none.
func spanNamed(name string) history.Span {
	for _, s := range history.Spans() {
		if s.Name == name {
			return s
		}
	}
	return history.Day()
}

func newPastView(t record.TargetStatus, past *history.History, span history.Span, now time.Time) pastView {
	var v pastView
	for _, s := range history.Spans() {
		v.Spans = append(v.Spans, spanView{s.Name, s == span})
	}
	c := canvas{past: past, span: span, now: now, marks: marksOf(t, now.Add(-span.Length()))}
	for _, p := range t.Probes {
		name := p.Probe.Name
		drawn := c.latency(name+": latency", line{name, history.P50, "p50"}, line{name, history.P99, "p99"})
		if b := learned(p); drawn != nil && b != nil && b.Values[record.LatencyP50] > 0 {
			drawn.Marks = append(slices.Clone(drawn.Marks), plot.Mark{Y: new(b.Values[record.LatencyP50]), Label: "baseline of p50"})
		}
		v.add(drawn, name+": the p50 of the good rounds, and the p99 of as many of the latest I/Os as it needs; a point is the mean of "+units.Span(span.Slot)+"."+doubtText(p))
	}
	v.add(c.latency("latency of the applications' I/O", line{record.SourceTraffic, history.ReadLatency, "reads"}, line{record.SourceTraffic, history.WriteLatency, "writes"}),
		"Applications: mean latency of their reads and writes.")
	v.add(c.rates("I/Os per second of applications", line{record.SourceTraffic, history.Reads, "reads"}, line{record.SourceTraffic, history.Writes, "writes"}),
		"Applications: their I/Os per second.")
	return v
}

// doubtText says why the latest figures may be wrong.
func doubtText(p record.ProbeStatus) string {
	words := doubts(p)
	if len(words) == 0 {
		return ""
	}
	return " ⚠ " + strings.Join(words, ", ")
}

func (v *pastView) add(p *plot.Plot, caption string) {
	if p != nil {
		v.Plots = append(v.Plots, pastPlot{p, caption})
	}
}

// marksOf returns marks for what happened to a drive after the given time: the onset of its verdict and changes of
// its conditions.
func marksOf(t record.TargetStatus, from time.Time) []plot.Mark {
	var marks []plot.Mark
	if j := t.Judged(); j.Verdict.Blames() && j.Since.After(from) {
		marks = append(marks, plot.Mark{X: new(plot.Seconds(j.Since)), Label: string(j.Verdict)})
	}
	names := map[time.Time]string{}
	var times []time.Time
	for _, c := range t.Conditions.List() {
		at, ok := t.Changed[c.Name]
		if !ok || !at.After(from) {
			continue
		}
		if names[at] == "" {
			times = append(times, at)
			names[at] = record.ConditionTitle(c.Name) + " changed"
		} else {
			names[at] = "conditions changed"
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	for _, at := range times {
		marks = append(marks, plot.Mark{X: new(plot.Seconds(at)), Label: names[at]})
	}
	return marks
}

// canvas draws the history over a span.
type canvas struct {
	past  *history.History
	span  history.Span
	now   time.Time
	marks []plot.Mark
}

// line is one series of a plot.
type line struct {
	source string
	figure history.Figure
	name   string
}

// latency returns a plot with a logarithmic axis, on which a factor of two has the same length everywhere. It is nil
// when there are no points.
func (c canvas) latency(title string, lines ...line) *plot.Plot {
	return c.plot(title, plot.Axis{Label: "latency", Scale: plot.Log10, Format: func(v float64) string {
		return units.Latency(time.Duration(v * float64(time.Second)))
	}}, lines)
}

func (c canvas) rates(title string, lines ...line) *plot.Plot {
	return c.plot(title, plot.Axis{Label: "I/Os per second", Zero: true}, lines)
}

func (c canvas) plot(title string, y plot.Axis, lines []line) *plot.Plot {
	from := c.now.Add(-c.span.Length())
	p := plot.Plot{
		Title: title + " over the last " + c.span.Name, Height: 150, Y: y, Marks: c.marks,
		X: plot.Axis{Label: "UTC", Scale: plot.Time, Room: &plot.Room{From: plot.Seconds(from), To: plot.Seconds(c.now)}},
	}
	var values []float64
	for i, l := range lines {
		var points []plot.Point
		for _, point := range c.past.Points(history.Key{Source: l.source, Figure: l.figure}, c.span, c.now) {
			points = append(points, plot.Point{X: plot.Seconds(point.Time), Y: point.Mean})
			values = append(values, point.Mean)
		}
		p.Series = append(p.Series, apart(l.name, i+1, points, gapOf(c.span))...)
	}
	if len(p.Series) == 0 {
		return nil
	}
	slices.Sort(values)
	if median := values[len(values)/2]; y.Scale == plot.Log10 && median > 0 { // noise must not fill the plot
		p.Y.Room = &plot.Room{From: median / leastShown, To: median * leastShown}
	}
	return &p
}

// leastShown is the factor around the median that the axis covers at least.
const leastShown = 1.5

// apart splits points at gaps of more than gap seconds into lines; a point without neighbours stays a point. Only the
// first part has the name.
func apart(name string, colour int, points []plot.Point, gap float64) []plot.Series {
	var all []plot.Series
	for i, p := range points {
		if i == 0 || p.X-points[i-1].X > gap {
			all = append(all, plot.Series{Name: name, Shape: plot.Points, Colour: colour})
			name = ""
		}
		last := &all[len(all)-1]
		last.Points = append(last.Points, p)
		if len(last.Points) > 1 {
			last.Shape = plot.Line
		}
	}
	return all
}

// gapOf returns the distance of neighbours, in seconds, beyond which they are not joined: two slots without a value
// between them.
func gapOf(span history.Span) float64 { return 3 * span.Slot.Seconds() }
