package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ssdprobe/ssdprobe/internal/confidence"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ScalingLimit is the linearity below which devices count as slowing each other down.
const ScalingLimit = 0.9

// Scalings returns for each load what every added device contributed. It uses the steps that have
// parts, in the order in which devices were added. A step with a single part measures that device
// alone, the first one in any case, and a load without such a step is left out. Steps that did not
// measure the devices alone decide nothing.
func Scalings(steps []record.Step) []record.Scaling {
	var loads groups[string, []record.Step]
	for _, s := range calm(steps) {
		if s.Workload == nil || len(s.Parts) == 0 {
			continue
		}
		add(&loads, LoadName(*s.Workload), s)
	}
	var all []record.Scaling
	for _, name := range loads.keys {
		if s, ok := scaling(*loads.at(name)); ok {
			s.Load = name
			all = append(all, s)
		}
	}
	return all
}

// LoadName returns the load with the settings that it ran under. Scalings reports the load under this
// name.
func LoadName(w record.Workload) string {
	name := w.String()
	for _, key := range slices.Sorted(maps.Keys(w.Settings)) {
		name += fmt.Sprintf(", %s %s", key, w.Settings[key])
	}
	return name
}

// scaling takes the mean of the repeats at each number of devices. It returns false when the first
// device was not measured alone.
func scaling(steps []record.Step) (record.Scaling, bool) {
	var counts groups[int, []record.Step]
	// All devices together begin with the first one, which may have no result alone.
	most := slices.MaxFunc(steps, func(a, b record.Step) int { return cmp.Compare(len(a.Parts), len(b.Parts)) })
	alone := aloneRuns{first: most.Parts[0].Target}
	for _, step := range steps {
		target := step.Parts[0].Target
		if len(step.Parts) == 1 {
			add(&alone.steps, target, step)
		}
		if len(step.Parts) > 1 || target == alone.first {
			add(&counts, len(step.Parts), step)
		}
	}
	if alone.steps.of[alone.first] == nil {
		return record.Scaling{}, false
	}
	first := alone.of(alone.first)
	w := *first[0].Workload
	s := record.Scaling{Limit: ScalingLimit, Alone: partRates(w, first)[0]}
	_, s.Unit = rateOf(w, first[0])
	for _, devices := range counts.keys {
		repeats := *counts.at(devices)
		step, rates, ideals := repeats[0], partRates(w, repeats), alone.rates(w, repeats[0])
		added := step.Parts[devices-1]
		p := record.ScalePoint{
			Devices: devices, Added: added.Target, Group: added.Group, Total: floats.Sum(rates), Ideal: floats.Sum(ideals),
			Slowest: slices.Min(rates), Fastest: slices.Max(rates),
		}
		p.Linearity = p.Total / p.Ideal
		for _, part := range step.Parts {
			for _, one := range slices.Concat(alone.of(part.Target), repeats) {
				p.Codes = addSpoiled(p.Codes, one)
			}
		}
		if devices > 1 {
			p.Lower, p.Upper = alone.linearity(w, repeats)
		}
		s.Points = append(s.Points, p)
		if p.Linearity < s.Limit && !p.Unclear(s.Limit) && len(p.Codes) == 0 && s.BreaksAt == 0 {
			s.BreaksAt = p.Devices
			s.Group, s.GroupRatio = slowestGroup(step, rates, ideals)
		}
	}
	return s, true
}

// aloneRuns holds the steps that measured a device alone, by its path.
type aloneRuns struct {
	first string
	steps groups[string, []record.Step]
}

// of returns the repeats of a device alone, or those of the first one in its place.
func (a *aloneRuns) of(target string) []record.Step {
	if repeats, measured := a.steps.of[target]; measured {
		return *repeats
	}
	return *a.steps.of[a.first]
}

// rates returns the mean rate alone of each device of a step.
func (a *aloneRuns) rates(w record.Workload, step record.Step) []float64 {
	var all []float64
	for _, part := range step.Parts {
		all = append(all, partRates(w, a.of(part.Target))[0])
	}
	return all
}

// linearity returns the bounds of the linearity of several devices, given the repeats of all of them
// together. Those of the devices alone are added up repeat by repeat.
func (a *aloneRuns) linearity(w record.Workload, repeats []record.Step) (lower, upper *float64) {
	n := len(a.of(a.first))
	for _, part := range repeats[0].Parts {
		n = min(n, len(a.of(part.Target)))
	}
	ideals := make([]float64, n)
	for _, part := range repeats[0].Parts {
		for i, step := range a.of(part.Target)[:n] {
			ideals[i] += partRates(w, []record.Step{step})[0]
		}
	}
	var totals []float64
	for _, step := range repeats {
		totals = append(totals, floats.Sum(partRates(w, []record.Step{step})))
	}
	i := confidence.Ratio(ideals, totals)
	return i.Lower, i.Upper
}

// partRates returns the mean rate of each part over the repeats of a step.
func partRates(w record.Workload, repeats []record.Step) []float64 {
	rates := make([]float64, len(repeats[0].Parts))
	for i := range rates {
		for _, step := range repeats {
			rate, _ := rateOf(w, record.Step{Read: step.Parts[i].Read, Write: step.Parts[i].Write})
			rates[i] += rate / float64(len(repeats))
		}
	}
	return rates
}

// slowestGroup returns the group whose devices lose the most, and the ratio of their rates to those alone.
func slowestGroup(step record.Step, rates, alone []float64) (group string, ratio float64) {
	together, ideal := map[string]float64{}, map[string]float64{}
	for i, part := range step.Parts {
		together[part.Group] += rates[i]
		ideal[part.Group] += alone[i]
	}
	for i, name := range slices.Sorted(maps.Keys(together)) {
		if kept := together[name] / ideal[name]; i == 0 || kept < ratio {
			group, ratio = name, kept
		}
	}
	return group, ratio
}
