package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// These are exported alike by the daemon and node_exporter.
	cpuSeconds    = "process_cpu_seconds_total"
	residentBytes = "process_resident_memory_bytes"
	allocated     = "go_memstats_alloc_bytes_total"

	// scrapeInterval is that of a usual Prometheus.
	scrapeInterval = 15 * time.Second
	// settle is how long an exporter runs before it is watched: its first rounds come soon after the start.
	settle = 10 * time.Second
)

// use is what a process has used while it was watched.
type use struct {
	residentMiB []float64 // at each scrape
	cpuPercent  float64   // of one core
}

// watchAll scrapes processes as Prometheus does, for a time, and returns what each has used.
func watchAll(ctx context.Context, processes []*process, length time.Duration) ([]use, error) {
	if err := pause(ctx, settle); err != nil {
		return nil, err
	}
	uses, first := make([]use, len(processes)), make([]float64, len(processes))
	begun := time.Now()
	for round := 0; ; round++ {
		end := time.Since(begun) >= length
		for i, p := range processes {
			s, _, err := p.scrape(ctx)
			if err != nil {
				return nil, err
			}
			uses[i].residentMiB = append(uses[i].residentMiB, s[residentBytes]/(1<<20))
			if round == 0 {
				first[i] = s[cpuSeconds]
			}
			uses[i].cpuPercent = 100 * (s[cpuSeconds] - first[i]) / time.Since(begun).Seconds()
		}
		if end {
			return uses, nil
		}
		if err := pause(ctx, min(scrapeInterval, max(0, length-time.Since(begun)))); err != nil {
			return nil, err
		}
	}
}

// stopAll stops processes.
func stopAll(processes []*process) error {
	var problems []error
	for _, p := range processes {
		problems = append(problems, p.stop())
	}
	return errors.Join(problems...)
}

// compareResources watches a daemon with 24 targets and node_exporter at the same time, both scraped every 15 s.
func compareResources(ctx context.Context, b *bench) (lines []line, err error) {
	var processes []*process
	defer func() { err = errors.Join(err, stopAll(processes)) }()
	theirs, err := startNodeExporter(ctx)
	if err != nil {
		return nil, err
	}
	processes = append(processes, theirs)
	targets, err := b.targets(ctx, 24)
	if err != nil {
		return nil, err
	}
	ours, err := b.startDaemon(ctx, "resources", targets)
	if err != nil {
		return nil, err
	}
	processes = append(processes, ours)
	uses, err := watchAll(ctx, processes, b.watch)
	if err != nil {
		return nil, err
	}
	const what = "daemon with 24 targets, defaults"
	against := fmt.Sprintf("node_exporter, same %v", b.watch)
	ratios := make([]float64, len(uses[1].residentMiB))
	for i := range ratios {
		ratios[i] = uses[1].residentMiB[i] / uses[0].residentMiB[i]
	}
	return []line{
		newLine(what+": resident memory", "", "MiB", atMost(40e6/(1<<20)), uses[1].residentMiB...),
		newLine("node_exporter: resident memory", "", "MiB", shown(), uses[0].residentMiB...),
		newLine(what+": resident memory", against, "ratio", atMost(2), ratios...),
		newLine(what+": CPU", "one core", "%", atMost(0.5), uses[1].cpuPercent),
		newLine("node_exporter: CPU", "one core", "%", shown(), uses[0].cpuPercent),
	}, nil
}

// scale watches daemons with more and more targets, all at the same time, for half as long.
func scale(ctx context.Context, b *bench) (lines []line, err error) {
	counts := []int{1, 8, 24, 64, 256}
	var processes []*process
	defer func() { err = errors.Join(err, stopAll(processes)) }()
	for _, n := range counts {
		targets, err := b.targets(ctx, n)
		if err != nil {
			return nil, err
		}
		p, err := b.startDaemon(ctx, fmt.Sprintf("scale-%d", n), targets)
		if err != nil {
			return nil, err
		}
		processes = append(processes, p)
	}
	uses, err := watchAll(ctx, processes, b.watch/2)
	if err != nil {
		return nil, err
	}
	for i, n := range counts {
		what := fmt.Sprintf("daemon with %d targets, defaults", n)
		lines = append(lines,
			newLine(what+": resident memory", "", "MiB", shown(), uses[i].residentMiB...),
			newLine(what+": CPU", "one core", "%", shown(), uses[i].cpuPercent),
		)
	}
	return lines, nil
}
