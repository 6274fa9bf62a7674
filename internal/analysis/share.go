package analysis

import "github.com/ssdprobe/ssdprobe/internal/record"

// SweepName is what a load is called whatever its depth and jobs: the name under
// which Knees has it.
func SweepName(w record.Workload, d record.Direction) string { return sweepName(w, d) }
