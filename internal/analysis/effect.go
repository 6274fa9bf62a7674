package analysis

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/confidence"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Effects returns the effect of a setting on each load: every value of the setting
// compared with the first one that was measured. Two steps run the same load when they
// differ in nothing but the setting and the repeat. Steps that did not measure the drive
// alone decide nothing.
func Effects(steps []record.Step, setting string) []record.SettingEffect {
	type load struct {
		text      string
		direction record.Direction
	}
	type samples struct {
		iops, mean []float64
		codes      []string
	}
	var order []string // of the values: the first one that was measured may have steps that decide nothing
	for _, s := range steps {
		if s.Workload == nil {
			continue
		}
		if value, set := s.Workload.Settings[setting]; set && !slices.Contains(order, value) {
			order = append(order, value)
		}
	}
	var all groups[load, groups[string, samples]] // by the value of the setting
	for _, s := range calm(steps) {
		if s.Workload == nil {
			continue
		}
		value, set := s.Workload.Settings[setting]
		if !set {
			continue
		}
		for _, r := range results(s) {
			text := s.Workload.String()
			switch len(s.Parts) {
			case 0:
			case 1:
				text += ", " + s.Parts[0].Target + " alone"
			default:
				text += fmt.Sprintf(", %d devices", len(s.Parts))
			}
			got := all.at(load{text, r.direction}).at(value)
			got.iops, got.mean = append(got.iops, r.IOPS), append(got.mean, r.Mean.Seconds())
			got.codes = addSpoiled(got.codes, s)
		}
	}
	var effects []record.SettingEffect
	for _, l := range all.keys {
		values := all.at(l)
		measured := slices.SortedFunc(slices.Values(values.keys), func(a, b string) int {
			return cmp.Compare(slices.Index(order, a), slices.Index(order, b))
		})
		from := measured[0]
		before := values.at(from)
		for _, to := range measured[1:] {
			after := values.at(to)
			e := record.SettingEffect{
				Load: l.text, Direction: l.direction, Setting: setting, From: from, To: to, Codes: distinct(before.codes, after.codes),
				IOPS: confidence.Ratio(before.iops, after.iops), Latency: confidence.Ratio(before.mean, after.mean),
			}
			e.Judge()
			effects = append(effects, e)
		}
	}
	return effects
}
