package recordtest

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// The ids of the three targets of Snapshot.
const (
	HealthyID   = "eui.36344730559002200025384500000001"
	RegressedID = "eui.36344730559002210025384500000001"
	FileID      = "file:/var/lib/ssdprobe/probe/data"
)

// Now returns the time of Snapshot.
func Now() time.Time { return time.Date(2026, 5, 4, 13, 2, 11, 250e6, time.UTC) }

const unsaved = "save targets/" + HealthyID + ": write /var/lib/ssdprobe/targets: no space left on device"

// Snapshot returns what a daemon knows after two days on a node with two NVMe drives. One drive is healthy. The other
// has been slower for an hour, and its link lost half its speed five minutes ago. The third target is a probe file on
// the first drive, whose baseline is being learned. The state directory is full.
func Snapshot() record.Snapshot {
	return record.Snapshot{
		Time:        Now(),
		Node:        "stor-07",
		Started:     Now().Add(-51*time.Hour - 20*time.Minute),
		Targets:     []record.TargetStatus{healthy(), regressed(), learning()},
		Controllers: controllers(),
		Ignored: []record.Ignored{
			{
				Device: record.Device{
					ID: "wwn-0x5002538f42b1c3d0", Name: "sda", Number: "8:0", Kind: record.KindDisk,
					Transport: "sata", Model: "Samsung SSD 870 EVO 500GB", Serial: "S62ANJ0R412345", Firmware: "SVT02B6Q",
					SizeBytes: 500107862016, LogicalBlockBytes: 512, PhysicalBlockBytes: 512, NUMANode: -1,
				},
				Reason: "excluded by the configuration: transport sata",
			},
			{
				Device: record.Device{
					ID: "dm-uuid-LVM-9nYq2kJvD1mZc0Hs4Tt8uXwBf6Ga3RePLoKi5NbVxQyWzMhEjUlSpCdArOgFtI7n", Name: "dm-0", Number: "253:0",
					Kind: record.KindDM, SizeBytes: 3840751140864, LogicalBlockBytes: 512, PhysicalBlockBytes: 4096, NUMANode: -1,
					Members: []string{"nvme1n1"},
				},
				Reason: "made of nvme1n1",
			},
		},
		Collectors: []record.CollectorStatus{
			{Collector: "discovery", Success: true, Duration: 4200 * time.Microsecond},
			{Collector: "interrupts", Success: true, Duration: 1100 * time.Microsecond},
			{Collector: "state", Error: unsaved, Duration: 90 * time.Microsecond},
			{Collector: "traffic", Success: true, Duration: 140 * time.Microsecond},
		},
		Warnings:     []record.Warning{{Code: record.WarnState, Text: unsaved}},
		FallbackUsed: new(false), ConfigChanged: new(false),
		Recorder:            &record.RecorderStatus{Recordings: []record.RecordingHead{Recording().RecordingHead}, Written: 1},
		IOLatencyMissed:     map[record.IOMiss]uint64{record.MissRecursion: 2, record.MissNotBegun: 1},
		IOLatencyUnreported: map[record.IOUnreported]uint64{record.UnreportedRoom: 0, record.UnreportedLimit: 42},
		Host:                unjudged(record.ScopeHost, record.ReasonFewDrives),
	}
}

func unjudged(scope record.Scope, reason record.UnjudgedReason) *record.Judgement {
	return &record.Judgement{Verdict: record.Unjudged, Scope: scope, Unjudged: &record.WhyUnjudged{Reason: reason, Since: Now().Add(-20 * time.Minute)}}
}

func healthy() record.TargetStatus {
	written := 0.83
	same := conditions(16, 0)
	return record.TargetStatus{
		ID: HealthyID, Path: "/dev/nvme0n1", Verdict: &record.Judgement{Verdict: record.Healthy, Scope: record.ScopeDrive},
		Device:     healthyDrive(),
		Conditions: same,
		Changed: map[string]time.Time{
			"kernel":   Now().Add(-51 * time.Hour),
			"governor": Now().Add(-30 * time.Hour),
		},
		WrittenRatio: &written, PoolBlocks: 16384, Traffic: traffic(14*time.Second, 1), IOLatency: ioLatency(),
		Probes: []record.ProbeStatus{
			compared(status(HealthyID, record.DefaultProbes()[0], 12*time.Second, curve{p50: 84e-6, p99: 152e-6}, same),
				curve{p50: 83.2e-6, p99: 149e-6}, same, record.Stable, -49*time.Hour),
			compared(status(HealthyID, record.DefaultProbes()[1], 41*time.Second, curve{p50: 121e-6, p99: 196e-6}, same),
				curve{p50: 122e-6, p99: 201e-6}, same, record.Stable, -49*time.Hour),
		},
		Collectors: []record.CollectorStatus{
			{Collector: "conditions", Device: "nvme0n1", Success: true, Duration: 650 * time.Microsecond},
			healthReading("nvme0n1"),
		},
	}
}

func regressed() record.TargetStatus {
	written := 0.41
	before, now := conditions(16, 1), conditions(8, 1)
	retrained := record.Change{Condition: "pcie_link", From: "16 GT/s x4", To: "8 GT/s x4"}

	random := compared(status(RegressedID, record.DefaultProbes()[0], 3*time.Second, curve{p50: 136e-6, p99: 410e-6}, now),
		curve{p50: 84.1e-6, p99: 158e-6}, before, record.Regressed, -58*time.Minute)
	random.Errors, random.LastError = map[string]uint64{"EIO": 2}, Now().Add(-3*time.Hour)
	random.Rounds[record.OutcomeError] = 1
	random.LoadedRounds, random.Confirmations = 2, 5
	random.Last.Load.OthersIOs, random.Last.Load.Others = 1240, work()
	random.Last.Warnings = []record.Warning{{
		Code: record.WarnIOLimited,
		Text: "/sys/fs/cgroup/ssdprobe/io.max limits this process on the device to rbps=500000000",
	}}

	sequential := compared(status(RegressedID, record.DefaultProbes()[1], 27*time.Second, curve{p50: 142e-6, p99: 247e-6}, now),
		curve{p50: 123e-6, p99: 204e-6}, before, record.Suspect, -4*time.Minute, retrained)
	sequential.Rounds[record.OutcomeDisturbed] = 3
	sequential.Last.Outcome = record.OutcomeDisturbed
	sequential.Last.Reason = "waited for a CPU for 14 % of the round"
	sequential.Last.Disturbance = record.Disturbance{CPUWait: 900 * time.Microsecond, CPUWaitRatio: 0.14, InvoluntarySwitches: 7}
	sequential.LastSuccess = Now().Add(-87 * time.Second)

	return record.TargetStatus{
		ID: RegressedID, Path: "/dev/nvme1n1", Device: regressedDrive(), Conditions: now,
		Verdict: &record.Judgement{
			Verdict: record.Degraded, Scope: record.ScopeDrive, Ratio: record.Ratio{Ratio: 1.62, Lower: 1.57, Upper: 1.68}, Since: Now().Add(-58 * time.Minute),
			Onsets:    map[string]time.Time{"probes": Now().Add(-58 * time.Minute)},
			Witnesses: []string{"probes"}, ThanBefore: []string{"probes"}, Source: "read-4k",
		},
		Changed:      map[string]time.Time{"kernel": Now().Add(-51 * time.Hour), "pcie_link": Now().Add(-5 * time.Minute)},
		WrittenRatio: &written, PoolBlocks: 16384, Traffic: stalled(traffic(8*time.Second, 1.6)), IOLatency: ioLatency(),
		Warnings: []record.Warning{{
			Code: record.WarnLinkBelowMaximum,
			Text: "the PCIe link runs at 8 GT/s x4, and drive and slot can do 16 GT/s x4",
		}},
		Probes: []record.ProbeStatus{random, sequential},
		Runs:   []record.RunStatus{saturated(RegressedID, regressedDrive(), now)},
		Collectors: []record.CollectorStatus{
			{Collector: "conditions", Device: "nvme1n1", Success: true, Duration: 710 * time.Microsecond},
			healthReading("nvme1n1"),
		},
	}
}

// learning returns a probe file whose filesystem was remounted, which began an epoch.
func learning() record.TargetStatus {
	const since = 22 * time.Minute
	below := conditions(16, 0)
	below.Filesystem, below.MountOptions = "ext4", "rw,relatime"
	t := record.TargetStatus{
		ID: FileID, Path: "/var/lib/ssdprobe/probe/data", File: true,
		Verdict:    unjudged(record.ScopeDrive, record.ReasonLearning),
		Device:     healthyDrive(),
		Traffic:    traffic(14*time.Second, 1),
		IOLatency:  &record.IOLatency{Unavailable: record.IOLatencyFull},
		Conditions: below,
		Changed:    map[string]time.Time{"kernel": Now().Add(-51 * time.Hour), "mount_options": Now().Add(-since)},
		Collectors: []record.CollectorStatus{
			{Collector: "conditions", Device: "nvme0n1", Success: true, Duration: 580 * time.Microsecond},
			healthReading("nvme0n1"),
		},
	}
	for i, c := range []curve{{p50: 86e-6, p99: 160e-6}, {p50: 124e-6, p99: 199e-6}, {p50: 31e-6, p99: 1900e-6}} {
		probe := status(FileID, record.DefaultProbes()[i], time.Duration(8+11*i)*time.Second, c, below)
		probe.LearningRounds = int(since / probe.Probe.Interval)
		probe.Window.Percentiles = c.percentiles(*probe.Window, probe.Probe, since)
		for _, s := range record.Statistics() {
			probe.Drift = append(probe.Drift, record.Drift{
				Statistic: s, State: record.Learning, Since: Now().Add(-since),
				Unjudged: &record.WhyUnjudged{Reason: record.ReasonLearning, Since: Now().Add(-since)},
			})
		}
		t.Probes = append(t.Probes, probe)
	}
	t.Probes[2].InflightSince = Now().Add(-120 * time.Millisecond)
	return t
}
