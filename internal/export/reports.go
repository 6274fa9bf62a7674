package export

import "github.com/ssdprobe/ssdprobe/internal/record"

// reports are what the node, or one target, says of how well it can be watched.
type reports struct {
	collectors []record.CollectorStatus
	warnings   []warning
}

// warning is the code of a record.Warning, with the probe whose last round
// carries it; the probe is empty for those of a whole target or node.
type warning struct{ probe, code string }

func nodeReports(s record.Snapshot) reports {
	return reports{collectors: s.Collectors, warnings: warnings(nil, "", s.Warnings)}
}

func targetReports(t record.TargetStatus) reports {
	all := warnings(nil, "", t.Warnings)
	for _, p := range t.Probes {
		if p.Last != nil {
			all = warnings(all, p.Probe.Name, p.Last.Warnings)
		}
	}
	return reports{collectors: t.Collectors, warnings: all}
}

// duplicate is the report on a target that came twice, or on its probe that did.
func duplicate(probe string) reports {
	return reports{warnings: []warning{{probe: probe, code: record.WarnDuplicate}}}
}

func warnings(all []warning, probe string, more []record.Warning) []warning {
	for _, w := range more {
		all = append(all, warning{probe: probe, code: w.Code})
	}
	return all
}

// reportFamilies have series per target, led by deviceLabels, and for the whole
// node with device and id empty.
func reportFamilies() []family[reports] {
	return []family[reports]{
		{
			name: "ssdprobe_collector_success", kind: gauge,
			help:   "Whether the last reading of this source succeeded (1) or failed (0). device and id are empty for sources of the whole node. fleet is the API server, whenever a permit to run is asked for, renewed or given back, and 10 minutes after the last answer.",
			labels: []string{"collector"},
			series: func(r reports, emit emit) {
				for _, c := range r.collectors {
					emit(boolean(c.Success), c.Collector)
				}
			},
		},
		{
			name: "ssdprobe_collector_duration_seconds", kind: gauge,
			help:   "How long the last reading of this source took. device and id are empty for sources of the whole node.",
			labels: []string{"collector"},
			series: func(r reports, emit emit) {
				for _, c := range r.collectors {
					emit(c.Duration.Seconds(), c.Collector)
				}
			},
		},
		{
			name: "ssdprobe_warning", kind: gauge,
			help: "A reason why figures may be wrong, as the label code; always 1, and no series without one. " +
				"probe names whose last round carries it, and is empty when all of the target is meant; device and id are empty when all of the node is.",
			labels: []string{"probe", "code"},
			series: func(r reports, emit emit) {
				for _, w := range r.warnings {
					emit(1, w.probe, w.code)
				}
			},
		},
	}
}
