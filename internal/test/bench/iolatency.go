package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/iolatency"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// statsSwitch makes the kernel count the run time of eBPF programs, which itself takes time.
const statsSwitch = "/proc/sys/kernel/bpf_stats_enabled"

// compareTimed reads a device in memory at full speed, in turns: with its I/O timed by eBPF
// programs, and without.
func compareTimed(ctx context.Context, b *bench) (lines []line, err error) {
	if os.Geteuid() != 0 {
		return nil, unreachableError{"it needs root, to make a loop device and to load programs"}
	}
	dir, err := os.MkdirTemp("/dev/shm", "ssdprobe-bench-")
	if err != nil {
		return nil, unreachableError{"it needs memory as a filesystem: " + err.Error()}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "device")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, 256<<20)); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, "losetup", "--find", "--show", "--direct-io=on", file).Output()
	if err != nil {
		return nil, fmt.Errorf("make a loop device: %w", err)
	}
	device := strings.TrimSpace(string(out))
	defer func() { err = errors.Join(err, tool(context.WithoutCancel(ctx), "losetup", "--detach", device)) }()
	var st unix.Stat_t
	if err := unix.Stat(device, &st); err != nil {
		return nil, fmt.Errorf("stat %s: %w", device, err)
	}
	t := timedDevice{device, fmt.Sprintf("%d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev)), fmt.Sprintf("--runtime=%d", max(1, int(b.turn.Seconds()/2)))}

	var ratios, least, counted, rates []float64
	for pair := range b.pairs {
		var alone, beside, besideClock float64
		turns := []func() error{
			func() (err error) { alone, err = t.read(ctx); return err },
			func() (err error) { besideClock, err = t.readBesideClock(ctx); return err },
			func() (err error) {
				var share float64
				beside, share, _, err = t.readTimed(ctx)
				counted = append(counted, share)
				return err
			},
		}
		for i := range turns { // the order changes
			if err := turns[(i+pair)%len(turns)](); err != nil {
				return nil, err
			}
		}
		ratios, least, rates = append(ratios, beside/alone), append(least, besideClock/alone), append(rates, alone)
	}
	each, err := t.cost(ctx)
	if err != nil {
		return nil, err
	}
	return []line{
		newLine("IOPS of a device in memory, each I/O timed by eBPF", "the same alone", "ratio", atLeast(0.98), ratios...),
		newLine("the same beside two programs that only read the clock", "the same alone", "ratio", shown(), least...),
		newLine("the same alone", "", "IOPS", shown(), rates...),
		newLine("I/Os that were timed", "/proc/diskstats", "ratio", atLeast(0.9999), counted...),
		newLine("time of the programs for each I/O, with bpf_stats_enabled", "", "ns", shown(), each),
	}, nil
}

// timedDevice is the device that is read.
type timedDevice struct{ path, number, runtime string }

// read returns the IOPS.
func (t timedDevice) read(ctx context.Context) (float64, error) {
	r, err := runFio(ctx, "", "--name=read", "--filename="+t.path, "--direct=1", "--rw=randread", "--bs=4k", "--ioengine=libaio",
		"--iodepth=32", "--numjobs=2", "--time_based", t.runtime)
	return r.read.IOPS, err
}

// readTimed returns the IOPS, the share of the I/Os that were timed, and the run time of the
// programs per I/O in nanoseconds; 0 if the kernel does not count it.
func (t timedDevice) readTimed(ctx context.Context) (iops, share, each float64, err error) {
	tracer, err := iolatency.Start()
	if err != nil {
		return 0, 0, 0, unreachableError{err.Error()}
	}
	defer func() { err = errors.Join(err, tracer.Close()) }()
	if err := tracer.Follow(map[string]iolatency.Device{t.number: {Requests: true}}); err != nil {
		return 0, 0, 0, err
	}
	before, err := t.completed()
	if err != nil {
		return 0, 0, 0, err
	}
	iops, err = t.read(ctx)
	if err != nil {
		return 0, 0, 0, err
	}
	after, err := t.completed()
	seen := uint64(0)
	for _, h := range tracer.Of(t.number).Histograms {
		if h.Stage == record.StageDevice {
			seen += h.Count()
		}
	}
	return iops, float64(seen) / float64(after-before), float64(tracer.Ran()) / float64(seen), err
}

// readBesideClock returns the IOPS beside the least that programs can do to time each I/O: read the clock when it
// is issued and when it ends.
func (t timedDevice) readBesideClock(ctx context.Context) (iops float64, err error) {
	issued, err := readClockAt("block_rq_issue")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, issued.Close()) }()
	ended, err := readClockAt("block_rq_complete")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, ended.Close()) }()
	return t.read(ctx)
}

// readClockAt attaches a program that only reads the clock to an event of the kernel.
func readClockAt(event string) (_ link.Link, err error) {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.Tracing, AttachType: ebpf.AttachTraceRawTp, AttachTo: event, License: "GPL",
		Instructions: asm.Instructions{asm.FnKtimeGetNs.Call(), asm.Mov.Imm(asm.R0, 0), asm.Return()},
	})
	if err != nil {
		return nil, fmt.Errorf("load a program for %s: %w", event, err)
	}
	defer func() { err = errors.Join(err, p.Close()) }() // the link keeps it
	return link.AttachTracing(link.TracingOptions{Program: p})
}

// completed returns how many I/Os the kernel has counted.
func (t timedDevice) completed() (uint64, error) {
	disks, err := counters.ReadDisks(sysfs.New("/"))
	disk, _ := disks.ByNumber(t.number)
	return disk.IOs(), err
}

// cost returns the run time of the programs per I/O, in nanoseconds.
func (t timedDevice) cost(ctx context.Context) (each float64, err error) {
	before, err := os.ReadFile(statsSwitch)
	if err != nil {
		return 0, err
	}
	if err := os.WriteFile(statsSwitch, []byte("1"), 0o600); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.WriteFile(statsSwitch, before, 0o600)) }()
	_, _, each, err = t.readTimed(ctx)
	return each, err
}
