package export

import "github.com/ssdprobe/ssdprobe/internal/record"

// nodeFamilies are those that no single target has.
func nodeFamilies(build Build) []family[record.Snapshot] {
	return []family[record.Snapshot]{
		{
			name: "ssdprobe_build_info", kind: gauge,
			help:   "What is running, as labels; always 1.",
			labels: []string{"version", "revision", "goversion"},
			series: func(_ record.Snapshot, emit emit) { emit(1, build.Version, build.Revision, build.GoVersion) },
		},
		{
			name: "ssdprobe_collector_success", kind: gauge,
			help:   "Whether the last reading of this source succeeded (1) or failed (0). device and id are empty for sources of the whole node.",
			labels: []string{"collector", "device", "id"},
			series: func(s record.Snapshot, emit emit) {
				eachCollector(s, func(c record.CollectorStatus, device, id string) {
					emit(boolean(c.Success), c.Collector, device, id)
				})
			},
		},
		{
			name: "ssdprobe_collector_duration_seconds", kind: gauge,
			help:   "How long the last reading of this source took. device and id are empty for sources of the whole node.",
			labels: []string{"collector", "device", "id"},
			series: func(s record.Snapshot, emit emit) {
				eachCollector(s, func(c record.CollectorStatus, device, id string) {
					emit(c.Duration.Seconds(), c.Collector, device, id)
				})
			},
		},
	}
}

// eachCollector visits the sources of the node and of each target, with the
// device and id labels that they have.
func eachCollector(s record.Snapshot, visit func(c record.CollectorStatus, device, id string)) {
	for _, c := range s.Collectors {
		visit(c, c.Device, "")
	}
	for _, t := range s.Targets {
		for _, c := range t.Collectors {
			visit(c, t.Device.Name, t.ID)
		}
	}
}
