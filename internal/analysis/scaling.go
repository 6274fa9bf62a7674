package analysis

import (
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ScalingLimit is the linearity below which devices count as slowing each other down.
const ScalingLimit = 0.9

// Scalings returns for each load what every added device contributed. It uses the steps that have
// parts, in the order in which devices were added. The step with a single part measures the device
// alone, and a load without one is left out. Steps that did not measure the devices alone decide nothing.
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

// scaling takes the mean of the repeats at each number of devices. It returns false when no device was
// measured alone.
func scaling(steps []record.Step) (record.Scaling, bool) {
	var counts groups[int, []record.Step]
	for _, step := range steps {
		add(&counts, len(step.Parts), step)
	}
	alone := *counts.at(1)
	if len(alone) == 0 {
		return record.Scaling{}, false
	}
	w := *alone[0].Workload
	s := record.Scaling{Limit: ScalingLimit, Alone: partRates(w, alone)[0]}
	_, s.Unit = rateOf(w, alone[0])
	for _, devices := range counts.keys {
		repeats := *counts.at(devices)
		step, rates := repeats[0], partRates(w, repeats)
		added := step.Parts[devices-1]
		p := record.ScalePoint{
			Devices: devices, Added: added.Target, Group: added.Group,
			Slowest: slices.Min(rates), Fastest: slices.Max(rates),
		}
		for _, rate := range rates {
			p.Total += rate
		}
		for _, one := range slices.Concat(alone, repeats) {
			p.Codes = addSpoiled(p.Codes, one)
		}
		p.Linearity = p.Total / (float64(p.Devices) * s.Alone)
		if devices > 1 {
			p.Lower, p.Upper = linearity(w, alone, repeats)
		}
		s.Points = append(s.Points, p)
		if p.Linearity < s.Limit && !p.Unclear(s.Limit) && len(p.Codes) == 0 && s.BreaksAt == 0 {
			s.BreaksAt = p.Devices
			s.Group, s.GroupRatio = slowestGroup(step, rates, s.Alone)
		}
	}
	return s, true
}

// linearity returns the bounds of the linearity of several devices, given the repeats of the first one
// alone and of all of them together.
func linearity(w record.Workload, alone, repeats []record.Step) (lower, upper *float64) {
	totals := func(steps []record.Step, times int) (all []float64) {
		for _, s := range steps {
			total := 0.0
			for _, rate := range partRates(w, []record.Step{s}) {
				total += rate * float64(times)
			}
			all = append(all, total)
		}
		return all
	}
	i := ratioOf(totals(alone, len(repeats[0].Parts)), totals(repeats, 1))
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

// slowestGroup returns the group whose devices have the lowest mean rate, and the ratio of that mean
// to the rate of one device alone.
func slowestGroup(step record.Step, rates []float64, alone float64) (group string, ratio float64) {
	members := map[string][]float64{}
	for i, part := range step.Parts {
		members[part.Group] = append(members[part.Group], rates[i])
	}
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if mean := stat.Mean(members[name], nil); i == 0 || mean/alone < ratio {
			group, ratio = name, mean/alone
		}
	}
	return group, ratio
}
