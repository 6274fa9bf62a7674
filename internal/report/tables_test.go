package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// longID is the wwid of a namespace without EUI-64 and NGUID, as kernels construct it.
const longID = "nvme.144d-533634484e453052343031313337-53414d53554e47204d5a514c323354384843-4c532d30304130372020202020202020-00000001"

func devices() []report.DeviceRow {
	slow, plain := datacentreDrive(), datacentreDrive()
	plain.Name, plain.Number, plain.Serial, plain.ID = "nvme1n1", "259:4", "S64HNE0R401142", longID
	plain.Zoned = "host-managed"
	plain.Link = &record.PCIeLink{CurrentGTs: 16, MaxGTs: 16, CurrentLanes: 4, MaxLanes: 4}
	conditions := datacentreConditions()
	host := record.Conditions{Kernel: conditions.Kernel, Governor: conditions.Governor}
	loop := host
	loop.Scheduler, loop.Format = "none", record.BlockFormat{LogicalBytes: 512, PhysicalBytes: 512}
	return []report.DeviceRow{
		{Device: slow, Conditions: conditions, Watched: true, Findings: finding.OfDevice(slow, []record.Warning{linkWarning()})},
		{Device: plain, Conditions: conditions, Watched: true, Reason: "only 2 % of the sampled blocks read as written: reads wait for a pool of 4 096"},
		{
			Device: record.Device{
				ID: "ata-QEMU_HARDDISK_QM00001", Name: "sda", Kind: record.KindDisk, Transport: "usb", Model: "Ultra Fit", SizeBytes: 62e9,
			},
			Conditions: host, Reason: `excluded by the configuration: transport "usb"`,
		},
		{
			Device: record.Device{Name: "loop0", Kind: record.KindLoop, SizeBytes: 67108864}, Conditions: loop,
			Reason: "loop devices are watched only when the configuration names them",
		},
	}
}

func TestDevices(t *testing.T) {
	var b strings.Builder
	require.NoError(t, report.Devices(&b, report.DeviceList{Daemon: true, Devices: devices(), Files: []report.FileRow{{ID: "file:/var/lib/x/probe.dat", Path: "/var/lib/x/probe.dat", Device: "sda"}}}, started()))
	assert.Contains(t, b.String(), longID, "ids are never cut")
	golden(t, "devices.txt", b.String())

	b.Reset()
	require.NoError(t, report.Devices(&b, report.DeviceList{}, started()))
	golden(t, "devices_none.txt", b.String())
}

func probeStatus(index int) record.ProbeStatus {
	return record.ProbeStatus{Probe: record.DefaultProbes()[index], LearningRounds: 120, LearningGoal: 120}
}

func learnedBaseline(conditions record.Conditions) *record.Baseline {
	return &record.Baseline{
		Conditions: conditions, Learned: started().AddDate(0, 0, -14), Rounds: 120,
		Values: map[record.Statistic]float64{
			record.LatencyP50: 59.6e-6, record.LatencyP95: 71.2e-6, record.LatencyP99: 90.4e-6, record.IOPS: 16_210,
		},
	}
}

// snapshot returns a drive that became slower with new firmware by one probe and without
// a known cause by another, a probe file that is learning, and a drive that cannot be
// probed.
func snapshot() record.Snapshot {
	firmware := []record.Change{
		{Condition: "firmware", From: "GDC5302Q", To: "GDC5602Q"}, {Condition: "pcie_link", From: "16 GT/s x4", To: "8 GT/s x4"},
	}
	hourAgo := started().Add(-2*time.Hour - 20*time.Minute)
	regressed := probeStatus(0)
	regressed.Baseline = learnedBaseline(datacentreConditions())
	regressed.Drift = []record.Drift{
		{Statistic: record.LatencyP50, State: record.Regressed, Since: hourAgo, Ratio: 1.309, Lower: 1.274, Upper: 1.351, Attribution: firmware},
		{Statistic: record.LatencyP95, State: record.Regressed, Since: hourAgo, Ratio: 1.348, Lower: 1.29, Upper: 1.402, Attribution: firmware},
		{Statistic: record.LatencyP99, State: record.Suspect, Since: started().Add(-4 * time.Minute), Ratio: 1.31, Lower: 0.98, Upper: 1.77},
		{Statistic: record.IOPS, State: record.Stable, Since: started().AddDate(0, 0, -14), Ratio: 1.043},
	}
	unexplained := probeStatus(1)
	unexplained.Baseline = learnedBaseline(datacentreConditions())
	unexplained.Baseline.Values = map[record.Statistic]float64{record.LatencyP50: 152e-6}
	unexplained.Drift = []record.Drift{
		{Statistic: record.LatencyP50, State: record.Regressed, Since: hourAgo, Ratio: 2.5, Lower: 2.4, Upper: 2.6},
		{Statistic: record.IOPS, State: record.Improved, Since: hourAgo, Ratio: 0.8, Lower: 0.7, Upper: 0.9},
		{Statistic: record.LatencyP95, State: record.Learning},
	}
	regressed.Baseline.Maturity, regressed.Baseline.Pinned, regressed.UnjudgedBlocks = "final", true, 41
	regressed.Effect = &record.Effect{
		Time: hourAgo, Changes: firmware, Ratios: map[record.Statistic]record.Ratio{
			record.LatencyP50: {Ratio: 1.309, Lower: 1.274, Upper: 1.351}, record.LatencyP99: {Ratio: 0.8, Lower: 0.7, Upper: 0.9},
		},
	}
	unexplained.Baseline.Maturity = "provisional"
	unexplained.Drift = append(unexplained.Drift, record.Drift{
		Statistic: record.LatencyP99, State: record.Regressed, Since: hourAgo, Ratio: 1.01, Lower: 0.98, Upper: 1.03, Cause: "slow_rounds",
	})
	learning, fresh, waiting := probeStatus(0), probeStatus(1), probeStatus(2)
	learning.LearningRounds = 43
	learning.Drift = []record.Drift{{Statistic: record.LatencyP50, State: record.Learning, Since: started()}}
	learning.Last = &record.Measurement{
		Outcome: record.OutcomeBusy, Start: started().Add(-20 * time.Second), Reason: "others use 62 % of the device, the limit is 30 %",
	}
	fresh.LearningRounds = 0
	waiting.Baseline = learnedBaseline(record.Conditions{})
	waiting.Last = &record.Measurement{Outcome: record.OutcomeTimeout, Start: started().Add(-time.Minute)}
	return record.Snapshot{
		Time: started(), Node: "storage-07",
		Warnings: []record.Warning{{Code: record.WarnGovernor, Text: "The CPU governor is powersave: latencies include waking the CPU."}},
		Targets: []record.TargetStatus{
			{
				ID: datacentreDrive().ID, Path: "/dev/nvme0n1", Device: datacentreDrive(), Conditions: datacentreConditions(),
				Warnings: []record.Warning{linkWarning()}, Probes: []record.ProbeStatus{regressed, unexplained},
			},
			{
				ID: "file:/var/lib/ssdprobe/probe.dat", Path: "/var/lib/ssdprobe/probe.dat", File: true,
				Probes: []record.ProbeStatus{learning, fresh, waiting},
			},
			{ID: longID, Path: "/dev/nvme1n1", Problem: "open /dev/nvme1n1: permission denied: add the user to group disk"},
		},
	}
}

func TestDrift(t *testing.T) {
	for name, s := range map[string]record.Snapshot{
		"drift.txt":       snapshot(),
		"drift_empty.txt": {Time: started(), Node: "storage-07"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			require.NoError(t, report.Drift(&b, s))
			golden(t, name, b.String())
		})
	}
}

func TestBaselines(t *testing.T) {
	before, after := datacentreConditions(), datacentreConditions()
	before.Firmware, before.PCIeLink = "GDC5302Q", record.LinkRate{GTs: 16, Lanes: 4}
	learning := record.Baseline{Conditions: before, Rounds: 43}
	id := datacentreDrive().ID
	newer := learnedBaseline(after)
	newer.Learned = started()
	newer.Values = map[record.Statistic]float64{record.LatencyP50: 78e-6, record.LatencyP95: 96e-6, record.IOPS: 12_540}
	var b strings.Builder
	require.NoError(t, report.Baselines(&b, []report.BaselineRow{
		{TargetID: id, Target: "/dev/nvme0n1", Probe: "read-4k", Epoch: 1, Baseline: *learnedBaseline(before), Warnings: []record.Warning{{
			Code: record.WarnSlowerThanSheet, Text: "the baseline of probe read-4k is far slower than the data sheet: p50 152 µs instead of 80.0 µs, 90 % slower",
		}}},
		{TargetID: id, Target: "/dev/nvme0n1", Probe: "read-4k", Epoch: 2, Current: true, Baseline: *newer},
		{TargetID: id, Target: "/dev/nvme0n1", Probe: "read-128k", Epoch: 1, Current: true, Baseline: learning},
		{TargetID: longID, Probe: "read-4k", Epoch: 1, Baseline: *learnedBaseline(record.Conditions{})},
	}))
	golden(t, "baselines.txt", b.String())

	b.Reset()
	require.NoError(t, report.Baselines(&b, nil))
	golden(t, "baselines_none.txt", b.String())
}
