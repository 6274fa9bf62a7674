package export

import "github.com/ssdprobe/ssdprobe/internal/record"

// reportFamilies have series per target, led by deviceLabels, and for the whole
// node with device and id empty.
func reportFamilies() []family[[]record.CollectorStatus] {
	return []family[[]record.CollectorStatus]{
		{
			name: "ssdprobe_collector_success", kind: gauge,
			help:   "Whether the last reading of this source succeeded (1) or failed (0). device and id are empty for sources of the whole node. fleet is the API server, whenever a permit to run is asked for, renewed or given back, and 10 minutes after the last answer.",
			labels: []string{"collector"},
			series: func(all []record.CollectorStatus, emit emit) {
				for _, c := range all {
					emit(boolean(c.Success), c.Collector)
				}
			},
		},
		{
			name: "ssdprobe_collector_duration_seconds", kind: gauge,
			help:   "How long the last reading of this source took. device and id are empty for sources of the whole node.",
			labels: []string{"collector"},
			series: func(all []record.CollectorStatus, emit emit) {
				for _, c := range all {
					emit(c.Duration.Seconds(), c.Collector)
				}
			},
		},
	}
}
