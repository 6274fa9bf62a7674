package record

import "time"

// CPUScaling is what one load does on rising numbers of CPUs.
type CPUScaling struct {
	Load string `json:"load"`
	Unit string `json:"unit"` // of the rates: "IOPS" or "B/s"
	// Points are in rising order of CPUs; repeats count as their mean.
	Points []CPUPoint `json:"points"`
	// EnoughAt is the number of CPUs from which on these are not the limit; 0 when that is never so.
	EnoughAt int `json:"enough_at,omitempty"`
	// Limit is what the limit is from there on.
	Limit Limit `json:"limit,omitempty"`
}

// CPUPoint is the load on some CPUs.
type CPUPoint struct {
	CPUs  int   `json:"cpus"`
	Cores int   `json:"cores"` // physical ones that they are of
	Nodes []int `json:"nodes,omitempty"`

	Rate float64       `json:"rate"` // in CPUScaling.Unit
	Mean time.Duration `json:"mean_ns"`
	P99  time.Duration `json:"p99_ns"`
	// Used is how many CPUs the load generator used, user and system time together.
	Used  float64 `json:"used_cpus"`
	Limit Limit   `json:"limit"`
}
