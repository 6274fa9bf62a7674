package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/target"
)

const (
	// latencyIOs is how many I/Os a side makes in one turn: a quarter of a second. A drive's
	// latency varies within seconds, so many short turns are more exact than few long ones.
	latencyIOs = 16 * 256
	// latencyTurns is how many turns of each side count as one pair.
	latencyTurns = 12
)

// compareLatency compares the percentiles of read-4k with those of fio's psync engine at depth 1.
// The order changes from pair to pair.
func compareLatency(ctx context.Context, b *bench) ([]line, error) {
	prober, err := newProber(b.file)
	if err != nil {
		return nil, err
	}
	var p50, p99 []float64
	for i := range latencyTurns * b.pairs {
		var ours record.Histogram
		var theirs fioRun
		sides := []func() error{
			func() (err error) { ours, err = rounds(ctx, prober, latencyIOs); return err },
			func() (err error) { theirs, err = readByFio(ctx, b.file, latencyIOs); return err },
		}
		for j := range sides {
			if err := sides[(i+j)%2](); err != nil {
				return nil, err
			}
		}
		p50 = append(p50, seconds(ours.Quantile(0.50))/seconds(theirs.latency.Quantile(0.50)))
		p99 = append(p99, seconds(ours.Quantile(0.99))/seconds(theirs.latency.Quantile(0.99)))
	}
	return []line{
		newLine("read-4k p50", "fio psync QD1", "ratio", within(0.03), p50...),
		newLine("read-4k p99", "fio psync QD1", "ratio", within(0.10), p99...),
	}, nil
}

func seconds(d time.Duration) float64 { return d.Seconds() }

func newProber(file *target.File) (*probe.Prober, error) {
	meter, _, err := counters.NewMeter()
	if err != nil {
		return nil, err
	}
	start, length := file.Data()
	return probe.NewFileProber(probe.NewEngine(meter, 1), file, nil, probe.Area{Start: start, Size: length}, file.Seed()), nil
}

// rounds runs read-4k until it has made the given number of I/Os.
func rounds(ctx context.Context, prober *probe.Prober, ios int64) (record.Histogram, error) {
	p := record.DefaultProbes()[0]
	var all []record.Histogram
	for done := int64(0); done < ios; done += int64(p.IOs) {
		m, err := prober.Round(ctx, p)
		if err != nil {
			return nil, err
		}
		if m.Outcome != record.OutcomeOK {
			return nil, fmt.Errorf("round of %s: %s: %s", p.Name, m.Outcome, m.Reason)
		}
		all = append(all, m.Latency)
	}
	return record.Merge(all...), nil
}
