package record_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestPCIeLinkBandwidth(t *testing.T) {
	// Per lane and direction, as the specifications' own summaries round them.
	for gts, mbps := range map[float64]float64{2.5: 250, 5: 500, 8: 985, 16: 1969, 32: 3938, 64: 7563} {
		for _, lanes := range []int{1, 4, 16} {
			l := record.PCIeLink{CurrentGTs: gts, MaxGTs: gts, CurrentLanes: lanes, MaxLanes: lanes}
			assert.InEpsilon(t, mbps*1e6*float64(lanes), l.BytesPerSecond(), 0.001, "%s", l)
			assert.False(t, l.BelowMaximum())
		}
	}
	l := record.PCIeLink{CurrentGTs: 2.5, MaxGTs: 8, CurrentLanes: 4, MaxLanes: 4}
	assert.Equal(t, "2.5 GT/s x4", l.String())
	assert.True(t, l.BelowMaximum())
	assert.True(t, record.PCIeLink{CurrentGTs: 8, MaxGTs: 8, CurrentLanes: 2, MaxLanes: 4}.BelowMaximum())
}

func TestStatistics(t *testing.T) {
	m := record.Measurement{
		Duration: 2 * time.Second,
		Latency:  record.Histogram{{Latency: 10 * us, Count: 90}, {Latency: 20 * us, Count: 8}, {Latency: 1000 * us, Count: 2}},
	}
	want := map[record.Statistic]float64{record.LatencyP50: 10e-6, record.LatencyP95: 20e-6, record.LatencyP99: 1e-3, record.IOPS: 50}
	for _, s := range record.Statistics() {
		assert.InEpsilon(t, want[s], s.Of(m), 1e-9, s)
		assert.Zero(t, s.Of(record.Measurement{}), "no figure of nothing")
		assert.Zero(t, s.Slower(0, 1))
		assert.Zero(t, s.Slower(1, 0))
	}
	assert.InDelta(t, 2, record.LatencyP99.Slower(1, 2), 0)
	assert.InDelta(t, 2, record.IOPS.Slower(2, 1), 0, "fewer is slower")
}

func TestProbesRunWhereTheyAreMeantTo(t *testing.T) {
	for _, test := range []struct {
		direction record.Direction
		targets   record.TargetKinds
		files     bool
		devices   bool
	}{
		{record.Read, record.OnAll, true, true},
		{record.Read, record.OnFiles, true, false},
		{record.Read, record.OnDevices, false, true},
		{record.Write, record.OnAll, true, false},
		{record.Write, record.OnFiles, true, false},
		{record.Write, record.OnDevices, false, false}, // never on a device, whatever is asked for
	} {
		p := record.Probe{Direction: test.direction, Targets: test.targets}
		assert.Equal(t, test.files, p.RunsOn(true), "%+v", test)
		assert.Equal(t, test.devices, p.RunsOn(false), "%+v", test)
	}
}

func TestDefaultProbesAreLight(t *testing.T) {
	var written, read float64
	for _, p := range record.DefaultProbes() {
		perDay := float64(p.RoundBytes()) * float64(24*time.Hour) / float64(p.Interval)
		if p.Direction == record.Write {
			written += perDay
		} else {
			read += perDay
		}
	}
	assert.Less(t, written, float64(256<<20), "bytes written in a day")
	assert.Less(t, read, float64(10<<30), "bytes read in a day")
	const mib, minutes = 1 << 20, 24 * 60
	for path, want := range map[string]string{
		"README.md": fmt.Sprintf("it reads %.0f MiB a minute", read/mib/minutes),
		"docs/benchmarks.md": fmt.Sprintf("%.1f MiB of reads a minute (%.1f GiB a day), and no writes; a file also gets %.0f MiB of writes a day",
			read/mib/minutes, read/mib/1024, written/mib),
		"docs/configuration.md": fmt.Sprintf("It writes %.0f MiB a day.", written/mib),
	} {
		text, err := os.ReadFile("../../" + path)
		require.NoError(t, err)
		says := strings.Contains(string(text), want) // keeps the whole page out of the failure message
		assert.True(t, says, "%s does not say %q", path, want)
	}
}

func TestRatioInWords(t *testing.T) {
	for want, r := range map[string]record.Ratio{
		"":                              {},
		"31 % slower":                   {Ratio: 1.309},
		"31 % slower (27 to 35 %)":      {Ratio: 1.309, Lower: 1.274, Upper: 1.351},
		"18 % faster (16 to 20 %)":      {Ratio: 1 / 1.18, Lower: 1 / 1.2, Upper: 1 / 1.16},
		"2.5 times slower (2.4 to 2.6)": {Ratio: 2.5, Lower: 2.4, Upper: 2.6},
		"3.0 times faster (2.5 to 4.0)": {Ratio: 1.0 / 3, Lower: 0.25, Upper: 0.4},
		"0 % slower (-2 to 2 %)":        {Ratio: 1, Lower: 0.98, Upper: 1.02},
	} {
		assert.Equal(t, want, r.String())
	}
	assert.Equal(t, "since kernel 6.1 → 6.8: reads of others 25 % slower", (&record.Effect{
		Changes: []record.Change{{Condition: "kernel", From: "6.1", To: "6.8"}}, Ratios: map[record.Statistic]record.Ratio{record.OthersReadLatency: {Ratio: 1.25}},
	}).String(), "an effect on traffic")
	assert.Equal(t, "since firmware A → B, PCIe link 16 GT/s x4 → unknown: p50 18 % faster (16 to 20 %), IOPS 25 % slower", (&record.Effect{
		Changes: []record.Change{{Condition: "firmware", From: "A", To: "B"}, {Condition: "pcie_link", From: "16 GT/s x4"}},
		Ratios:  map[record.Statistic]record.Ratio{record.LatencyP50: {Ratio: 1 / 1.18, Lower: 1 / 1.2, Upper: 1 / 1.16}, record.IOPS: {Ratio: 1.25}},
	}).String())
}

func TestDeviceEmpty(t *testing.T) {
	assert.True(t, record.Device{Kind: record.KindLoop}.Empty())
	assert.False(t, record.Device{Kind: record.KindLoop, SizeBytes: 512}.Empty())
	assert.False(t, record.Device{Kind: record.KindDisk}.Empty(), "a disk without a size has failed")
}

// Two drives may claim one serial number, and a network may lead to many drives.
func TestNamespacesOfOneDriveAreOnePhysicalDrive(t *testing.T) {
	first := record.Device{ID: "eui.1", Transport: "pcie", Model: "X", Serial: "S", PCIAddress: "0000:01:00.0"}
	second, copied, remote, volume, nameless := first, first, first, first, first
	second.ID = "eui.2"
	copied.ID, copied.PCIAddress = "eui.3", "0000:02:00.0"
	remote.ID, remote.Transport, remote.PCIAddress = "eui.4", "tcp", ""
	volume.ID, volume.Model = "eui.5", "MSFT NVMe Accelerator v1.0"
	nameless.ID, nameless.Serial = "eui.6", ""
	assert.Equal(t, first.Physical(), second.Physical())
	assert.NotEqual(t, first.Physical(), copied.Physical())
	for _, d := range []record.Device{remote, volume, nameless, {ID: "eui.7"}} {
		assert.Equal(t, d.ID, d.Physical())
	}
}

// The rules for the fleet, which jsonnet makes, leave out the same volumes.
func TestVolumes(t *testing.T) {
	config, err := os.ReadFile("../../deploy/mixin/config.libsonnet")
	require.NoError(t, err)
	for key, pattern := range map[string]string{"unlikeTransports": record.VolumeTransports, "unlikeModels": record.VolumeModels} {
		assert.Contains(t, string(config), key+": '"+pattern+"',")
	}
	for _, d := range []record.Device{
		{Transport: "pcie", Model: "Amazon Elastic Block Store"}, {Transport: "scsi", Model: "Msft Virtual Disk"}, {Transport: "scsi", Model: "Google PersistentDisk"},
		{Transport: "tcp", Model: "X"}, {Transport: "xen"},
	} {
		assert.True(t, d.IsVolume(), d.Model)
	}
	for _, d := range []record.Device{{}, {Transport: "pcie", Model: "SAMSUNG MZQL23T8HCLS"}, {Transport: "sas", Model: "My Virtual Disk"}} {
		assert.False(t, d.IsVolume(), d.Model)
	}
}
