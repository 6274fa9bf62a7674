package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// hangPairs is how often the drive hangs and comes back.
const hangPairs = 4

// compareHang times scrapes of a daemon with 24 targets while one hangs: a file on a frozen
// filesystem, where a write does not end until the thaw.
func compareHang(ctx context.Context, b *bench) (lines []line, err error) {
	dir, unmount, err := b.mount(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unmount()) }()
	targets, err := b.targets(ctx, 23)
	if err != nil {
		return nil, err
	}
	const probes = "probes: [{name: durable-write-4k, direction: write, pattern: sequential, datasync: true, interval: 1s, ios: 4, timeout: 2s, targets: files}]\n"
	p, err := b.startDaemon(ctx, "hang", targets+"  - {path: "+dir+", size: 16MiB}\n"+admitAll+probes)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	// Thaw before the daemon is stopped, which waits for its thread in the kernel.
	defer func() { _ = tool(context.WithoutCancel(ctx), "fsfreeze", "--unfreeze", dir) }() // usually it is no longer frozen

	hangs := func(s sample) bool {
		age, _ := s.with("ssdprobe_probe_inflight_seconds{", dir+`"`)
		return age > 3
	}
	var median, tail []float64
	for range hangPairs {
		if err := p.await(ctx, func(s sample) bool {
			good, _ := s.with("ssdprobe_probe_rounds_total{", dir+`"`, `outcome="ok"`)
			return good > 0 && !hangs(s)
		}); err != nil {
			return nil, err
		}
		without, err := timeScrapes(ctx, scrapes/hangPairs, p)
		if err != nil {
			return nil, err
		}
		if err := tool(ctx, "fsfreeze", "--freeze", dir); err != nil {
			return nil, err
		}
		if err := p.await(ctx, hangs); err != nil {
			return nil, err
		}
		with, err := timeScrapes(ctx, scrapes/hangPairs, p)
		if err != nil {
			return nil, err
		}
		if err := tool(ctx, "fsfreeze", "--unfreeze", dir); err != nil {
			return nil, err
		}
		median = append(median, with[0].at(0.5)/without[0].at(0.5))
		tail = append(tail, with[0].at(0.99)/without[0].at(0.99))
	}
	return []line{
		newLine("scrape p50 while 1 of 24 targets hangs", "none hangs", "ratio", within(0.1), median...),
		newLine("scrape p99 while 1 of 24 targets hangs", "none hangs", "ratio", shown(), tail...),
	}, nil
}

// await scrapes until something is seen.
func (p *process) await(ctx context.Context, seen func(sample) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("what was waited for is not seen in the metrics"))
	defer cancel()
	for {
		s, err := p.scrape(ctx)
		if err == nil && seen(s) {
			return nil
		}
		if err := errors.Join(err, pause(ctx, 100*time.Millisecond)); err != nil {
			return err
		}
	}
}

// mount creates and mounts an ext4 filesystem.
func (b *bench) mount(ctx context.Context) (dir string, unmount func() error, err error) {
	if os.Geteuid() != 0 {
		return "", nil, unreachableError{"it needs root, to mount a filesystem of its own"}
	}
	dir, err = os.MkdirTemp(b.work, "mounted-")
	if err != nil {
		return "", nil, err
	}
	image := dir + ".img"
	f, err := os.Create(image)
	if err != nil {
		return "", nil, err
	}
	if err := errors.Join(f.Truncate(256<<20), f.Close()); err != nil {
		return "", nil, err
	}
	if err := tool(ctx, "mkfs.ext4", "-q", "-F", "-m", "0", image); err != nil {
		return "", nil, err
	}
	if err := tool(ctx, "mount", "-o", "loop,noatime", image, dir); err != nil {
		return "", nil, unreachableError{err.Error()}
	}
	return dir, func() error { return tool(context.WithoutCancel(ctx), "umount", dir) }, nil
}

// tool runs a command of the system.
func tool(ctx context.Context, name string, args ...string) error {
	if _, err := exec.LookPath(name); err != nil {
		name = "/usr/sbin/" + name // often not in the PATH of users
	}
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
