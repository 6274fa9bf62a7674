package daemon

import (
	"context"
	"fmt"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// open opens the target, and makes and fills its probe file if need be.
func (w *watch) open(ctx context.Context) error {
	session, err := measure.Open(ctx, w.spec.Target, measure.Options{
		FS: w.shared.fs, Engine: w.shared.engine, Meter: w.shared.meter, Limits: Limits(w.spec.Admission),
		Guard: &w.guard, Pool: w.pool,
		Filling: func(done, total int64) {
			w.setProblem(fmt.Sprintf("filling the probe file: %d of %d MiB", done>>20, total>>20))
		},
	})
	if err != nil {
		return err
	}
	if session.SetAside != "" {
		w.log.Error("the probe file did not hold what was written to it: the drive or its path corrupts data", "set_aside", session.SetAside)
	}
	if session.Filled > 0 {
		w.log.Info("filled a probe file", "path", session.Path, "bytes", session.Filled)
	}
	w.session = session
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pool, w.readOnly, w.status.Problem = session.Pool, session.ReadOnly, ""
	if w.readOnly {
		w.probes = slices.DeleteFunc(w.probes, func(p *probeState) bool { return p.probe.Direction == record.Write })
	}
	return nil
}

// closeTarget gives the target back.
func (w *watch) closeTarget() {
	if w.session == nil {
		return
	}
	if err := w.session.Close(); err != nil {
		w.log.Warn("close the target", "err", err)
	}
	w.session = nil
}
