package export

import "github.com/ssdprobe/ssdprobe/internal/record"

// nodeFamilies have one series per node.
func nodeFamilies(build Build) []family[record.Snapshot] {
	return []family[record.Snapshot]{
		{
			name: "ssdprobe_build_info", kind: gauge,
			help:   "What is running, as labels; always 1.",
			labels: []string{"version", "revision", "goversion"},
			series: func(_ record.Snapshot, emit emit) { emit(1, build.Version, build.Revision, build.GoVersion) },
		},
	}
}
