package export

import "github.com/ssdprobe/ssdprobe/internal/record"

// reportFamilies returns the families about collectors. Their first labels are deviceLabels; device and id are empty
// for collectors of the whole node.
func reportFamilies() []family[[]record.CollectorStatus] {
	return []family[[]record.CollectorStatus]{
		metric("ssdprobe_collector_success", gauge, []string{"collector"},
			"1 if the last reading of this source succeeded, 0 if it failed. The sources are conditions, configuration, discovery, fleet, health, interrupts, io_latency, "+
				"kubernetes, state and traffic. device and id are empty for sources of the whole node. Collector fleet requests, renews "+
				"and releases leases to run at the API server; it has series while fleet.enabled is true. Collector kubernetes reports the "+
				"drives of this node to the API server.",
			func(all []record.CollectorStatus, emit emit) {
				for _, c := range all {
					emit(boolean(c.Success), c.Collector)
				}
			}),
		metric("ssdprobe_collector_duration_seconds", gauge, []string{"collector"},
			"Duration of the last reading of this source, in seconds. device and id are empty for sources of the whole node.",
			func(all []record.CollectorStatus, emit emit) {
				for _, c := range all {
					emit(c.Duration.Seconds(), c.Collector)
				}
			}),
	}
}
