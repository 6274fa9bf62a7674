package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	// scrapes is how many scrapes of each exporter are timed, turn by turn.
	scrapes = 300
	// starts is how often the daemon is started to time it.
	starts = 5
	// firstRounds is how long the first rounds of all targets may take.
	firstRounds = 2 * time.Minute
)

// soon makes the first rounds come soon, so that a target has all its series.
const soon = admitAll + `
probes:
  - {name: read-4k, interval: 30m, ios: 32}
  - {name: read-128k, pattern: sequential, block_size: 128KiB, interval: 30m, ios: 4}
  - {name: durable-write-4k, direction: write, pattern: sequential, datasync: true, interval: 30m, ios: 4, targets: files}
`

// startMeasured starts a daemon with n targets and waits until each probe of each has a result.
// Later rounds are rare, so that they do not disturb the timing of scrapes.
func (b *bench) startMeasured(ctx context.Context, name string, n int) (*process, error) {
	targets, err := b.targets(ctx, n)
	if err != nil {
		return nil, err
	}
	p, err := b.startDaemon(ctx, name, targets+soon)
	if err != nil {
		return nil, err
	}
	late := time.Now().Add(firstRounds)
	for time.Now().Before(late) {
		s, err := p.scrape(ctx)
		if err != nil {
			return nil, errors.Join(err, p.stop())
		}
		if _, found := s.with("ssdprobe_probe_last_success_timestamp_seconds{"); found == 3*n {
			return p, nil
		}
		if err := pause(ctx, 500*time.Millisecond); err != nil {
			return nil, errors.Join(err, p.stop())
		}
	}
	return nil, errors.Join(fmt.Errorf("not all of %d targets had a good round within %v", n, firstRounds), p.stop())
}

// timings are how long scrapes took, in milliseconds.
type timings []float64

func (t timings) at(q float64) float64 { return rank(slices.Sorted(slices.Values(t)), q) }

// timeScrapes scrapes the processes in turns. It reads the answers but does not parse them: on two
// processors, that work would be timed, too.
func timeScrapes(ctx context.Context, n int, processes ...*process) ([]timings, error) {
	all := make([]timings, len(processes))
	var body bytes.Buffer
	for range n {
		for i, p := range processes {
			begun := time.Now()
			if err := p.get(ctx, p.url, &body); err != nil {
				return nil, err
			}
			all[i] = append(all[i], 1000*time.Since(begun).Seconds())
		}
	}
	return all, nil
}

// compareScrapes times scrapes of daemons with 24 and 256 targets and of node_exporter, in turns.
func compareScrapes(ctx context.Context, b *bench) (lines []line, err error) {
	var processes []*process
	defer func() { err = errors.Join(err, stopAll(processes)) }()
	theirs, err := startNodeExporter(ctx)
	if err != nil {
		return nil, err
	}
	processes = append(processes, theirs)
	counts := []int{24, 256}
	for _, n := range counts {
		p, err := b.startMeasured(ctx, fmt.Sprintf("scrape-%d", n), n)
		if err != nil {
			return nil, err
		}
		processes = append(processes, p)
	}
	before := make([]sample, len(processes))
	for i, p := range processes {
		if before[i], err = p.scrape(ctx); err != nil {
			return nil, err
		}
	}
	times, err := timeScrapes(ctx, scrapes, processes...)
	if err != nil {
		return nil, err
	}
	names := []string{"node_exporter", "24 targets", "256 targets"}
	for i, p := range processes {
		after, err := p.scrape(ctx)
		if err != nil {
			return nil, err
		}
		what := "scrape of " + names[i]
		lines = append(lines,
			newLine(what+": time", "", "ms", shown(), times[i]...),
			newLine(what+": p99", "", "ms", shown(), times[i].at(0.99)),
			newLine(what+": allocated, rounds meanwhile included", "", "KiB each", shown(), (after[allocated]-before[i][allocated])/(scrapes+1)/1024),
		)
	}
	lines = append(lines, newLine("scrape of 24 targets: median", "node_exporter, in turns", "ratio", atMost(1), times[1].at(0.5)/times[0].at(0.5)))
	const aTarget = `/targets/0"`
	_, series := before[1].with("ssdprobe_", aTarget)
	return append(lines, newLine("series of a target (file, 3 probes, all with results)", "", "series", atMost(150), float64(series))), nil
}

// timeStart times the daemon from its start to ready with 24 targets.
func timeStart(ctx context.Context, b *bench) ([]line, error) {
	targets, err := b.targets(ctx, 24)
	if err != nil {
		return nil, err
	}
	var took []float64
	for range starts {
		p, err := b.startDaemon(ctx, "start", targets)
		if err != nil {
			return nil, err
		}
		took = append(took, p.ready.Seconds())
		if err := p.stop(); err != nil {
			return nil, err
		}
	}
	return []line{newLine("start to ready, 24 targets", "", "s", atMost(1), took...)}, nil
}
