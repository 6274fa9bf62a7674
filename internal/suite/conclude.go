package suite

import (
	"reflect"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/settings"
)

// conclude returns the analysis of the steps; nil if there is nothing to say.
func conclude(s Suite, o Options, steps []record.Step) *record.Analysis {
	a := record.Analysis{
		Spreads:    analysis.Spreads(steps),
		Knees:      analysis.Knees(steps),
		Scalings:   analysis.Scalings(steps),
		Offsets:    analysis.Offsets(steps),
		Spans:      analysis.Spans(steps),
		CPUs:       analysis.CPUScalings(steps, o.machine()),
		Bounds:     analysis.Bounds(steps, o.machine()),
		Interrupts: analysis.InterruptRates(steps, string(settings.InterruptCoalescing)),
	}
	for _, name := range []string{string(settings.WriteCache), string(settings.InterruptCoalescing), polling, memoryParameter} {
		a.Effects = append(a.Effects, analysis.Effects(steps, name)...)
	}
	if s.rule != nil {
		a.Steady = analysis.Steadiness(analysis.RoundsOf(steps, nil), s.rule(o.Values))
		a.Spares = analysis.Spares(steps, s.rule(o.Values))
	}
	if s.costs != nil {
		a.CostModel = analysis.CostModel(steps, o.Warnings, s.costs(o.Values, o.Target))
	}
	if o.DataSheet != nil {
		a.DataSheet = analysis.Shares(steps, *o.DataSheet)
	}
	if reflect.ValueOf(a).IsZero() {
		return nil
	}
	return &a
}

// machine returns the limits against which results are judged. The link only counts for
// a single target with a single controller: several need not share one link.
func (o Options) machine() analysis.Machine {
	m := analysis.Machine{CPUs: o.Target.cpus()}
	if link := o.Target.Device.Link; link != nil && len(o.More) == 0 && len(o.Target.Device.Controllers) < 2 {
		m.LinkBytesPerSecond, m.LinkText = link.BytesPerSecond(), link.String()
	}
	nodes := map[string]bool{}
	for _, t := range o.targets() {
		nodes[cpuText(t.CPUs.CPUs)] = true
	}
	if len(nodes) > 1 {
		m.CPUs = 0
		for _, t := range o.targets() {
			if key := cpuText(t.CPUs.CPUs); nodes[key] {
				m.CPUs += t.cpus()
				nodes[key] = false
			}
		}
	}
	return m
}
