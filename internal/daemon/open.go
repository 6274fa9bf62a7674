package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
)

// mountTimeout is how long finding the mount point of a file may take.
const mountTimeout = 20 * time.Second

// openBeforeQuiet is like open, but stops when quiet hours begin, because filling a probe file takes minutes.
// Stopping for quiet hours is not an error.
func (w *watch) openBeforeQuiet(ctx context.Context, now time.Time) error {
	ctx, cancel := beforeQuiet(ctx, w.spec.Quiet, now)
	defer cancel()
	err := w.open(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errQuietBegins) {
		w.setProblem("")
		return nil
	}
	return err
}

// open opens the target. It creates and fills the probe file if need be.
func (w *watch) open(ctx context.Context) error {
	if !w.access.turn.take(ctx) {
		return ctx.Err()
	}
	defer w.access.turn.end()
	defer w.access.endRounds()
	at, err := w.find(ctx)
	if err != nil {
		return err
	}
	_, over := w.access.ours(w.beginTraffic) // filling a probe file is our own I/O
	defer over()
	var filling atomic.Bool
	session, err := measure.Open(ctx, w.spec.Target, measure.Options{
		FS: w.shared.fs, Engine: w.shared.engine, Meter: w.shared.meter, Limits: w.spec.Admission.Limits, Most: w.most,
		Guard: &w.access.guard, Lock: w.lock, Pool: w.pool, Late: w.tookLate,
		Filling: func(done, total int64) {
			filling.Store(true)
			w.setProblem(fmt.Sprintf("filling the probe file: %d of %d MiB", done>>20, total>>20))
		},
	})
	if err != nil {
		if filling.Load() && ctx.Err() == nil { // neither quiet hours nor a reload ended it
			w.failedFills++
		}
		return err
	}
	w.failedFills = 0
	if session.SetAside != "" {
		w.log.Error("the probe file did not hold what was written to it: somebody changed it, or the drive or its path corrupts data", "set_aside", session.SetAside)
	}
	if session.Filled > 0 {
		w.log.Info("filled a probe file", "path", session.Path, "bytes", session.Filled)
		w.filledAt(time.Now())
	}
	if w.unopened != "" {
		w.log.Info("the target is open again", "was", w.unopened)
	}
	w.session, w.unopened = session, ""
	at.directory, at.foreign = w.spec.File && session.Path != w.spec.Path, session.ReadOnly
	if w.foundAt(at) {
		w.save(ctx, saveTimeout) // filesystems tend to be missing after a restart
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pool, w.readOnly, w.small, w.blocked = session.Pool, session.ReadOnly, session.Small, ""
	if w.readOnly {
		w.probes = slices.DeleteFunc(w.probes, func(p *probeState) bool { return p.probe.Direction == record.Write })
	}
	return nil
}

// place is where a file was found.
type place struct {
	mountPoint string // of its filesystem
	directory  bool   // that the configuration names, and in which the file is
	foreign    bool   // not made by ssdprobe
}

// foundAt records where the file was found, and reports whether that is new.
func (w *watch) foundAt(at place) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	news := at != w.place
	w.place = at
	return news
}

// find returns where the file is; the zero place for devices. It returns an error when the filesystem has been unmounted
// since the file was last opened: its mount point is then a directory of another filesystem, which nobody wants to be
// filled and measured. So it does when the directory is gone, or the file if somebody else made it: a file of that name would be
// in the way of those who make it again, or be taken for it. It needs the turn.
func (w *watch) find(ctx context.Context) (place, error) {
	if !w.spec.File {
		return place{}, nil
	}
	gone := false
	at, err := guard.Do(ctx, &w.access.guard, mountTimeout, func(context.Context) (string, error) {
		_, err := os.Stat(w.spec.Path)
		gone = errors.Is(err, fs.ErrNotExist)
		return device.NewFilesystems(w.shared.fs).MountPoint(w.spec.Path)
	})
	if err != nil {
		return place{}, err
	}
	w.mu.Lock()
	before := w.place
	w.mu.Unlock()
	switch {
	case before.mountPoint != "" && at != before.mountPoint && device.Inside(at, before.mountPoint):
		return place{}, fmt.Errorf("the filesystem at %s is not mounted, and no probe file is made on the one at %s instead: "+
			"mount it; if it is gone for good, remove %s from files", before.mountPoint, at, w.spec.Path)
	case before.directory && gone:
		return place{}, fmt.Errorf("the directory %s is gone, and no probe file is made in its place: "+
			"make it again; if it is gone for good, remove it from files", w.spec.Path)
	case before.foreign && gone:
		return place{}, fmt.Errorf("the file %s is gone, and no probe file is made in its place, as somebody else made it: "+
			"if it is gone for good, remove it from files", w.spec.Path)
	}
	return place{mountPoint: at}, nil
}

// isThere returns the error of find, or errBusy while a fill uses the file for long. Any goroutine may call it.
func (w *watch) isThere(ctx context.Context) error {
	if !w.spec.File {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, mountTimeout)
	defer cancel()
	if !w.access.turn.take(ctx) {
		return errBusy
	}
	defer w.access.turn.end()
	_, err := w.find(ctx)
	return err
}

// mostWork returns the most work that others were seen to do on the target.
func (w *watch) mostWork() admit.Capacity {
	if w.session == nil {
		return w.most
	}
	return w.session.Most()
}

// closeTarget closes the target.
func (w *watch) closeTarget() {
	if w.session == nil {
		return
	}
	w.most = w.mostWork()
	if err := w.session.Close(); err != nil {
		w.log.Warn("close the target", "err", err)
	}
	w.session = nil
}

// tellUnopened records why the target cannot be opened, and logs it when it is new: a filesystem may be missing for weeks.
func (w *watch) tellUnopened(why string, retryIn time.Duration) {
	w.setProblem(why)
	if why != w.unopened {
		w.log.Warn("cannot open the target", "err", why, "retry_in", retryIn)
	}
	w.unopened = why
}

// reopenIn returns the pause before another attempt to open the target.
func (w *watch) reopenIn() time.Duration { return reopenAfter << min(w.failedFills, maxDoublings) }

// filledAt counts a fill. One that comes a day after the one before it is no sequel of that.
func (w *watch) filledAt(now time.Time) {
	if now.Sub(w.filled) > 24*time.Hour {
		w.fills = 0
	}
	w.fills, w.filled = w.fills+1, now
}

// refillAt returns when a probe file that was lost before may be filled again. Whoever removes or replaces it each time, such
// as another ssdprobe that wants it in another size, must not have us write it all day: the write budget does not cover fills.
func (w *watch) refillAt() time.Time { return w.filled.Add(reopenAfter << min(w.fills, maxDoublings)) }

// waitsForRefill waits for a while if the probe file is lost again and may not be filled yet, and reports whether it has.
func (w *watch) waitsForRefill(ctx context.Context) bool {
	wait := time.Until(w.refillAt())
	if w.fills < 2 || wait <= 0 {
		return false
	}
	w.tellUnopened(fmt.Sprintf("the probe file was filled %d times and is gone or another one again: see who removes or replaces it; it is filled again at %s",
		w.fills, w.refillAt().UTC().Format(time.RFC3339)), wait.Round(time.Second))
	schedule.Pause(ctx, min(wait, calendarLook))
	return true
}
