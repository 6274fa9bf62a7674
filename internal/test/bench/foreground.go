package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

const (
	// foregroundPairs is how many turns each side has; the turns are long.
	foregroundPairs = 3
	// findMaximum is how long the workload runs without a limit to find its rate.
	findMaximum = 3 * time.Second
)

// compareForeground compares a workload beside a daemon with default settings with the same workload alone.
func compareForeground(ctx context.Context, b *bench) ([]line, error) {
	var lines []line
	for _, depth := range []int{1, 8} {
		w, err := b.disturb(ctx, depth, b.turn, "")
		if err != nil {
			return nil, err
		}
		against := "the same alone, at half of its maximum"
		lines = append(lines,
			newLine(fmt.Sprintf("foreground QD%d IOPS with the daemon", depth), against, "ratio", atLeast(0.998), w.iops...),
			newLine(fmt.Sprintf("foreground QD%d p99 with the daemon", depth), against, "ratio", atMost(1.02), w.p99...),
			newLine(fmt.Sprintf("foreground QD%d p99, all turns together", depth), against, "ratio", atMost(1.02), w.p99Of()),
		)
	}
	return lines, nil
}

// costCurve measures what shorter intervals cost the same workload.
func costCurve(ctx context.Context, b *bench) ([]line, error) {
	var lines []line
	for _, interval := range []string{"10s", "3s", "1s"} {
		w, err := b.disturb(ctx, 1, b.turn/2, "probes: [{name: read-4k, interval: "+interval+"}]\n")
		if err != nil {
			return nil, err
		}
		what := "foreground QD1, read-4k every " + interval
		lines = append(lines,
			newLine(what+": IOPS", "the same alone", "ratio", shown(), w.iops...),
			newLine(what+": p99, all turns together", "the same alone", "ratio", shown(), w.p99Of()),
			newLine(what+": CPU of the daemon", "one core", "%", shown(), 100*w.cpuShare),
		)
	}
	return lines, nil
}

// disturbed is the effect on a workload: the ratios with and without the daemon, pair by pair.
type disturbed struct {
	iops, p99     []float64
	with, without fio.Histogram
	// cpuShare is the share of one core that the daemon used while it ran.
	cpuShare float64
}

// p99Of returns the ratio of the percentiles over all turns of each side: rounds twice a minute occur in few turns.
func (d disturbed) p99Of() float64 {
	return seconds(d.with.Quantile(0.99)) / seconds(d.without.Quantile(0.99))
}

// disturb runs a workload in turns: with a daemon, and with the same daemon stopped (SIGSTOP). The
// order changes from pair to pair.
func (b *bench) disturb(ctx context.Context, depth int, turn time.Duration, probes string) (d disturbed, err error) {
	targets, err := b.targets(ctx, 1)
	if err != nil {
		return d, err
	}
	alone, err := b.foreground(ctx, depth, findMaximum, 0)
	if err != nil {
		return d, err
	}
	rate := int(alone.read.IOPS / 2)
	daemon, err := b.startDaemon(ctx, "foreground", targets+probes)
	if err != nil {
		return d, err
	}
	defer func() {
		err = errors.Join(err, daemon.cmd.Process.Signal(unix.SIGCONT), daemon.stop())
	}()
	if err := pause(ctx, 6*time.Second); err != nil { // the first rounds come soon after the start
		return d, err
	}
	before, err := daemon.cpu()
	if err != nil {
		return d, err
	}
	var on time.Duration
	for i := range foregroundPairs {
		var runs [2]fioRun // without, with
		for j := range runs {
			side := (i + j) % 2
			if err := daemon.cmd.Process.Signal([]unix.Signal{unix.SIGSTOP, unix.SIGCONT}[side]); err != nil {
				return d, err
			}
			begun := time.Now()
			if runs[side], err = b.foreground(ctx, depth, turn, rate); err != nil {
				return d, err
			}
			if side == 1 {
				on += time.Since(begun)
			}
		}
		d.iops = append(d.iops, runs[1].read.IOPS/runs[0].read.IOPS)
		d.p99 = append(d.p99, seconds(runs[1].latency.Quantile(0.99))/seconds(runs[0].latency.Quantile(0.99)))
		d.without, d.with = d.without.Merge(runs[0].latency), d.with.Merge(runs[1].latency)
	}
	if err := daemon.cmd.Process.Signal(unix.SIGCONT); err != nil {
		return d, err
	}
	after, err := daemon.cpu()
	if err != nil {
		return d, err
	}
	d.cpuShare = seconds(after-before) / seconds(on)
	return d, nil
}

// foreground runs a workload of random reads of 4 KiB at a fixed rate, or without a limit if rate is 0.
func (b *bench) foreground(ctx context.Context, depth int, runtime time.Duration, rate int) (fioRun, error) {
	args := []string{
		"--name=foreground", "--ioengine=libaio", "--iodepth=" + strconv.Itoa(depth),
		"--time_based", fmt.Sprintf("--runtime=%dms", runtime.Milliseconds()),
	}
	if rate > 0 {
		args = append(args, "--rate_iops="+strconv.Itoa(rate))
	}
	return runFio(ctx, "", append(args, onData(b.file)...)...)
}
