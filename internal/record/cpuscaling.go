package record

import "time"

// CPUScaling is the result of one load on a rising number of CPUs.
type CPUScaling struct {
	Load string `json:"load"`
	Unit string `json:"unit"` // of the rates: "IOPS" or "B/s"
	// Points are in rising order of CPUs. Each point is the mean of its repeats.
	Points []CPUPoint `json:"points"`
	// EnoughAt is the smallest measured number of CPUs from which on the CPUs are never the limit; 0 when there is
	// none.
	EnoughAt int `json:"enough_at,omitempty"`
	// Limit is the limit at EnoughAt.
	Limit Limit `json:"limit,omitempty"`
}

// CPUPoint is the result of the load on one number of CPUs.
type CPUPoint struct {
	CPUs  int   `json:"cpus"`
	Cores int   `json:"cores"` // physical cores that the CPUs belong to
	Nodes []int `json:"nodes,omitempty"`

	Rate float64       `json:"rate"` // in CPUScaling.Unit
	Mean time.Duration `json:"mean_ns"`
	P99  time.Duration `json:"p99_ns"`
	// P99Unsure is true when too few I/Os support P99; see Result.Unsure.
	P99Unsure bool `json:"p99_unsure,omitempty"`
	// Used is the number of CPUs that the load generator used, user and system time together.
	Used  float64 `json:"used_cpus"`
	Limit Limit   `json:"limit"`
	// Codes are the codes of the warnings of its repeats if all of them measured something other than the drive, see
	// Step.Spoiled. The point then says nothing about the drive.
	Codes []string `json:"codes,omitempty"`
}
