package record

import "time"

// CostModel is the linear cost model of the kernel's io.cost controller for a device (Documentation/admin-guide/cgroup-v2.rst,
// block/blk-iocost.c), measured by the method of the kernel's tools/cgroup/iocost_coef_gen.py.
type CostModel struct {
	// Device is the number of the whole disk, "259:0", under which io.cost has it; empty when it is not known.
	Device string `json:"device,omitempty"`
	// Coefficients are in the order of the line; those that were not measured are left out.
	Coefficients []CostCoefficient `json:"coefficients"`
	// Read and Write are the latencies of io.cost.qos; nil when they were not measured, or their repeats lie too far apart.
	Read  *CostLatency `json:"read_latency,omitempty"`
	Write *CostLatency `json:"write_latency,omitempty"`
	// ModelLine and QoSLine are what io.cost.model and io.cost.qos of the root cgroup take; both are empty when Withheld
	// says what they lack.
	ModelLine string   `json:"model_line,omitempty"`
	QoSLine   string   `json:"qos_line,omitempty"`
	Withheld  []string `json:"withheld,omitempty"`
	// Learned are the costs by which the daemon judges the device; nil when it has learned none.
	Learned *LearnedCosts `json:"learned,omitempty"`
}

// CostCoefficient is one of the six figures of the model.
type CostCoefficient struct {
	Name string `json:"name"` // rbps, rseqiops, rrandiops, wbps, wseqiops or wrandiops
	Unit string `json:"unit"` // "B/s" or "IOPS"
	// Of is over the repeats that count, and LeftOut how many do not, for the reasons whose codes are Codes.
	Of      SpreadOf `json:"of"`
	Repeats int      `json:"repeats"`
	LeftOut int      `json:"left_out,omitempty"`
	Codes   []string `json:"codes,omitempty"`
	// CPUBound says that the CPU was the limit in one of them, so that the device can do more.
	CPUBound bool `json:"cpu_bound,omitempty"`
}

// CostLatency is a percentile of the latency at saturation.
type CostLatency struct {
	Percentile float64       `json:"percentile"` // 0 to 100
	Latency    time.Duration `json:"latency_ns"`
	// Unsure says that too few I/Os stand for it, see Supported.
	Unsure bool `json:"unsure,omitempty"`
}

// LearnedCosts are the seconds for which an I/O of the device's users keeps it busy, as drift has learned them: so many for
// each I/O, and so many for each KiB of it.
type LearnedCosts struct {
	Target  string  `json:"target"` // its id
	Source  string  `json:"source"` // the probe that they were learned beside, or "traffic"
	Read    float64 `json:"read_seconds"`
	Write   float64 `json:"write_seconds"`
	ReadKiB float64 `json:"read_kib_seconds"`
	// WrittenKiB is for each KiB written.
	WrittenKiB float64 `json:"written_kib_seconds"`
}

// Coefficient returns one of the six by its name; false when it was not measured.
func (m *CostModel) Coefficient(name string) (CostCoefficient, bool) {
	for _, c := range m.Coefficients {
		if c.Name == name && c.Repeats > 0 {
			return c, true
		}
	}
	return CostCoefficient{}, false
}

// Cost is what an I/O of a direction and pattern costs by the model, as a share of a second in which the device does
// nothing else: each page of 4 KiB takes 1/bps of it, and the I/O as such what a 4 KiB I/O takes beyond its page
// (calc_lcoefs in block/blk-iocost.c). It is false when the coefficients for it were not measured.
func (m *CostModel) Cost(d Direction, p Pattern, bytes int64) (seconds float64, ok bool) {
	const page = 4096
	prefix, kind := "r", "seqiops"
	if d == Write {
		prefix = "w"
	}
	if p == Random {
		kind = "randiops"
	}
	bps, known := m.Coefficient(prefix + "bps")
	iops, alsoKnown := m.Coefficient(prefix + kind)
	if !known || !alsoKnown || bps.Of.Mean.Value <= 0 || iops.Of.Mean.Value <= 0 {
		return 0, false
	}
	perPage := page / bps.Of.Mean.Value
	return max(0, 1/iops.Of.Mean.Value-perPage) + perPage*float64(bytes)/page, true
}

// Cost is what an I/O costs by what was learned.
func (l LearnedCosts) Cost(d Direction, bytes int64) float64 {
	if d == Write {
		return l.Write + l.WrittenKiB*float64(bytes)/1024
	}
	return l.Read + l.ReadKiB*float64(bytes)/1024
}
