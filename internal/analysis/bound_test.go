package analysis_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestBounds(t *testing.T) {
	gen3 := analysis.Machine{CPUs: 16, LinkBytesPerSecond: 3.938e9, LinkText: "8 GT/s x4"}
	load := func(depth, jobs int, bytes, cpu float64) step {
		s := randomRead(depth, bytes/4096)
		s.Workload.Jobs, s.UserCPU, s.SystemCPU = jobs, cpu/4, 3*cpu/4
		return s
	}
	for _, c := range []struct {
		step    step
		machine analysis.Machine
		limit   record.Limit
		text    string
	}{
		{load(32, 4, 1e9, 3.8), gen3, record.LimitCPU, "the load generator used 3.80 of the 4 CPUs that its jobs could use"},
		{load(32, 32, 1e9, 14.8), gen3, record.LimitCPU, "the load generator used 14.80 of the 16 CPUs that its jobs could use"},
		{load(32, 4, 3.4e9, 1), gen3, record.LimitLink, "3 400 MB/s are 86 % of what the PCIe link (8 GT/s x4) carries"},
		{load(1, 1, 50e6, 0.2), gen3, record.LimitLatency, "one I/O at a time, which takes 81.9 µs on average"},
		{load(32, 4, 1.9e9, 2), gen3, record.LimitDevice, "neither the CPUs (50 % used) nor the PCIe link (48 % used)"},
		{load(32, 4, 3.4e9, 1), analysis.Machine{CPUs: 2}, record.LimitDevice, "neither the CPUs (50 % used) nor a known link"},
	} {
		got := analysis.Bounds([]step{c.step}, c.machine)[0]
		assert.Equal(t, []any{c.limit, c.text}, []any{got.Limit, got.Evidence})
		assert.Equal(t, c.machine.LinkBytesPerSecond > 0, got.LinkShare != nil)
	}
	warned := load(32, 4, 1e9, 1)
	warned.Warnings = []record.Warning{{Code: record.WarnCPUBound}}
	assert.Equal(t, record.LimitCPU, analysis.Bounds([]step{warned}, gen3)[0].Limit)
	warned.Warnings = []record.Warning{{Code: record.WarnDisturbed}}
	assert.Equal(t, []record.Bound{{
		Step: warned.Name, Limit: record.LimitOthers, CPUShare: new(0.25), LinkShare: new(1e9 / 3.938e9),
		Evidence: "the jobs had to wait for a CPU, see the step's warning",
	}}, analysis.Bounds([]step{warned}, gen3))
	warned.Disturbance.CPUWaitRatio = 0.24
	assert.Equal(t, "the jobs waited for a CPU for 24 % of the time", analysis.Bounds([]step{warned}, gen3)[0].Evidence)
	durable := load(1, 1, 50e6, 0.2)
	durable.Read, durable.Write, durable.Sync = nil, durable.Read, &record.Result{Mean: time.Millisecond}
	assert.Equal(t, "one write at a time, which takes 1.08 ms on average with its sync", analysis.Bounds([]step{durable}, gen3)[0].Evidence)
	paced := load(1, 1, 1e6, 0.1)
	paced.Workload, paced.Depth = nil, &record.Depth{Asked: 1, Mean: 0.1, Limit: record.DepthJob, Evidence: "the jobs pace their I/Os (rate_iops=250)"}
	assert.Equal(t, record.Bound{
		Step: paced.Name, Limit: record.LimitJob, CPUShare: new(0.1 / 16), LinkShare: new(1e6 / 3.938e9), Evidence: "the jobs pace their I/Os (rate_iops=250)",
	}, analysis.Bounds([]step{paced}, gen3)[0])
	assert.Empty(t, analysis.Bounds([]step{{Name: "nothing"}}, gen3))
}

func TestInterruptRates(t *testing.T) {
	known, unknown := randomRead(128, 400_000), randomRead(1, 10_000)
	known.InterruptsPerIO, known.Workload.Settings = 0.25, map[string]string{"interrupt coalescing": "10/100µs"}
	assert.Equal(t, []record.InterruptRate{{Step: "random-read-qd128", Setting: "10/100µs", PerIO: 0.25, PerSecond: 100_000}},
		analysis.InterruptRates([]step{known, unknown}, "interrupt coalescing"))
}

// Figures that cannot be true are not a result for any of the analyses.
func TestNothingIsConcludedFromTheImpossible(t *testing.T) {
	var steps []step
	for _, depth := range []int{1, 2, 4, 8, 16} {
		s := impossible(randomRead(depth, 1e6*float64(depth)))
		s.Series, s.Workload.Round, s.InterruptsPerIO = "a", depth, 1
		steps = append(steps, s, s)
	}
	assert.Empty(t, analysis.Knees(steps))
	assert.Empty(t, analysis.Spreads(steps))
	assert.Empty(t, analysis.Bounds(steps, analysis.Machine{CPUs: 1}))
	assert.Empty(t, analysis.InterruptRates(steps, ""))
	assert.Empty(t, analysis.Shares(steps, record.DataSheet{RandomReadIOPS: &record.Promise[float64]{Value: 1e6}})[0].Step)
	assert.Nil(t, analysis.Steadiness(steps, analysis.PTS()))
}
