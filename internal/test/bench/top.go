package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// compareTop runs ssdprobe top and iostat -x side by side, once per second each, with 24 devices.
func compareTop(ctx context.Context, b *bench) (lines []line, err error) {
	const devices = 24
	iostat, err := exec.LookPath("iostat")
	if err != nil {
		return nil, unreachableError{"iostat is not installed: scripts/install.sh sysstat"}
	}
	names, detach, err := b.loopDevices(ctx, devices)
	defer func() { err = errors.Join(err, detach()) }()
	if err != nil {
		return nil, err
	}
	var both []*process
	defer func() {
		for _, p := range both {
			_ = p.cmd.Process.Kill() // both are ended by a signal
			_ = p.cmd.Wait()
		}
	}()
	state := filepath.Join(b.work, "top")
	for _, c := range []*exec.Cmd{
		exec.CommandContext(ctx, b.binary, append([]string{"top", "--state-dir", state, "--interval", "1s"}, names...)...),
		exec.CommandContext(ctx, iostat, append([]string{"-x", "1"}, names...)...),
	} {
		if err := c.Start(); err != nil { // what it prints goes to /dev/null
			return nil, err
		}
		both = append(both, &process{cmd: c})
	}
	if err := pause(ctx, settle); err != nil {
		return nil, err
	}
	percent, err := cpuOf(ctx, both, b.watch)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("top with %d devices: CPU", devices)
	return []line{
		newLine(what, "one core", "%", atMost(0.5), percent[0]),
		newLine("iostat -x 1 with them: CPU", "one core", "%", shown(), percent[1]),
		newLine(what, "iostat -x 1", "ratio", shown(), percent[0]/percent[1]),
	}, nil
}

// cpuOf returns the share of a core, in percent, that each process uses during length.
func cpuOf(ctx context.Context, all []*process, length time.Duration) (percent []float64, err error) {
	before := make([]time.Duration, len(all))
	for i, p := range all {
		if before[i], err = p.cpu(); err != nil {
			return nil, err
		}
	}
	begun := time.Now()
	if err := pause(ctx, length); err != nil {
		return nil, err
	}
	for i, p := range all {
		used, err := p.cpu()
		if err != nil {
			return nil, err
		}
		percent = append(percent, 100*seconds(used-before[i])/seconds(time.Since(begun)))
	}
	return percent, nil
}
