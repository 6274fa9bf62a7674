package drift_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// drive is a drive whose read-4k has a final baseline of so many microseconds at the
// median and so many times that at p99.
func drive(id string, p50, tail float64) record.TargetStatus {
	return record.TargetStatus{
		ID: id, Device: record.Device{Model: "MZQL2", SizeBytes: 4e12},
		Probes: []record.ProbeStatus{{
			Probe: record.DefaultProbes()[0],
			Baseline: &record.Baseline{
				Learned: start(), Maturity: record.Final, Conditions: record.Conditions{Firmware: "A", PCIeLink: record.LinkRate{GTs: 16, Lanes: 4}},
				Values: map[record.Statistic]float64{
					record.LatencyP50: p50 * 1e-6, record.LatencyP95: p50 * 1.2e-6, record.LatencyP99: tail * p50 * 1e-6, record.IOPS: 1e6 / p50,
				},
			},
		}},
	}
}

func TestSlowerThanPeers(t *testing.T) {
	linked, other, early, file := drive("d", 150, 2), drive("d", 150, 2), drive("d", 150, 2), drive("d", 150, 2)
	linked.Probes[0].Baseline.Conditions.PCIeLink = record.LinkRate{GTs: 8, Lanes: 4}
	other.Device.Model = "other"
	early.Probes[0].Baseline.Maturity = record.Early
	file.File = true
	three := []record.TargetStatus{drive("a", 80, 2), drive("b", 82, 2), drive("c", 85, 2)}
	for name, c := range map[string]struct {
		targets []record.TargetStatus
		want    string // of drive d
	}{
		"alike":       {append(three, drive("d", 90, 2)), ""},
		"alone":       {[]record.TargetStatus{drive("d", 150, 2)}, ""},
		"of no model": {append(three, other), ""},
		"early":       {append(three, early), ""},
		"a file":      {append(three, file), ""},
		"slow": {
			append(three, drive("d", 150, 2)),
			"the baseline of probe read-4k is far slower than those of the 3 other drives of this model on the node " +
				"(p50 83 % slower, IOPS 83 % slower)",
		},
		"slow at the tail": {
			append(three, drive("d", 80, 5)),
			"the baseline of probe read-4k is far slower than those of the 3 other drives of this model on the node " +
				"(p99 2.4 times slower)",
		},
		"of two": {
			append(three[:1:1], linked),
			"the baseline of probe read-4k is far slower than that of the other drive of this model on the node " +
				"(p50 88 % slower, IOPS 88 % slower); only here: PCIe link 8 GT/s x4",
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string][]record.Warning{}
			if c.want != "" {
				want["d"] = []record.Warning{{Code: record.WarnSlowerThanPeers, Text: c.want}}
			}
			assert.Equal(t, want, drift.SlowerThanPeers(record.Snapshot{Targets: c.targets}))
		})
	}
}
