package recordtest

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// healthyDrive returns the 3.84 TB data centre drive on NUMA node 0.
func healthyDrive() record.Device {
	d := drive(HealthyID, "S64HNE0R500101")
	d.Name, d.Number, d.Controllers = "nvme0n1", "259:0", []string{"nvme0"}
	d.NUMANode, d.PCIAddress = 0, "0000:01:00.0"
	d.Children = []string{"nvme0n1p1"}
	return d
}

// regressedDrive returns a drive of the same model on NUMA node 1, whose link runs at half its speed.
func regressedDrive() record.Device {
	d := drive(RegressedID, "S64HNE0R500102")
	d.Name, d.Number, d.Controllers = "nvme1n1", "259:2", []string{"nvme1"}
	d.NUMANode, d.PCIAddress = 1, "0000:41:00.0"
	d.Link.CurrentGTs = 8
	d.Holders = []string{"dm-0"}
	return d
}

func drive(id, serial string) record.Device {
	return record.Device{
		ID: id, Kind: record.KindDisk, Transport: "pcie",
		Model: "SAMSUNG MZQL23T8HCLS-00A07", Serial: serial, WWID: id, Firmware: "GDC5602Q",
		SizeBytes: 3840755982336, LogicalBlockBytes: 512, PhysicalBlockBytes: 4096,
		Link: &record.PCIeLink{CurrentGTs: 16, MaxGTs: 16, CurrentLanes: 4, MaxLanes: 4},
		ByID: []string{"nvme-SAMSUNG_MZQL23T8HCLS-00A07_" + serial},
	}
}

func conditions(gts float64, node int) record.Conditions {
	return record.Conditions{
		Model: "SAMSUNG MZQL23T8HCLS-00A07", Firmware: "GDC5602Q", Transport: "pcie", Format: record.BlockFormat{LogicalBytes: 512, PhysicalBytes: 4096},
		PCIeLink: record.LinkRate{GTs: gts, Lanes: 4}, NUMANode: record.NumberOf(node), Scheduler: "none", NrRequests: record.NumberOf(1023), WriteCache: "write back",
		Polling: record.Polling{Mode: record.Off}, Governor: "performance", Kernel: "6.12.22-amd64", Engine: "ssdprobe-1",
	}
}

// curve is a latency distribution, given by its median and 99th percentile in seconds.
type curve struct{ p50, p99 float64 }

// latencies returns n latencies of a log-normal distribution, evenly spread over its quantiles and rounded to three
// digits, as an HDR histogram returns them. The results are cached, because tests make hundreds of snapshots from the
// same few.
func (c curve) latencies(n int) record.Histogram {
	key := distribution{c, n}
	known, ok := distributions.Load(key)
	if !ok {
		known, _ = distributions.LoadOrStore(key, key.latencies())
	}
	return slices.Clone(known.(record.Histogram))
}

// distribution is a curve with a number of latencies.
type distribution struct {
	curve

	n int
}

var distributions sync.Map //nolint:gochecknoglobals // what distribution.latencies has calculated so far

func (d distribution) latencies() record.Histogram {
	const z99 = 2.3263478740408408 // the 0.99 quantile of the normal distribution
	sigma := math.Log(d.p99/d.p50) / z99
	bins := make([]record.Bin, d.n)
	for i := range bins {
		q := (float64(i) + 0.5) / float64(d.n)
		z := math.Sqrt2 * math.Erfinv(2*q-1)
		bins[i] = record.Bin{Latency: threeDigits(d.p50 * math.Exp(sigma*z)), Count: 1}
	}
	return record.NewHistogram(bins)
}

// percentiles returns the percentiles of a window of a probe whose rounds are known for the given time.
func (c curve) percentiles(w record.Window, probe record.Probe, known time.Duration) []record.WindowPercentile {
	var list []record.WindowPercentile
	for _, percent := range record.Percentiles() {
		p := record.WindowPercentile{Percentile: percent, Span: w.Span, IOs: w.Latency.Count()}
		for !p.Supported() && p.Span < known {
			p.Span += probe.Interval
			p.IOs += int64(probe.IOs)
		}
		if !p.Supported() {
			p.Span = record.LongestWindow
		}
		p.Latency = c.latencies(int(p.IOs)).Quantile(percent / 100)
		list = append(list, p)
	}
	return list
}

func threeDigits(seconds float64) time.Duration {
	ns := seconds * 1e9
	unit := math.Pow10(int(math.Floor(math.Log10(ns))) - 2)
	return time.Duration(math.Round(ns/unit) * unit)
}

// status returns a probe that has run every round for two days; ago is the age of the last one.
func status(id string, probe record.Probe, ago time.Duration, c curve, conditions record.Conditions) record.ProbeStatus {
	const window = 5 * time.Minute
	rounds := uint64(51 * time.Hour / probe.Interval)
	inWindow := int(window / probe.Interval)
	latency := c.latencies(probe.IOs)
	s := record.ProbeStatus{
		Probe: probe,
		Rounds: map[record.Outcome]uint64{
			record.OutcomeOK: rounds, record.OutcomeBusy: 17,
		},
		LastSuccess:  Now().Add(-ago),
		Next:         Now().Add(probe.Interval - ago),
		LearningGoal: 120,
		Last: &record.Measurement{
			Device: id, Probe: probe.Name, Start: Now().Add(-ago), Outcome: record.OutcomeOK,
			Duration: latency.Sum(), Latency: latency, CheckedBlocks: int64(probe.IOs),
			Disturbance: record.Disturbance{CPUWait: 40 * time.Microsecond, CPUWaitRatio: 0.002},
			Load:        record.Load{Utilisation: 0.04, IOPressure: 0.01},
			Conditions:  conditions,
		},
		Window: &record.Window{Span: window, Rounds: inWindow, Latency: c.latencies(inWindow * probe.IOs)},
	}
	s.Window.IOPS = figure(record.IOPS, s.Window.Latency)
	s.Window.Percentiles = c.percentiles(*s.Window, probe, record.LongestWindow)
	moved := probe.RoundBytes()
	if probe.Direction == record.Write {
		s.Last.CheckedBlocks = 0
		s.Last.WrittenBytes, s.WrittenBytes = moved, rounds*uint64(moved)
	} else {
		s.Last.ReadBytes, s.ReadBytes = moved, rounds*uint64(moved)
	}
	return s
}

// compared adds a baseline of the given distribution, learned two days ago, and the drift state of every statistic.
// since is relative to now.
func compared(
	s record.ProbeStatus, before curve, c record.Conditions, state record.DriftState, since time.Duration, because ...record.Change,
) record.ProbeStatus {
	s.LearningRounds = s.LearningGoal
	old := before.latencies(s.LearningGoal * s.Probe.IOs)
	s.Baseline = &record.Baseline{
		Conditions: c, Learned: Now().Add(-49 * time.Hour), Rounds: s.LearningGoal, Values: map[record.Statistic]float64{},
	}
	for _, statistic := range record.Statistics() {
		was, is := figure(statistic, old), figure(statistic, s.Window.Latency)
		s.Baseline.Values[statistic] = was
		ratio := statistic.Slower(was, is)
		now := was * milli(ratio)
		if statistic == record.IOPS {
			now = was / milli(ratio)
		}
		s.Drift = append(s.Drift, record.Drift{
			Statistic: statistic, State: state, Since: Now().Add(since),
			Ratio: milli(ratio), Lower: milli(ratio * 0.97), Upper: milli(ratio * 1.04),
			Attribution: because, Now: now,
			Over: &record.Span{From: Now().Add(max(since, -time.Hour)), To: Now().Add(-time.Minute)},
		})
	}
	return s
}

// figure returns a statistic of I/Os that followed each other without a pause.
func figure(s record.Statistic, h record.Histogram) float64 {
	return s.Of(record.Measurement{Latency: h, Duration: h.Sum()})
}

// milli rounds to three decimals.
func milli(v float64) float64 { return math.Round(v*1000) / 1000 }
