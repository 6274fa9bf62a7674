package top

import (
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// remembered is how many samples are kept for each device.
const remembered = 300

// past holds what a device did in the last samples.
type past struct {
	iops, latency, inFlight []float64
}

func (p *past) add(r Row) {
	p.iops = remember(p.iops, r.IOPS())
	p.latency = remember(p.latency, float64(r.Latency()))
	p.inFlight = remember(p.inFlight, float64(r.InFlight))
}

func remember(values []float64, v float64) []float64 {
	values = append(values, v)
	return values[max(0, len(values)-remembered):]
}

// detail shows one device: what it does by operation, what the daemon says about it, and its recent past.
func detail(r Row, p *past, now time.Time, every time.Duration, width, height int) []Line {
	about := fmt.Sprintf("%s  %s %s", r.Device, r.Kind, r.Number)
	if r.Model != "" {
		about += "  " + r.Model
	}
	lines := append([]Line{line(Strong, about)}, wrap(toneOf(r), verdictText(r), width)...)
	lines = append(lines, stallLine(r, now), line(Strong, "             IOPS    MB/s  mean latency  p99 in the device"))
	for _, o := range record.Operations() {
		lines = append(lines, line(Plain, operationText(r, o)))
	}
	if r.Traffic.CoarseTimes {
		lines = append(lines, line(Faint, "The kernel counts the latencies of this device in ticks of 1 to 10 ms."))
	}
	plots := []struct {
		name   string
		values []float64
		text   func(float64) string
	}{
		{"IOPS", p.iops, units.IOPS},
		{"mean latency of all I/O", p.latency, func(v float64) string { return units.Latency(time.Duration(v)) }},
		{"in flight", p.inFlight, units.Number},
	}
	tall := min(6, max(1, (height-len(lines))/len(plots)-1))
	shown := min(width, len(p.iops))
	for _, plot := range plots {
		last := plot.values[len(plot.values)-shown:]
		lines = append(lines, line(Strong, fmt.Sprintf("%s: now %s, at most %s in the last %s",
			plot.name, plot.text(last[shown-1]), plot.text(slices.Max(last)), units.Span(time.Duration(shown)*every))))
		for _, text := range spark(plot.values, width, tall) {
			lines = append(lines, line(Plain, text))
		}
	}
	return lines
}

func verdictText(r Row) string {
	if r.Verdict == nil {
		return "no verdict: no reachable daemon watches it"
	}
	return report.DriveState(finding.Health{State: r.State, Partly: r.partly, Judgement: *r.Verdict}, units.Time)
}

func stallLine(r Row, now time.Time) Line {
	text := "no stall seen"
	tone := Plain
	if n := r.Stalls.Count; n > 0 {
		text, tone = fmt.Sprintf("%s in the last hour, %s together", units.Plural(n, "stall"), units.Span(r.Stalls.Length.Round(time.Second))), Warn
	}
	if s := r.Stall; s != nil {
		text, tone = fmt.Sprintf("nothing has completed since %s, for %s (%s); ", s.Start.Local().Format(time.TimeOnly),
			units.Span(now.Sub(s.Start).Round(time.Second)), s.Cause)+text, Bad
	}
	return line(tone, fmt.Sprintf("%d in flight; %s", r.InFlight, text))
}

func operationText(r Row, o record.Operation) string {
	w := r.Traffic.Work
	of := map[record.Operation][2]float64{
		record.OperationRead: {w.Reads, w.ReadBytes}, record.OperationWrite: {w.Writes, w.WrittenBytes},
		record.OperationDiscard: {w.Discards, -1}, record.OperationFlush: {w.Flushes, -1},
	}[o]
	bytes := none
	if of[1] >= 0 {
		bytes = rate(of[1]/1e6, 7)
	}
	return fmt.Sprintf("%-8s %8s %7s  %12s  %17s", o, rate(of[0], 8), bytes, latency(r.Traffic.Of(o).MeanLatency), latency(r.P99[o]))
}
