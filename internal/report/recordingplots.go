package report

import (
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/document"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// devicePlots returns the plots of a device: I/Os in flight, I/Os completed, and their latency.
func devicePlots(rec record.Recording, d record.DeviceRecording) []document.Plot {
	inFlight := plot.Series{Name: "in flight", Shape: plot.Line, Colour: 1}
	small := newSmall(fmt.Sprintf("%s: I/Os in flight at the end of each second", d.Device.Name))
	for _, s := range d.Seconds {
		inFlight.Points = append(inFlight.Points, plot.Point{X: plot.Seconds(s.Time), Y: float64(s.InFlight)})
		small.add(s.Time, float64(s.InFlight))
	}
	waiting := overTime(rec, "I/Os in flight", "I/Os", inFlight)
	done := newSmall(fmt.Sprintf("%s: I/Os completed in each second", d.Device.Name))
	slow := newSmall(fmt.Sprintf("%s: mean latency of the slowest operation of each second, ms", d.Device.Name))
	var completed, latencies []plot.Series
	for i, o := range record.Operations() {
		c := plot.Series{Name: string(o) + "s", Shape: plot.Line, Colour: i + 1}
		l := plot.Series{Name: string(o), Shape: plot.Points, Colour: i + 1}
		seen := false
		for _, s := range d.Seconds {
			served := s.Of(o)
			seen = seen || served.IOs > 0
			c.Points = append(c.Points, plot.Point{X: plot.Seconds(s.Time), Y: float64(served.IOs)})
			if served.MeanLatency > 0 {
				l.Points = append(l.Points, plot.Point{X: plot.Seconds(s.Time), Y: served.MeanLatency.Seconds() * 1e3})
			}
		}
		if seen {
			completed, latencies = append(completed, c), append(latencies, l)
		}
	}
	for _, s := range d.Seconds {
		done.add(s.Time, float64(s.IOs()))
		worst := time.Duration(0)
		for _, o := range record.Operations() {
			worst = max(worst, s.Of(o).MeanLatency)
		}
		slow.add(s.Time, worst.Seconds()*1e3)
	}
	plots := []document.Plot{{Drawing: waiting, Caption: "I/Os in flight at the end of each second.", Small: small.plot()}}
	if len(completed) > 0 {
		mean := overTime(rec, "mean latency of each second", "latency, ms", latencies...)
		mean.Y.Scale = plot.Log10
		plots = append(plots,
			document.Plot{Drawing: overTime(rec, "I/Os completed in each second", "I/Os", completed...), Caption: "I/Os completed in each second.", Small: done.plot()},
			document.Plot{Drawing: mean, Caption: "Mean latency of each second, with the wait in the kernel's queue.", Small: slow.plot()})
	}
	return plots
}

// hostSection shows the load of the host.
func hostSection(rec record.Recording) document.Section {
	small := newSmall("share of each second in which tasks of the host waited for I/O, %")
	shares := []struct {
		name string
		of   func(record.HostSecond) *float64
	}{
		{"tasks wait for I/O", func(h record.HostSecond) *float64 { return h.IOPressureSome }},
		{"all tasks wait for I/O", func(h record.HostSecond) *float64 { return h.IOPressureFull }},
		{"CPUs busy", func(h record.HostSecond) *float64 { return h.CPUBusy }},
		{"CPUs wait for I/O", func(h record.HostSecond) *float64 { return h.CPUWait }},
		{"CPUs taken away", func(h record.HostSecond) *float64 { return h.CPUSteal }},
	}
	var all []plot.Series
	for i, share := range shares {
		s := plot.Series{Name: share.name, Shape: plot.Line, Colour: i + 1}
		for _, h := range rec.Host {
			if v := share.of(h); v != nil {
				s.Points = append(s.Points, plot.Point{X: plot.Seconds(h.Time), Y: 100 * *v})
				if i == 0 {
					small.add(h.Time, 100**v)
				}
			}
		}
		if len(s.Points) > 0 {
			all = append(all, s)
		}
	}
	section := document.Section{ID: "host", Title: "The host"}
	if len(all) == 0 {
		section.Blocks = append(section.Blocks, document.Sentence("Nothing is known about the host."))
		return section
	}
	p := overTime(rec, "what the host did", "share of the time, %", all...)
	p.Y.Room = &plot.Room{From: 0, To: 10}
	section.Blocks = append(section.Blocks, document.Plot{Drawing: p, Caption: "Shares of the time: pressure (PSI), and all CPUs together.", Small: small.plot()})
	return section
}

// overTime returns a plot over the seconds of a recording, with a mark for each trigger.
func overTime(rec record.Recording, title, label string, series ...plot.Series) plot.Plot {
	p := plot.Plot{
		Title: title, Height: 120, Series: series,
		X: plot.Axis{Label: "UTC", Room: &plot.Room{From: plot.Seconds(rec.From), To: plot.Seconds(rec.Until)}, Whole: true, Format: func(v float64) string {
			return time.Unix(int64(v), 0).UTC().Format(time.TimeOnly)
		}},
		Y: plot.Axis{Label: label, Zero: true},
	}
	for i, t := range rec.Triggers {
		if i == 0 || !t.Time.Equal(rec.Triggers[i-1].Time) {
			p.Marks = append(p.Marks, plot.Mark{X: new(plot.Seconds(t.Time)), Label: string(t.Kind)})
		}
	}
	return p
}

// small collects the values of a plot for a terminal, which has fewer columns than there are
// seconds.
type small struct {
	caption string
	times   []time.Time
	values  []float64
}

// mostColumns is the largest number of values in a plot for a terminal.
const mostColumns = 60

func newSmall(caption string) *small { return &small{caption: caption} }

func (s *small) add(at time.Time, value float64) {
	s.times, s.values = append(s.times, at), append(s.values, value)
}

// plot returns the plot. When several seconds share a column, it shows the highest of their values.
func (s *small) plot() *plot.Small {
	n := len(s.values)
	each := max(1, (n+mostColumns-1)/mostColumns)
	p := &plot.Small{Caption: s.caption}
	if each > 1 {
		p.Caption += "; a column is the highest of " + units.Plural(each, "second")
	}
	for from := 0; from < n; from += each {
		highest := s.values[from]
		for _, v := range s.values[from:min(from+each, n)] {
			highest = max(highest, v)
		}
		p.Add(highest, s.times[from].UTC().Format(time.TimeOnly))
	}
	return p
}
