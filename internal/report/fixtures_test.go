package report_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// at is a point of a quantile function: a share q of the I/Os took at most latency.
type at struct {
	q       float64
	latency time.Duration
}

// spread returns a distribution of n I/Os through the points, with straight lines in between.
// Latencies are rounded to three significant digits like those of the engine. It caches results, as
// most tests want the same few.
func spread(n int64, points ...at) record.Histogram {
	key := fmt.Sprint(n, points)
	if known, ok := spreads.Load(key); ok {
		return slices.Clone(known.(record.Histogram))
	}
	h := newSpread(n, points)
	spreads.Store(key, slices.Clone(h))
	return h
}

var spreads sync.Map // results of newSpread so far

func newSpread(n int64, points []at) record.Histogram {
	bins := make([]record.Bin, 0, n)
	for i := range n {
		q := (float64(i) + 0.5) / float64(n)
		k := 1
		for k < len(points)-1 && points[k].q < q {
			k++
		}
		low, high := points[k-1], points[k]
		share := math.Min(1, math.Max(0, (q-low.q)/(high.q-low.q)))
		ns := float64(low.latency) + share*float64(high.latency-low.latency)
		step := math.Pow10(int(math.Log10(ns)) - 2)
		bins = append(bins, record.Bin{Latency: time.Duration(math.Round(ns/step) * step), Count: 1})
	}
	return record.NewHistogram(bins)
}

// slowed returns h with all latencies multiplied by factor.
func slowed(h record.Histogram, factor float64) record.Histogram {
	bins := make([]record.Bin, len(h))
	for i, b := range h {
		bins[i] = record.Bin{Latency: time.Duration(float64(b.Latency) * factor), Count: b.Count}
	}
	return record.NewHistogram(bins)
}

// result returns the result of I/Os with the latencies h, of a size, at a depth.
func result(h record.Histogram, blockBytes int64, depth float64) *record.Result {
	iops := depth / h.Mean().Seconds()
	return &record.Result{
		IOs: h.Count(), Bytes: h.Count() * blockBytes,
		IOPS: iops, BytesPerSecond: iops * float64(blockBytes),
		Latency: h, Min: h.Min(), Mean: h.Mean(), Max: h.Max(),
	}
}

const (
	us = time.Microsecond
	ms = time.Millisecond
)

func depth1(n int64) record.Histogram {
	return spread(n, at{0, 58 * us}, at{0.5, 78 * us}, at{0.95, 96 * us}, at{0.99, 118 * us}, at{0.999, 212 * us}, at{1, 1400 * us})
}

func depth32(n int64) record.Histogram {
	return spread(n, at{0, 61 * us}, at{0.5, 98 * us}, at{0.95, 151 * us}, at{0.99, 203 * us}, at{0.999, 480 * us}, at{1, 3100 * us})
}

func sequential(n int64) record.Histogram {
	return spread(n, at{0, 130 * us}, at{0.5, 158 * us}, at{0.95, 240 * us}, at{0.99, 390 * us}, at{1, 2900 * us})
}

func datacentreDrive() record.Device {
	return record.Device{
		ID: "eui.36344830524011370025384300000001", Name: "nvme0n1", Number: "259:0", Kind: record.KindDisk, Transport: "pcie",
		Model: "SAMSUNG MZQL23T8HCLS-00A07", Serial: "S64HNE0R401137", WWID: "eui.36344830524011370025384300000001",
		Firmware: "GDC5602Q", SizeBytes: 3840755982336, LogicalBlockBytes: 512, PhysicalBlockBytes: 4096, NUMANode: 0,
		PCIAddress: "0000:41:00.0", Link: &record.PCIeLink{CurrentGTs: 8, MaxGTs: 16, CurrentLanes: 4, MaxLanes: 4},
	}
}

func datacentreConditions() record.Conditions {
	return record.Conditions{
		Model: "SAMSUNG MZQL23T8HCLS-00A07", Firmware: "GDC5602Q", Transport: "pcie", Format: record.BlockFormat{LogicalBytes: 512, PhysicalBytes: 4096}, PCIeLink: record.LinkRate{GTs: 8, Lanes: 4},
		NUMANode: record.NumberOf(0), Scheduler: "none", NrRequests: record.NumberOf(1023), WriteCache: "write through", Governor: "powersave",
		Kernel: "6.1.0-18-amd64", Engine: "fio-3.33 libaio",
	}
}

func linkWarning() record.Warning {
	return record.Warning{
		Code: record.WarnLinkBelowMaximum,
		Text: "The PCIe link runs at 8 GT/s x4 while both ends can do 16 GT/s x4: bandwidth is halved",
	}
}

func started() time.Time { return time.Date(2026, 5, 4, 11, 2, 11, 0, time.UTC) }

// quickRun returns the suite quick on a raw NVMe drive. The sample is large enough for p99.9 in all
// steps except the sequential one.
func quickRun() record.RunReport {
	return record.RunReport{
		Version: record.RunReportVersion, Suite: "quick", Device: datacentreDrive(),
		Target: "/dev/nvme0n1", TargetID: "eui.36344830524011370025384300000001",
		Started: started(), Finished: started().Add(31400 * ms), Node: "storage-07",
		Generator: "ssdprobe 1.2.3", Engine: "fio-3.33", Conditions: datacentreConditions(),
		Warnings: []record.Warning{linkWarning()},
		Steps: []record.Step{
			{
				Name: "random-read-qd1", Plan: "4 KiB random read, depth 1", Duration: 10 * time.Second,
				Read: result(depth1(124_300), 4<<10, 1), UserCPU: 0.041, SystemCPU: 0.112, InterruptsPerIO: 1,
			},
			{
				Name: "random-read-qd32", Plan: "4 KiB random read, depth 32", Duration: 10 * time.Second,
				Read: result(depth32(312_000), 4<<10, 32), UserCPU: 0.22, SystemCPU: 0.77, InterruptsPerIO: 0.87,
				Warnings: []record.Warning{{
					Code: record.WarnCPUBound,
					Text: "The load generator used 99 % of one CPU: the CPU was the limit, not the drive; use more jobs.",
				}},
			},
			{
				Name: "sequential-read-qd8", Plan: "128 KiB sequential read, depth 8", Duration: 10 * time.Second,
				Read: result(sequential(9_600), 128<<10, 8), UserCPU: 0.01, SystemCPU: 0.09, InterruptsPerIO: -1,
				Errors: map[string]int64{"ENODATA": 1, "EIO": 3},
				Warnings: []record.Warning{{
					Code: record.WarnErrors, Text: "4 I/Os failed and are not in the figures: look at the kernel's log and the drive's error log.",
				}},
			},
		},
	}
}

// probeRun returns one round of each default probe on a probe file of a slow disk.
func probeRun() record.RunReport {
	device := record.Device{
		ID: "naa.5000c500a1b2c3d4", Name: "sda", Kind: record.KindDisk, Transport: "sata", Model: "ST4000NM0035-1V4107",
		Serial: "ZC1B4X9M", Firmware: "TNC3", SizeBytes: 4000787030016, Rotational: true,
	}
	reads := spread(256, at{0, 3100 * us}, at{0.5, 11800 * us}, at{0.95, 19400 * us}, at{1, 48 * ms})
	writes := spread(32, at{0, 7900 * us}, at{0.5, 16600 * us}, at{1, 83 * ms})
	syncs := spread(32, at{0, 7800 * us}, at{0.5, 16500 * us}, at{1, 82900 * us})
	sync := result(syncs, 0, 1)
	return record.RunReport{
		Version: record.RunReportVersion, Suite: "probe", Device: device,
		Target: "/var/lib/ssdprobe/probe.dat", TargetID: "file:/var/lib/ssdprobe/probe.dat",
		Started: started(), Finished: started().Add(4300 * ms), Node: "storage-07",
		Generator: "ssdprobe 1.2.3", Engine: "ssdprobe-1",
		Conditions: record.Conditions{
			Model: device.Model, Firmware: device.Firmware, Transport: "sata", Format: record.BlockFormat{LogicalBytes: 512, PhysicalBytes: 4096}, Scheduler: "mq-deadline",
			NrRequests: record.NumberOf(64), WriteCache: "write back", Governor: "performance", Kernel: "6.1.0-18-amd64",
			Filesystem: "ext4", MountOptions: "rw,relatime", Engine: "ssdprobe-1",
		},
		Steps: []record.Step{
			{Name: "read-4k", Plan: "4 KiB random read, depth 1", Read: result(reads, 4<<10, 1), InterruptsPerIO: -1},
			{
				Name: "durable-write-4k", Plan: "4 KiB sequential write with fdatasync, depth 1",
				Write: result(writes, 4<<10, 1), Sync: sync, InterruptsPerIO: -1,
				Warnings: []record.Warning{{
					Code: record.WarnDisturbed, Text: "The measuring thread waited for a CPU for 8.1 % of the round: repeat on a quieter machine.",
				}},
			},
			{
				Name: "read-128k", Plan: "128 KiB sequential read, depth 1", InterruptsPerIO: -1,
				Warnings: []record.Warning{{Code: record.WarnShort, Text: "Stopped by Ctrl-C before the first I/O was counted."}},
			},
		},
	}
}
