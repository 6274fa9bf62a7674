package export

import (
	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// nodeFamilies have one series per node.
func nodeFamilies(build Build) []family[record.Snapshot] {
	return []family[record.Snapshot]{
		{
			name: "ssdprobe_build_info", kind: gauge,
			help:   "What is running, as labels; always 1.",
			labels: []string{"version", "revision", "goversion"},
			series: func(_ record.Snapshot, emit emit) { emit(1, build.Version, build.Revision, build.GoVersion) },
		},
		{
			name: "ssdprobe_config_file_changed", kind: gauge,
			help: "Whether the configuration file holds something else than what is in force (1): it was edited and not loaded, or refused. " +
				"Absent when there is no file, or it cannot be read.",
			series: func(s record.Snapshot, emit emit) { emitFlag(emit, s.ConfigChanged) },
		},
		{
			name: "ssdprobe_fallback_file_used", kind: gauge,
			help: "Whether a probe file in the state directory is written and measured (1) because no device may be watched and files is empty: " +
				"fallback_file: false in the configuration switches that off. Absent until devices were looked for.",
			series: func(s record.Snapshot, emit emit) { emitFlag(emit, s.FallbackUsed) },
		},
		{
			name: "ssdprobe_finding", kind: gauge,
			help: "What a person should know: always 1, and no series when nothing is to be said. The table below has the codes. severity is info, warning or critical. " +
				"probe is empty for a whole target, id for the node. Several findings of one code on one probe are one series.",
			labels: []string{"device", "id", "probe", "code", "severity"},
			series: func(s record.Snapshot, emit emit) {
				for _, f := range finding.Of(s) {
					emit(1, f.Device, f.TargetID, f.Probe, f.Code, f.Severity.String())
				}
			},
		},
		{
			name: "ssdprobe_quiet", kind: gauge,
			help:   "Whether quiet_hours of the configuration keep probes and runs by the calendar from starting now (1).",
			series: func(s record.Snapshot, emit emit) { emitFlag(emit, new(!s.QuietUntil.IsZero())) },
		},
	}
}
