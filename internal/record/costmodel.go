package record

import "time"

// CostModel is the linear cost model of the kernel's io.cost controller for a device (Documentation/admin-guide/cgroup-v2.rst,
// block/blk-iocost.c), measured by the method of the kernel's tools/cgroup/iocost_coef_gen.py.
type CostModel struct {
	// Device is the device number of the whole disk under which io.cost lists it, such as "259:0"; empty when it is
	// not known.
	Device string `json:"device,omitempty"`
	// Coefficients are in the order of the model line. Those that were not measured are left out.
	Coefficients []CostCoefficient `json:"coefficients"`
	// Read and Write are the latencies for io.cost.qos. They are nil when they were not measured, or when the repeats
	// differ too much.
	Read  *CostLatency `json:"read_latency,omitempty"`
	Write *CostLatency `json:"write_latency,omitempty"`
	// ModelLine and QoSLine are the lines to write to io.cost.model and io.cost.qos of the root cgroup. Both are
	// empty when Withheld is not, which says what is missing.
	ModelLine string   `json:"model_line,omitempty"`
	QoSLine   string   `json:"qos_line,omitempty"`
	Withheld  []string `json:"withheld,omitempty"`
	// Learned holds the costs by which the daemon judges the device; nil when it has not learned any.
	Learned *LearnedCosts `json:"learned,omitempty"`
}

// HasLines reports whether the model has its lines, and the latencies that one of them was made from. A file that was not
// written by ssdprobe may have some of these without the others.
func (m CostModel) HasLines() bool {
	return m.ModelLine != "" && m.QoSLine != "" && m.Read != nil && m.Write != nil
}

// CostCoefficient is one of the six coefficients of the model.
type CostCoefficient struct {
	Name string `json:"name"` // rbps, rseqiops, rrandiops, wbps, wseqiops or wrandiops
	Unit string `json:"unit"` // "B/s" or "IOPS"
	// Of is the spread over the repeats that count, which are Repeats many. LeftOut is the number of repeats that do
	// not count, and Codes are the codes of the reasons.
	Of      SpreadOf `json:"of"`
	Repeats int      `json:"repeats"`
	LeftOut int      `json:"left_out,omitempty"`
	Codes   []string `json:"codes,omitempty"`
	// CPUBound is true when the CPU was the limit in one of the repeats, so that the device can do more.
	CPUBound bool `json:"cpu_bound,omitempty"`
}

// CostLatency is a latency percentile at saturation.
type CostLatency struct {
	Percentile float64       `json:"percentile"` // 0 to 100
	Latency    time.Duration `json:"latency_ns"`
	// Unsure is true when too few I/Os support the percentile; see Supported.
	Unsure bool `json:"unsure,omitempty"`
}

// LearnedCosts says for how many seconds one I/O of the device's users keeps it busy, as package drift learned it: a
// fixed cost for each I/O, and a cost for each KiB.
type LearnedCosts struct {
	Target  string  `json:"target"` // the id of the target
	Source  string  `json:"source"` // the probe beside which the costs were learned, or SourceTraffic
	Read    float64 `json:"read_seconds"`
	Write   float64 `json:"write_seconds"`
	ReadKiB float64 `json:"read_kib_seconds"`
	// WrittenKiB is the cost of each KiB written.
	WrittenKiB float64 `json:"written_kib_seconds"`
}

// Coefficient returns the coefficient of this name, or false when it was not measured.
func (m *CostModel) Coefficient(name string) (CostCoefficient, bool) {
	for _, c := range m.Coefficients {
		if c.Name == name && c.Repeats > 0 {
			return c, true
		}
	}
	return CostCoefficient{}, false
}

// Cost returns the cost of an I/O by the model, in seconds of a device that does nothing else. Each page of 4 KiB
// costs 4096/bps. The I/O itself costs what a 4 KiB I/O takes beyond its page (calc_lcoefs in block/blk-iocost.c). It
// returns false when the coefficients were not measured.
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

// Cost returns the cost of an I/O by the learned costs, in seconds.
func (l LearnedCosts) Cost(d Direction, bytes int64) float64 {
	if d == Write {
		return l.Write + l.WrittenKiB*float64(bytes)/1024
	}
	return l.Read + l.ReadKiB*float64(bytes)/1024
}
