package analysis

import (
	"maps"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ScalingLimit is the linearity below which devices slow each other down.
const ScalingLimit = 0.9

// Scalings tells for each load what every added device brought. Steps belong to it
// that have parts, in the order in which devices were added; the one with a single
// part is the device alone, without which there is nothing to compare with.
func Scalings(steps []record.Step) []record.Scaling {
	var loads groups[string, []record.Step]
	for _, s := range complete(steps) {
		if s.Workload == nil || len(s.Parts) == 0 {
			continue
		}
		same := loads.at(s.Workload.String())
		*same = append(*same, s)
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

func scaling(steps []record.Step) (record.Scaling, bool) {
	alone := slices.IndexFunc(steps, func(s record.Step) bool { return len(s.Parts) == 1 })
	if alone < 0 {
		return record.Scaling{}, false
	}
	w := *steps[alone].Workload
	s := record.Scaling{Limit: ScalingLimit}
	s.Alone, s.Unit = rateOf(w, steps[alone])
	for _, step := range steps {
		rates := partRates(w, step)
		added := step.Parts[len(step.Parts)-1]
		p := record.ScalePoint{
			Devices: len(step.Parts), Added: added.Target, Group: added.Group,
			Slowest: slices.Min(rates), Fastest: slices.Max(rates),
		}
		for _, rate := range rates {
			p.Total += rate
		}
		p.Linearity = p.Total / (float64(p.Devices) * s.Alone)
		s.Points = append(s.Points, p)
		if p.Linearity < s.Limit && s.BreaksAt == 0 {
			s.BreaksAt = p.Devices
			s.Group, s.GroupRatio = slowestGroup(step, rates, s.Alone)
		}
	}
	return s, true
}

func partRates(w record.Workload, step record.Step) []float64 {
	rates := make([]float64, len(step.Parts))
	for i, part := range step.Parts {
		rates[i], _ = rateOf(w, record.Step{Read: part.Read, Write: part.Write})
	}
	return rates
}

// slowestGroup returns the group whose devices have the lowest mean rate, and that
// mean over the rate of one alone.
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
