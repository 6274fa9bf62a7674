package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Name is what conditions and the label engine call this engine. It changes when a
// change of the engine changes what it measures, so that drives which are measured by
// different engines are not compared with each other.
const Name = "ssdprobe-2"

// Inherit returns the conditions under which an earlier engine measured as this one
// calls them, if a drive is as fast for the one as for the other: its own baseline then
// holds, and an upgrade begins no epoch. Other conditions stay as they are.
//
// ssdprobe-2 reads a full pool of a raw device in changing places. The new places are
// as good a sample of the drive as the old ones.
func Inherit(c record.Conditions) record.Conditions {
	if c.Engine == "ssdprobe-1" {
		c.Engine = Name
	}
	return c
}

// ErrReadOnly says that a write probe met a target that cannot be written.
var ErrReadOnly = errors.New("the target is read-only")

// Sink is what a write round writes to. Raw devices do not have this method set.
type Sink interface {
	io.WriterAt
	// Datasync returns when all that was written is on the device (fdatasync).
	Datasync() error
	// Content fills p with what belongs at off, so that a rewritten block holds
	// what it held before.
	Content(p []byte, off int64)
}

// Meter reads what the kernel says of the calling thread and its cgroup.
type Meter interface {
	// Thread returns the time the calling thread has waited for a CPU so far, and
	// how often it was switched out against its will.
	Thread() (wait time.Duration, involuntary int64, err error)
	// Throttled returns the time the CPU quota has stopped the process so far.
	Throttled() (time.Duration, error)
}

// Engine executes rounds. It may be used by several goroutines.
type Engine struct {
	meter      Meter
	maxCPUWait float64
	histograms sync.Pool
}

// NewEngine returns an engine that calls a round disturbed when its threads
// waited for a CPU for more than maxCPUWait (0 to 1) of it.
func NewEngine(meter Meter, maxCPUWait float64) *Engine {
	return &Engine{
		meter: meter, maxCPUWait: maxCPUWait,
		histograms: sync.Pool{New: func() any { return newHistogram() }},
	}
}

// Round is one execution of a probe. Offsets are in bytes and aligned to the block size.
type Round struct {
	Probe   record.Probe
	Source  io.ReaderAt
	Sink    Sink // nil where nothing may be written
	Warmup  []int64
	Offsets []int64
}

// Result is a measurement and what is only of use to the one who chose the offsets.
type Result struct {
	record.Measurement
	// Unwritten tells, for each of Round.Offsets, that it was read and that more
	// than half of it was never written.
	Unwritten []bool
}

// Round executes r and blocks until its last I/O returned; on a hung device that
// may be never, so callers go through package guard. The error is about the
// round as such (wrong arguments, cancelled, no clock); I/O errors are in the result.
func (e *Engine) Round(ctx context.Context, r Round) (Result, error) {
	if r.Probe.Direction == record.Write && r.Sink == nil {
		return Result{}, fmt.Errorf("probe %s: %w", r.Probe.Name, ErrReadOnly)
	}
	if len(r.Offsets) == 0 {
		return Result{}, fmt.Errorf("probe %s: no offsets to read", r.Probe.Name)
	}
	round := &execution{Round: r, meter: e.meter, stop: ctx.Err}
	defer round.release()
	if err := round.prepare(); err != nil {
		return Result{}, fmt.Errorf("probe %s: %w", r.Probe.Name, err)
	}
	m := record.Measurement{Probe: r.Probe.Name, Start: time.Now()}
	throttled, err := e.meter.Throttled()
	if err != nil {
		return Result{}, fmt.Errorf("probe %s: read the cgroup's CPU throttling: %w", r.Probe.Name, err)
	}
	if err := round.run(); err != nil {
		return Result{}, fmt.Errorf("probe %s: %w", r.Probe.Name, err)
	}
	throttledAfter, err := e.meter.Throttled()
	if err != nil {
		return Result{}, fmt.Errorf("probe %s: read the cgroup's CPU throttling: %w", r.Probe.Name, err)
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return Result{}, fmt.Errorf("probe %s: %w", r.Probe.Name, cause)
	}
	m.Disturbance.Throttled = throttledAfter - throttled
	if err := e.fill(&m, round); err != nil {
		return Result{}, fmt.Errorf("probe %s: %w", r.Probe.Name, err)
	}
	m.Outcome, m.Reason = e.judge(m, ctx.Err() != nil)
	return Result{Measurement: m, Unwritten: round.unwritten}, nil
}

// fill adds up what the threads of the round saw.
func (e *Engine) fill(m *record.Measurement, round *execution) error {
	h := e.histograms.Get().(*histogram)
	defer e.histograms.Put(h)
	var warmup, counted []time.Duration
	var wait time.Duration
	for i := range round.threads {
		t := &round.threads[i]
		warmup = append(warmup, t.warmup...)
		for _, l := range t.warmup {
			if isStall(l, round.Probe.Timeout) {
				counted = append(counted, l)
			}
		}
		counted = append(counted, t.counted...)
		wait += t.wait
		m.Disturbance.InvoluntarySwitches += t.involuntary
		m.Duration = max(m.Duration, t.end.Sub(round.start))
		m.ReadBytes += t.readBytes
		m.WrittenBytes += t.writtenBytes
		m.CheckedBlocks += t.checked
		m.UnwrittenBlocks += t.uniform
		for name, n := range t.errors {
			if m.Errors == nil {
				m.Errors = map[string]int64{}
			}
			m.Errors[name] += n
		}
	}
	m.Disturbance.CPUWait = wait / time.Duration(len(round.threads))
	if m.Duration > 0 {
		m.Disturbance.CPUWaitRatio = min(1, m.Disturbance.CPUWait.Seconds()/m.Duration.Seconds())
	}
	var err error
	if m.Warmup, err = h.of(warmup); err != nil {
		return err
	}
	m.Latency, err = h.of(counted)
	return err
}

// isStall reports whether an I/O took as long as a whole round may take. It then counts as an I/O of the round,
// whatever it was for: how long a device hung must not depend on which I/O met it.
func isStall(latency, timeout time.Duration) bool { return timeout > 0 && latency >= timeout }

// judge decides what the round is worth. What stops a round comes first, then
// what makes its figures fiction, then what blurs them.
func (e *Engine) judge(m record.Measurement, late bool) (record.Outcome, string) {
	d := m.Disturbance
	switch {
	case late && 2*(d.CPUWait+d.Throttled) > m.Duration && m.Duration > 0:
		return record.OutcomeDisturbed, fmt.Sprintf("stopped after %d I/Os: the time for a round was over, most of which it did not get a CPU", m.Latency.Count())
	case late:
		return record.OutcomeTimeout, fmt.Sprintf("stopped after %d I/Os: the time for a round was over", m.Latency.Count())
	case len(m.Errors) > 0:
		return record.OutcomeError, fmt.Sprintf("I/O errors: %s", describe(m.Errors))
	case 2*m.UnwrittenBlocks > m.CheckedBlocks:
		return record.OutcomeUnmapped, fmt.Sprintf(
			"%d of %d blocks read have all bytes equal: never written, so the drive answered from its mapping table", m.UnwrittenBlocks, m.CheckedBlocks)
	case d.Throttled > 0:
		return record.OutcomeDisturbed, fmt.Sprintf("the CPU quota of the cgroup stopped the process for %s", d.Throttled)
	case d.CPUWaitRatio > e.maxCPUWait:
		return record.OutcomeDisturbed, fmt.Sprintf("waited for a CPU for %.1f %% of the round", 100*d.CPUWaitRatio)
	}
	return record.OutcomeOK, ""
}

// execution is a round under way.
type execution struct {
	Round
	meter     Meter
	stop      func() error // non-nil: end after the I/O in progress
	threads   []thread
	unwritten []bool
	start     time.Time
	next      atomic.Int64 // index into Offsets of the next counted I/O
	failed    atomic.Int64 // failed I/Os
	gone      atomic.Bool  // the device went away
}

// prepare allocates all that the threads need, so that nothing is allocated
// while I/Os are timed.
func (x *execution) prepare() error {
	depth := max(1, min(x.Probe.QueueDepth, len(x.Offsets)))
	x.threads = make([]thread, depth)
	x.unwritten = make([]bool, len(x.Offsets))
	for i := range x.threads {
		t := &x.threads[i]
		// Anonymous memory is aligned to the page, as O_DIRECT asks for.
		buffer, err := unix.Mmap(-1, 0, int(x.Probe.BlockBytes), unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_POPULATE)
		if err != nil {
			return fmt.Errorf("map a buffer of %d bytes: %w", x.Probe.BlockBytes, err)
		}
		t.buffer = buffer
		t.warmup = make([]time.Duration, 0, len(x.Warmup))
		t.counted = make([]time.Duration, 0, len(x.Offsets))
	}
	return nil
}

func (x *execution) release() {
	for i := range x.threads {
		if b := x.threads[i].buffer; b != nil {
			// The mapping is ours and whole, so unmapping it cannot fail.
			_ = unix.Munmap(b)
		}
	}
}

// run lets every thread warm up, starts them together and waits for all.
func (x *execution) run() error {
	var warm sync.WaitGroup
	warm.Add(len(x.threads))
	start := make(chan struct{})
	var group errgroup.Group
	for i := range x.threads {
		group.Go(func() error {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			t := &x.threads[i]
			for j := i; j < len(x.Warmup) && !x.over(); j += len(x.threads) {
				if latency, ok := x.do(t, x.Warmup[j], nil); ok {
					t.warmup = append(t.warmup, latency)
				}
			}
			warm.Done()
			<-start
			return x.measure(t)
		})
	}
	warm.Wait()
	x.start = time.Now()
	close(start)
	return group.Wait()
}

// over reports that the round has to end before its last I/O.
func (x *execution) over() bool {
	return x.stop() != nil || x.gone.Load() || x.failed.Load() >= maxFailed
}

func (x *execution) measure(t *thread) error {
	wait, involuntary, err := x.meter.Thread()
	if err != nil {
		return fmt.Errorf("read the time spent waiting for a CPU: %w", err)
	}
	for !x.over() {
		i := int(x.next.Add(1)) - 1
		if i >= len(x.Offsets) {
			break
		}
		if latency, ok := x.do(t, x.Offsets[i], &x.unwritten[i]); ok {
			t.counted = append(t.counted, latency)
		}
	}
	t.end = time.Now()
	waitAfter, involuntaryAfter, err := x.meter.Thread()
	if err != nil {
		return fmt.Errorf("read the time spent waiting for a CPU: %w", err)
	}
	t.wait, t.involuntary = waitAfter-wait, involuntaryAfter-involuntary
	return nil
}
