package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

const (
	// Both the daemon and node_exporter export these.
	residentBytes = "process_resident_memory_bytes"
	allocated     = "go_memstats_alloc_bytes_total"

	// scrapeInterval is the usual interval of Prometheus.
	scrapeInterval = 15 * time.Second
	// settle is how long an exporter runs before it is measured: its first rounds come soon after the start.
	settle = 10 * time.Second
)

// use is what a process has used while it was measured.
type use struct {
	residentMiB []float64 // at each scrape
	scrapeMS    []float64 // duration of each scrape except the first
	cpuPercent  float64   // of one core
}

// watchAll scrapes processes as Prometheus does during length, and returns what each has used.
func watchAll(ctx context.Context, processes []*process, length time.Duration) ([]use, error) {
	if err := pause(ctx, settle); err != nil {
		return nil, err
	}
	uses, first := make([]use, len(processes)), make([]time.Duration, len(processes))
	begun := time.Now()
	for round := 0; ; round++ {
		end := time.Since(begun) >= length
		for i, p := range processes {
			s, took, err := p.timedScrape(ctx)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				uses[i].scrapeMS = append(uses[i].scrapeMS, 1e3*seconds(took))
			}
			uses[i].residentMiB = append(uses[i].residentMiB, s[residentBytes]/(1<<20))
			used, err := p.cpu()
			if err != nil {
				return nil, err
			}
			if round == 0 {
				first[i] = used
			}
			uses[i].cpuPercent = 100 * seconds(used-first[i]) / seconds(time.Since(begun))
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

// compareResources measures a daemon with 24 targets on the drive beside node_exporter, and one
// with as many on a disk in memory. Then it measures daemons with fewer and with more targets
// together, which disturb each other. All are scraped every 15 s.
func compareResources(ctx context.Context, b *bench) ([]line, error) {
	const compared = 24
	memory, cpu := atMost(40e6/(1<<20)), atMost(0.5)
	exporter, err := startNodeExporter(ctx)
	if err != nil {
		return nil, err
	}
	onDrive := crowd{compared, "", b.work}
	uses, err := b.watchDaemons(ctx, []crowd{onDrive}, exporter)
	if err := errors.Join(err, exporter.stop()); err != nil {
		return nil, err
	}
	ours, theirs := uses[0], uses[1]
	lines := append(useLines(onDrive.String(), ours, memory, cpu), newLine(onDrive.String()+": resident memory",
		fmt.Sprintf("node_exporter, same %v", b.watch), "ratio", atMost(2),
		rank(slices.Sorted(slices.Values(ours.residentMiB)), 0.5)/rank(slices.Sorted(slices.Values(theirs.residentMiB)), 0.5)))
	lines = append(lines, useLines("node_exporter", theirs, shown(), shown())...)

	inMemory, withoutDisk := b.watchInMemory(ctx, compared)
	if withoutDisk == nil {
		lines = append(lines, useLines(crowd{targets: compared, where: ", disk in memory"}.String(), inMemory, memory, cpu)...)
	}

	var crowds []crowd
	for _, n := range []int{1, 8, 64, 256} {
		crowds = append(crowds, crowd{n, "", b.work})
	}
	if uses, err = b.watchDaemons(ctx, crowds); err != nil {
		return nil, err
	}
	for i, c := range crowds {
		lines = append(lines, useLines(c.String(), uses[i], shown(), shown())...)
	}
	return lines, withoutDisk
}

// watchInMemory measures a daemon with n targets on a disk in memory.
func (b *bench) watchInMemory(ctx context.Context, n int) (u use, err error) {
	disk, err := b.newMemoryDisk(ctx)
	if err != nil {
		return u, err
	}
	defer b.takeAway(disk)
	uses, err := b.watchDaemons(ctx, []crowd{{n, "", disk.dir}})
	if err != nil {
		return u, err
	}
	return uses[0], nil
}

func useLines(what string, u use, memory, cpu wish) []line {
	return []line{
		newLine(what+": resident memory", "", "MiB", memory, u.residentMiB...),
		newLine(what+": CPU", "one core", "%", cpu, u.cpuPercent),
		newLine(what+": scrape, "+scrapeInterval.String()+" after the last", "", "ms", shown(), u.scrapeMS...),
	}
}

// crowd describes the targets of a daemon: how many, where, and in which directory.
type crowd struct {
	targets int
	where   string // "" for the drive
	dir     string
}

func (c crowd) String() string {
	return fmt.Sprintf("daemon with %d targets, defaults%s", c.targets, c.where)
}

// watchDaemons measures a daemon for each crowd, and other exporters beside them.
func (b *bench) watchDaemons(ctx context.Context, crowds []crowd, others ...*process) (uses []use, err error) {
	var processes []*process
	defer func() { err = errors.Join(err, stopAll(processes)) }()
	for _, c := range crowds {
		targets, err := targetsIn(ctx, c.dir, c.targets)
		if err != nil {
			return nil, err
		}
		p, err := b.startDaemon(ctx, fmt.Sprintf("resources-%d-%s", c.targets, filepath.Base(c.dir)), targets)
		if err != nil {
			return nil, err
		}
		processes = append(processes, p)
	}
	return watchAll(ctx, slices.Concat(processes, others), b.watch)
}
