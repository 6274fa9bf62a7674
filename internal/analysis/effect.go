package analysis

import "github.com/ssdprobe/ssdprobe/internal/record"

// Effects tells what a setting did to each load: every value of it against the
// first one that was measured. Loads are the same when nothing but the setting and
// the repeat differs.
func Effects(steps []record.Step, setting string) []record.SettingEffect {
	type load struct {
		text      string
		direction record.Direction
	}
	type samples struct{ iops, mean []float64 }
	var order []load
	values := map[load][]string{}
	all := map[load]map[string]*samples{}
	for _, s := range complete(steps) {
		if s.Workload == nil {
			continue
		}
		value, set := s.Workload.Settings[setting]
		if !set {
			continue
		}
		for _, r := range results(s) {
			l := load{s.Workload.String(), r.direction}
			if all[l] == nil {
				all[l] = map[string]*samples{}
				order = append(order, l)
			}
			if all[l][value] == nil {
				all[l][value] = &samples{}
				values[l] = append(values[l], value)
			}
			got := all[l][value]
			got.iops, got.mean = append(got.iops, r.IOPS), append(got.mean, r.Mean.Seconds())
		}
	}
	var effects []record.SettingEffect
	for _, l := range order {
		from := values[l][0]
		for _, to := range values[l][1:] {
			iops := ratioOf(all[l][from].iops, all[l][to].iops)
			effects = append(effects, record.SettingEffect{
				Load: l.text, Direction: l.direction, Setting: setting, From: from, To: to,
				IOPS: iops, Latency: ratioOf(all[l][from].mean, all[l][to].mean), Certain: excludes(iops, 1),
			})
		}
	}
	return effects
}
