package record_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func link(gts float64, lanes int) record.PCIeLink {
	return record.PCIeLink{CurrentGTs: gts, MaxGTs: gts, CurrentLanes: lanes, MaxLanes: lanes}
}

// The bandwidth of one direction after line encoding, as it follows from the lane rates of the specification.
func TestBandwidthOfLinks(t *testing.T) {
	for _, c := range []struct {
		gts   float64
		lanes int
		want  float64 // GB/s
	}{{2.5, 1, 0.25}, {5, 1, 0.5}, {8, 1, 0.985}, {16, 1, 1.969}, {32, 1, 3.938}, {32, 4, 15.754}, {64, 1, 7.563}, {0, 0, 0}} {
		assert.InDelta(t, c.want, link(c.gts, c.lanes).BytesPerSecond()/1e9, 0.001, "%g GT/s x%d", c.gts, c.lanes)
	}
}

func TestImpossible(t *testing.T) {
	gen3, gen5 := link(8, 4), link(32, 4)
	slowed := gen5
	slowed.CurrentGTs, slowed.CurrentLanes = 2.5, 1
	for name, c := range map[string]struct {
		link    record.PCIeLink
		rate    float64 // MB/s
		block   int64
		typical time.Duration
		says    string // empty when the figures are possible
	}{
		"a good drive":                      {gen3, 3_500, 128 << 10, 90 * time.Microsecond, ""},
		"all that the link carries":         {gen3, 3_938, 128 << 10, 90 * time.Microsecond, ""},
		"a million reads through Gen3 x4":   {gen3, 4_096, 4 << 10, 80 * time.Microsecond, "4096 MB/s is more than the PCIe link (8 GT/s x4) can carry, 3938 MB/s"},
		"the same through Gen5 x4":          {gen5, 4_096, 4 << 10, 80 * time.Microsecond, ""},
		"Gen5 that trained as Gen1":         {slowed, 4_096, 4 << 10, 80 * time.Microsecond, "link (2.5 GT/s x1)"},
		"faster than the bus":               {gen3, 1_000, 4 << 10, 2 * time.Microsecond, "a median latency of 2.00 µs is less than the 2.04 µs that 4096 bytes take"},
		"as fast as the bus":                {gen3, 1_000, 4 << 10, 2100 * time.Nanosecond, ""},
		"a latency that is not known":       {gen3, 1_000, 4 << 10, 0, ""},
		"a link that is down":               {link(0, 0), 1_000, 4 << 10, time.Nanosecond, ""},
		"a link that an emulator made up":   {link(2.5, 1), 1_000, 4 << 10, time.Microsecond, ""},
		"a wide slow link is one all right": {link(2.5, 4), 1_100, 4 << 10, time.Millisecond, "1100 MB/s"},
	} {
		t.Run(name, func(t *testing.T) {
			w, bad := c.link.Impossible(c.rate*1e6, c.block, c.typical)
			assert.Equal(t, c.says != "", bad, w.Text)
			if bad {
				assert.Equal(t, record.WarnImpossible, w.Code)
				assert.Contains(t, w.Text, c.says)
			} else {
				assert.Zero(t, w)
			}
		})
	}
}

func TestFlagImpossible(t *testing.T) {
	result := func(rate float64) *record.Result {
		return &record.Result{IOs: 10, Bytes: 10 * 4096, BytesPerSecond: rate, Latency: record.Histogram{{Latency: 100 * time.Microsecond, Count: 10}}}
	}
	gen3 := link(8, 4)
	report := func() record.RunReport {
		return record.RunReport{Device: record.Device{Link: &gen3}, Steps: []record.Step{
			{Read: result(3e9), Write: result(3e9)}, // both directions at once, 6 GB/s in total
			{Read: result(4e9)}, {Write: result(5e9)}, {Sync: result(9e9)}, {Read: &record.Result{}},
		}}
	}
	assert.Equal(t, []int{0, 1, 1, 0, 0}, flagged(report()))
	without := report()
	without.Device.Link = nil
	assert.Equal(t, []int{0, 0, 0, 0, 0}, flagged(without))
	twoPorts := report()
	twoPorts.Device.Controllers = []string{"nvme0", "nvme1"}
	assert.Equal(t, []int{0, 0, 0, 0, 0}, flagged(twoPorts), "multipath uses the links of both controllers")
	twoPorts.Steps[0].Read.Latency = record.Histogram{{Latency: time.Microsecond, Count: 10}}
	assert.Equal(t, []int{1, 0, 0, 0, 0}, flagged(twoPorts), "an I/O crosses one of them")
}

// flagged returns how many warnings each step gets.
func flagged(r record.RunReport) []int {
	var counts []int
	for i := range r.Steps {
		r.FlagImpossible(&r.Steps[i])
		counts = append(counts, len(r.Steps[i].Warnings))
	}
	return counts
}

// Impossible figures are not a result, and the run fails.
func TestCheckPhysics(t *testing.T) {
	result := &record.Result{IOs: 10, Bytes: 10 * 4096, BytesPerSecond: 1e9}
	r := record.RunReport{Suite: "quick", Target: "/dev/a", Steps: []record.Step{
		{Name: "a", Read: result},
		{Name: "b", Write: result, Warnings: []record.Warning{{Code: record.WarnDisturbed}, {Code: record.WarnImpossible, Text: "impossible: too fast"}}},
		{Name: "c", Read: result, Warnings: []record.Warning{{Code: record.WarnShort}}},
		{Name: "d", Warnings: []record.Warning{{Code: record.WarnDisturbed}}},
	}}
	var measured, impossible []bool
	for i := range r.Steps {
		measured, impossible = append(measured, r.Steps[i].Measured()), append(impossible, r.Steps[i].Impossible())
	}
	assert.Equal(t, []bool{true, false, false, false}, measured)
	assert.Equal(t, []bool{false, true, false, false}, impossible)
	err := r.CheckPhysics()
	require.ErrorIs(t, err, record.ErrImpossible)
	require.EqualError(t, err, "run quick on /dev/a: no result in 1 of 4 steps: b: impossible: too fast")
	r.Steps = r.Steps[:1]
	require.NoError(t, r.CheckPhysics())
}

// Several targets are checked against their own links; together they may exceed one link.
func TestFlagImpossibleOfSeveralTargets(t *testing.T) {
	gen3 := func(path string) record.RunTarget {
		return record.RunTarget{Path: path, Device: record.Device{Link: &record.PCIeLink{CurrentGTs: 8, MaxGTs: 8, CurrentLanes: 4, MaxLanes: 4}}}
	}
	fast := func(rate float64) *record.Result {
		return &record.Result{IOs: 10, Bytes: 10 << 17, BytesPerSecond: rate}
	}
	r := record.RunReport{
		Target: "/dev/a", Device: gen3("").Device, Targets: []record.RunTarget{gen3("/dev/a"), gen3("/dev/b"), {Path: "/mnt/c"}},
		Steps: []record.Step{
			{Parts: []record.Part{{Target: "/dev/a", Read: fast(3e9)}, {Target: "/dev/b", Read: fast(3e9)}}, Read: fast(6e9)},
			{Parts: []record.Part{{Target: "/dev/a", Read: fast(3e9)}, {Target: "/dev/b", Read: fast(5e9)}}, Read: fast(8e9)},
			{Workload: &record.Workload{Targets: []string{"/mnt/c"}}, Read: fast(9e9)},
		},
	}
	assert.Equal(t, []int{0, 1, 0}, flagged(r))
	assert.Contains(t, r.Steps[1].Warnings[0].Text, "/dev/b: impossible: ")
}
