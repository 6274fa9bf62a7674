package iolatency

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	// firstSlow is the initial latency from which an I/O is reported, and leastSlow the lowest one. During a
	// storm of slow I/Os, at most mostTold of a device are reported in a second.
	firstSlow, leastSlow = 10 * time.Millisecond, time.Millisecond
	mostTold             = 64
	// More than manyTold reports in a second raise the threshold, and calmSeconds seconds without a report
	// lower it.
	manyTold, calmSeconds = 16, 10
	// keptSlow is how many of the I/Os reported in a second are kept: the slowest.
	keptSlow = 4
)

// threshold is the latency from which the I/Os of a device are reported. It adapts to the device, so that a few
// are reported.
type threshold struct {
	slow time.Duration
	calm int // seconds without a report
}

// next adapts the threshold. told is how many I/Os were reported in the last second.
func (t *threshold) next(told int) {
	switch {
	case told > manyTold:
		t.slow, t.calm = 2*t.slow, 0
	case told > 0:
		t.calm = 0
	default:
		t.calm++
		if t.calm == calmSeconds {
			t.slow, t.calm = max(leastSlow, t.slow/2), 0
		}
	}
}

// slowEvent is struct slow of bpf/iolatency.bpf.c.
type slowEvent struct {
	Ended, Device, Queue uint64
	Sector, CGroup       uint64
	Bytes, Process       uint32
	Name                 [16]byte
	Watch, Operation     uint32
}

// told is a reported slow I/O.
type told struct {
	record.SlowIO
	group uint64 // control group that submitted it; 0 when not reported
}

// Slow returns the slowest I/Os since the last call, by device number and in the order of their completion.
// Call it once a second. names says whether the next I/Os are to be reported with the process that submitted
// them.
func (t *Tracer) Slow(names bool) (map[string][]record.SlowIO, error) {
	slowest, err := t.slowest(names)
	all := make(map[string][]record.SlowIO, len(slowest))
	for number, slow := range slowest {
		for _, s := range slow {
			if s.group != 0 { // a lookup may take long, so it is done without holding t.mu
				s.CGroup = t.cgroups.path(s.group)
			}
			all[number] = append(all[number], s.SlowIO)
		}
	}
	if names {
		t.cgroups.follow()
	}
	return all, err
}

// slowest is Slow without the paths of control groups.
func (t *Tracer) slowest(names bool) (map[string][]told, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	on := uint32(0)
	if names {
		on = 1
	}
	_, err := t.kernel.control.WriteAt(binary.NativeEndian.AppendUint32(nil, on), atNames)
	byWatch, all := map[uint32]string{}, map[string][]told{}
	for number, d := range t.devices {
		byWatch[d.watch] = number
	}
	wall, steady := time.Now(), steadyNow()
	errs := []error{err}
	for {
		r, err := t.kernel.slows.Read()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		} else if err != nil {
			errs = append(errs, fmt.Errorf("read what is told of slow I/Os: %w", err))
			break
		}
		if number, s, ok := read(r, byWatch, wall, steady, names); ok {
			all[number] = append(all[number], s)
		}
	}
	for number, d := range t.devices {
		d.threshold.next(len(all[number]))
		slices.SortFunc(all[number], func(a, b told) int { return cmp.Compare(b.Latency(), a.Latency()) })
		if len(all[number]) > keptSlow {
			all[number] = all[number][:keptSlow]
		}
		slices.SortFunc(all[number], func(a, b told) int { return a.Time.Compare(b.Time) })
		beyond, err := t.places.beyond(d.at)
		t.limited += beyond
		errs = append(errs, err, t.places.tell(d.at, d.threshold.slow, mostTold))
	}
	var untold [8]byte
	_, err = t.kernel.control.ReadAt(untold[:], atUntold)
	if err == nil {
		t.untold = binary.NativeEndian.Uint64(untold[:])
	}
	return all, errors.Join(append(errs, err)...)
}

// read decodes the report of a slow I/O; ok is false when its device is not followed any more.
func read(r ringbuf.Record, devices map[uint32]string, wall time.Time, steady time.Duration, names bool) (number string, s told, ok bool) {
	var e slowEvent
	if n, err := binary.Decode(r.RawSample, binary.NativeEndian, &e); err != nil || n != slowBytes || e.Operation >= operations {
		return "", s, false
	}
	number, ok = devices[e.Watch]
	s.SlowIO = record.SlowIO{
		Time: wall.Add(time.Duration(e.Ended) - steady).UTC().Truncate(time.Millisecond), Operation: kernelOperations()[e.Operation],
		Bytes: int64(e.Bytes), Sector: int64(e.Sector), Device: time.Duration(e.Device), Queue: time.Duration(e.Queue),
	}
	if names && e.Process != 0 {
		name, _, _ := bytes.Cut(e.Name[:], []byte{0})
		s.Process, s.PID, s.group = string(name), int(e.Process), e.CGroup
	}
	return number, s, ok
}

// steadyNow returns the time of the clock that the programs use.
func steadyNow() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0 // cannot happen: every Linux has this clock
	}
	return time.Duration(now.Nano())
}
