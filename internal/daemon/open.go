package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// mountTimeout is how long finding the mount point of a file may take.
const mountTimeout = 20 * time.Second

// reopenAfter is the pause before another attempt to open a target. It doubles with each fill that has failed.
const reopenAfter = 15 * time.Second

// opener opens a target, creates and fills its probe file, and knows why it cannot. The goroutine of the watch owns it. mu guards
// what others read; it is locked after the lock of the watch.
type opener struct {
	*target

	session *measure.Session // nil while the target is not open
	pool    *probe.Pool      // nil on files
	most    admit.Capacity   // the value of mostWork while the target is not open
	// failedFills is how many fills of a probe file have failed since the target was last open.
	failedFills int
	// fills counts the fills of a probe file that was there and was lost, and filled is when the last one was over: see filledAt.
	fills  int
	filled time.Time
	// unopened says why the target could not be opened, as far as that was logged; empty while it is open.
	unopened string

	mu       sync.Mutex
	blocked  string         // why the target cannot be probed now; empty when it can
	place    place          // of a file, when it was last opened
	readOnly bool           // the file was not made by ssdprobe
	small    record.Warning // set when the probe file is smaller than requested; otherwise zero
	// poolBlocks and writtenRatio describe pool.
	poolBlocks   int
	writtenRatio *float64
}

// open opens the target. It creates and fills the probe file if need be, and reports whether the file is in another place
// than before. late takes the rounds that return after they have been counted as hung.
func (o *opener) open(ctx context.Context, late func(record.Measurement)) (moved bool, err error) {
	if !o.access.turn.take(ctx) {
		return false, ctx.Err()
	}
	defer o.access.turn.end()
	defer o.access.endRounds()
	at, err := o.find(ctx)
	if err != nil {
		return false, err
	}
	_, over := o.ours() // filling a probe file is our own I/O
	defer over()
	var filling atomic.Bool
	session, err := measure.Open(ctx, o.spec.Target, measure.Options{
		FS: o.shared.fs, Engine: o.shared.engine, Meter: o.shared.meter, Limits: o.spec.Admission.Limits, Most: o.most,
		Guard: &o.access.guard, Lock: o.lock, Pool: o.pool, Late: late,
		Filling: func(done, total int64) {
			filling.Store(true)
			o.setProblem(fmt.Sprintf("filling the probe file: %d of %d MiB", done>>20, total>>20))
		},
	})
	if err != nil {
		if filling.Load() && ctx.Err() == nil { // neither quiet hours nor a reload ended it
			o.failedFills++
		}
		return false, err
	}
	o.failedFills = 0
	if session.SetAside != "" {
		o.log.Error("the probe file did not hold what was written to it: somebody changed it, or the drive or its path corrupts data", "set_aside", session.SetAside)
	}
	if session.Filled > 0 {
		o.log.Info("filled a probe file", "path", session.Path, "bytes", session.Filled)
		o.filledAt(time.Now())
	}
	if o.unopened != "" {
		o.log.Info("the target is open again", "was", o.unopened)
	}
	o.session, o.unopened = session, ""
	at.directory, at.foreign = o.spec.File && session.Path != o.spec.Path, session.ReadOnly
	o.mu.Lock()
	defer o.mu.Unlock()
	moved = at != o.place
	o.place, o.pool, o.readOnly, o.small, o.blocked = at, session.Pool, session.ReadOnly, session.Small, ""
	return moved, nil
}

// place is where a file was found.
type place struct {
	mountPoint string // of its filesystem
	directory  bool   // that the configuration names, and in which the file is
	foreign    bool   // not made by ssdprobe
}

// lastPlace returns where the file was when it was last opened.
func (o *opener) lastPlace() place {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.place
}

// find returns where the file is; the zero place for devices. It returns an error when the filesystem has been unmounted
// since the file was last opened: its mount point is then a directory of another filesystem, which nobody wants to be
// filled and measured. So it does when the directory is gone, or the file if somebody else made it: a file of that name would be
// in the way of those who make it again, or be taken for it. It needs the turn.
func (o *opener) find(ctx context.Context) (place, error) {
	if !o.spec.File {
		return place{}, nil
	}
	gone := false
	at, err := guard.Do(ctx, &o.access.guard, mountTimeout, func(context.Context) (string, error) {
		_, err := os.Stat(o.spec.Path)
		gone = errors.Is(err, fs.ErrNotExist)
		return device.NewFilesystems(o.shared.fs).MountPoint(o.spec.Path)
	})
	if err != nil {
		return place{}, err
	}
	switch before := o.lastPlace(); {
	case before.mountPoint != "" && at != before.mountPoint && device.Inside(at, before.mountPoint):
		return place{}, fmt.Errorf("the filesystem at %s is not mounted, and no probe file is made on the one at %s instead: "+
			"mount it; if it is gone for good, remove %s from files", before.mountPoint, at, o.spec.Path)
	case before.directory && gone:
		return place{}, fmt.Errorf("the directory %s is gone, and no probe file is made in its place: "+
			"make it again; if it is gone for good, remove it from files", o.spec.Path)
	case before.foreign && gone:
		return place{}, fmt.Errorf("the file %s is gone, and no probe file is made in its place, as somebody else made it: "+
			"if it is gone for good, remove it from files", o.spec.Path)
	}
	return place{mountPoint: at}, nil
}

// isThere returns the error of find, or errBusy while a fill uses the file for long. Any goroutine may call it.
func (o *opener) isThere(ctx context.Context) error {
	if !o.spec.File {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, mountTimeout)
	defer cancel()
	if !o.access.turn.take(ctx) {
		return errBusy
	}
	defer o.access.turn.end()
	_, err := o.find(ctx)
	return err
}

// mostWork returns the most work that others were seen to do on the target.
func (o *opener) mostWork() admit.Capacity {
	if o.session == nil {
		return o.most
	}
	return o.session.Most()
}

// close closes the target.
func (o *opener) close() {
	if o.session == nil {
		return
	}
	o.most = o.mostWork()
	if err := o.session.Close(); err != nil {
		o.log.Warn("close the target", "err", err)
	}
	o.session = nil
}

// tellUnopened records why the target cannot be opened, and logs it when it is new: a filesystem may be missing for weeks.
func (o *opener) tellUnopened(why string, retryIn time.Duration) {
	o.setProblem(why)
	if why != o.unopened {
		o.log.Warn("cannot open the target", "err", why, "retry_in", retryIn)
	}
	o.unopened = why
}

// reopenIn returns the pause before another attempt to open the target.
func (o *opener) reopenIn() time.Duration { return reopenAfter << min(o.failedFills, maxDoublings) }

// filledAt counts a fill. One that comes a day after the one before it is no sequel of that.
func (o *opener) filledAt(now time.Time) {
	if now.Sub(o.filled) > 24*time.Hour {
		o.fills = 0
	}
	o.fills, o.filled = o.fills+1, now
}

// refillAt returns when a probe file that was lost before may be filled again. Whoever removes or replaces it each time, such
// as another ssdprobe that wants it in another size, must not have us write it all day: the write budget does not cover fills.
func (o *opener) refillAt() time.Time { return o.filled.Add(reopenAfter << min(o.fills, maxDoublings)) }

// waitsForRefill waits for a while if the probe file is lost again and may not be filled yet, and reports whether it has.
func (o *opener) waitsForRefill(ctx context.Context) bool {
	wait := time.Until(o.refillAt())
	if o.fills < 2 || wait <= 0 {
		return false
	}
	o.tellUnopened(fmt.Sprintf("the probe file was filled %d times and is gone or another one again: see who removes or replaces it; it is filled again at %s",
		o.fills, o.refillAt().UTC().Format(time.RFC3339)), wait.Round(time.Second))
	schedule.Pause(ctx, min(wait, calendarLook))
	return true
}

// lock takes the lock of the device for a round.
func (o *opener) lock() (release func(), err error) {
	lock, err := o.shared.locks.take(o.spec.LockID)
	o.lockProblem(err)
	return func() {
		if err := o.shared.locks.release(lock); err != nil {
			o.log.Error("release the device's lock", "err", err)
		}
	}, err
}

// lockProblem records why the lock of the device cannot be taken, and logs a change. It is not a problem when another
// run holds the lock.
func (o *opener) lockProblem(err error) {
	problem := ""
	if err != nil && !errors.Is(err, store.ErrLocked) {
		problem = err.Error()
	}
	switch before := o.setProblem(problem); {
	case problem == before:
	case problem != "":
		o.log.Warn("rounds cannot lock the device", "err", err)
	default:
		o.log.Info("rounds can lock the device again", "was", before)
	}
}

// setProblem returns what the problem was before.
func (o *opener) setProblem(text string) (before string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before, o.blocked = o.blocked, text
	return before
}

// problem says why the target cannot be probed now; empty when it can. A hang of the target takes precedence over problems
// that result from it.
func (o *opener) problem() string {
	hangs := o.access.problem()
	if hangs == "" && o.spec.Unresolved {
		return "it has not been looked at yet"
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return cmp.Or(hangs, o.blocked)
}

// countPool notes for others what is known of the blocks that are written.
func (o *opener) countPool() {
	if o.pool == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.poolBlocks = o.pool.Len()
	if ratio, ok := o.pool.WrittenRatio(); ok {
		o.writtenRatio = &ratio
	}
}

// fill adds to the status of the target what is known of it as it was opened, or why it cannot be.
func (o *opener) fill(s *record.TargetStatus) {
	s.Problem = o.problem()
	o.mu.Lock()
	defer o.mu.Unlock()
	s.PoolBlocks, s.WrittenRatio = o.poolBlocks, o.writtenRatio
	if o.readOnly {
		s.Warnings = append(slices.Clone(s.Warnings), record.Warning{
			Code: record.WarnReadOnly,
			Text: s.Path + " was not made by ssdprobe, so it is only read",
		})
	}
	if o.small.Code != "" {
		s.Warnings = append(slices.Clone(s.Warnings), o.small)
	}
}
