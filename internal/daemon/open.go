package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
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
	if !w.access.takeTurn(ctx) {
		return ctx.Err()
	}
	defer w.access.endTurn()
	defer w.access.endRounds()
	mountPoint, err := w.mounted(ctx)
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
		w.log.Error("the probe file did not hold what was written to it: the drive or its path corrupts data", "set_aside", session.SetAside)
	}
	if session.Filled > 0 {
		w.log.Info("filled a probe file", "path", session.Path, "bytes", session.Filled)
	}
	w.session = session
	if mountPoint != w.mountPoint {
		w.mountPoint = mountPoint
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

// mounted returns where the filesystem of a file is mounted, or "" for devices. It returns an error when that
// filesystem has been unmounted since the file was last opened. Its mount point is then a directory of another
// filesystem, which nobody wants to be filled and measured.
func (w *watch) mounted(ctx context.Context) (string, error) {
	if !w.spec.File {
		return "", nil
	}
	at, err := guard.Do(ctx, &w.access.guard, mountTimeout, func(context.Context) (string, error) {
		return device.NewFilesystems(w.shared.fs).MountPoint(w.spec.Path)
	})
	if err != nil {
		return "", err
	}
	if w.mountPoint != "" && at != w.mountPoint && device.Inside(at, w.mountPoint) {
		return "", fmt.Errorf("the filesystem at %s is not mounted, and no probe file is made on the one at %s instead: "+
			"mount it; if it is gone for good, forget it with ssdprobe baseline reset %s", w.mountPoint, at, w.spec.Path)
	}
	return at, nil
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

// reopenIn returns the pause before another attempt to open the target.
func (w *watch) reopenIn() time.Duration { return reopenAfter << min(w.failedFills, maxDoublings) }
