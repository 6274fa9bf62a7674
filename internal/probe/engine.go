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

// Name is the name of this engine in conditions and in the label engine. It changes whenever a change of the
// engine changes what it measures, so that drives measured by different engines are not compared with each
// other.
const Name = "ssdprobe-2"

// Inherit translates the conditions of an earlier engine into those of this one, if a drive measures equally
// fast under both: its own baseline then remains valid, and an upgrade does not begin an epoch. Other
// conditions are returned unchanged.
//
// Compared with ssdprobe-1, ssdprobe-2 reads a full pool of a raw device in changing places. The new places are
// as good a sample of the drive as the old ones.
func Inherit(c record.Conditions) record.Conditions {
	if c.Engine == "ssdprobe-1" {
		c.Engine = Name
	}
	return c
}

// ErrReadOnly is returned when a write probe meets a target that cannot be written.
var ErrReadOnly = errors.New("the target is read-only")

// Sink is the destination of a write round. Raw devices do not implement it.
type Sink interface {
	io.WriterAt
	// Datasync returns when everything written is on the device (fdatasync).
	Datasync() error
	// Content fills p with the content that belongs at off, so that rewriting a block does not change it.
	Content(p []byte, off int64)
}

// Meter reads the kernel's counters for the calling thread and its cgroup.
type Meter interface {
	// Thread returns how long the calling thread has waited for a CPU so far, and how often it was switched out
	// involuntarily.
	Thread() (wait time.Duration, involuntary int64, err error)
	// Throttled returns how long the CPU quota has stopped the process so far.
	Throttled() (time.Duration, error)
}

// Engine executes rounds. It is safe for concurrent use.
type Engine struct {
	meter      Meter
	maxCPUWait float64
	histograms sync.Pool
}

// NewEngine returns an engine that reports a round as disturbed if its threads waited too long for a CPU: for
// more than the share maxCPUWait (0 to 1) of its duration.
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
	Sink    Sink // nil when nothing may be written
	Warmup  []int64
	Offsets []int64
}

// Result is the measurement of a round, and details for the caller that chose the offsets.
type Result struct {
	record.Measurement
	// Unwritten is true, for each of Round.Offsets, if the block was read and more than half of it was never
	// written.
	Unwritten []bool
}

// Round executes r and blocks until its last I/O has returned. On a hung device that may be never, so callers
// go through package guard. An error means that there is no measurement: invalid arguments, cancellation, or a
// Meter that failed. I/O errors are in the result.
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
	m.Outcome, m.Reason = e.judge(m, ctx.Err() != nil, r.Probe.Timeout)
	return Result{Measurement: m, Unwritten: round.unwritten}, nil
}

// fill sums up what the threads of the round recorded.
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

// isStall reports whether an I/O took at least as long as a whole round may take. A stall counts as an I/O of
// the round even in the warm-up or the search: the time a device hung must not depend on which I/O met it.
func isStall(latency, timeout time.Duration) bool { return timeout > 0 && latency >= timeout }

// judge decides the outcome of the round. A reason that stopped the round comes first, then one that makes its
// figures fiction, then one that blurs them. A late round is compared with its timeout, because its duration is that
// of the counted I/Os: next to nothing if the device hung before them, and less than any wait.
func (e *Engine) judge(m record.Measurement, late bool, timeout time.Duration) (record.Outcome, string) {
	d := m.Disturbance
	switch {
	case late && 2*(d.CPUWait+d.Throttled) > max(m.Duration, timeout) && m.Duration > 0:
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

// execution is a round in progress.
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

// prepare allocates everything that the threads need, so that nothing is allocated while I/Os are timed.
func (x *execution) prepare() error {
	depth := max(1, min(x.Probe.QueueDepth, len(x.Offsets)))
	x.threads = make([]thread, depth)
	x.unwritten = make([]bool, len(x.Offsets))
	for i := range x.threads {
		t := &x.threads[i]
		// Anonymous memory is page-aligned, as O_DIRECT requires.
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
			// The mapping is complete and belongs to this process, so unmapping it cannot fail.
			_ = unix.Munmap(b)
		}
	}
}

// run lets every thread warm up, starts the counted I/Os of all threads together, and waits for all of them.
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

// over reports whether the round has to end before its last I/O.
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
