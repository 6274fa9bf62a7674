package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

// compareSampling measures the cost of sampling all devices, and then that of a node_exporter that
// only reads /proc/diskstats and is scraped once per second.
func compareSampling(ctx context.Context, b *bench) (lines []line, err error) {
	for _, n := range []int{1, 24, 256} {
		more, err := b.samplingOf(ctx, n)
		lines = append(lines, more...)
		if err != nil {
			return lines, err
		}
	}
	return lines, nil
}

func (b *bench) samplingOf(ctx context.Context, n int) (lines []line, err error) {
	names, detach, err := b.loopDevices(ctx, n)
	defer func() { err = errors.Join(err, detach()) }()
	if err != nil {
		return nil, err
	}
	var devices []traffic.Device
	for _, name := range names {
		var st unix.Stat_t
		if err := unix.Stat(name, &st); err != nil {
			return nil, fmt.Errorf("stat %s: %w", name, err)
		}
		devices = append(devices, traffic.Device{ID: name, Number: fmt.Sprintf("%d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev))})
	}
	ours, err := costOfSampling(ctx, devices, b.watch)
	if err != nil {
		return nil, err
	}
	what, most := fmt.Sprintf("sampling traffic, devices: %d: CPU", n), shown()
	if n == 24 {
		most = atMost(0.3)
	}
	lines = append(lines, newLine(what, "one core", "%", most, ours))
	theirs, err := scrapeDiskstats(ctx, b.watch)
	if err != nil {
		return lines, err
	}
	return append(lines, newLine(what, "node_exporter's diskstats", "ratio", shown(), ours/theirs)), nil
}

// costOfSampling returns the share of a core, in percent, that this process uses to sample devices.
func costOfSampling(ctx context.Context, devices []traffic.Device, length time.Duration) (percent float64, err error) {
	ctx, end := context.WithTimeout(ctx, length)
	defer end()
	s := traffic.New(traffic.Options{
		FS: sysfs.New("/"), Devices: func() []traffic.Device { return devices },
		Sample: func(traffic.Device, record.Traffic) {}, Stall: func(traffic.Device, record.Stall) {},
	})
	before, err := ownCPU()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := s.Run(ctx); err != nil {
		return 0, err
	}
	after, err := ownCPU()
	return 100 * seconds(after-before) / seconds(time.Since(begun)), err
}

// scrapeDiskstats returns the same for a node_exporter that reads nothing else.
func scrapeDiskstats(ctx context.Context, length time.Duration) (percent float64, err error) {
	p, err := startNodeExporter(ctx, "--collector.disable-defaults", "--web.disable-exporter-metrics",
		"--collector.diskstats", "--collector.diskstats.device-exclude=^$")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	before, err := p.cpu()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	for time.Since(begun) < length {
		if _, err := p.scrape(ctx); err != nil {
			return 0, err
		}
		if err := pause(ctx, time.Second); err != nil {
			return 0, err
		}
	}
	after, err := p.cpu()
	return 100 * seconds(after-before) / seconds(time.Since(begun)), err
}
