package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/fleet"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/run"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

const (
	// calendarLook is how often the calendar is checked while nothing is due, to notice a new configuration or a
	// change of the clock.
	calendarLook = time.Minute
	// busyRetry is the pause before a run that could not begin is tried again, such as one on a busy device.
	busyRetry = time.Minute
	// overseeEvery is how often it is checked during a run whether it may go on.
	overseeEvery = 5 * time.Second
)

var (
	errWindowClosed = errors.New("the window of the run has closed")
	errQuiet        = errors.New("quiet hours")
	errQuietBegins  = errors.New("quiet hours have begun")
	errHangs        = errors.New("the target does not answer")
	errUnusable     = errors.New("the target cannot be used now")
	errCPUPressure  = errors.New("the host became too busy")
	errOverlap      = errors.New("another run was in progress or waited when it was due: schedule them further apart, or at the same time, so that one follows the other")
	errUnscheduled  = errors.New("the configuration no longer has this run")
)

// calendar executes the scheduled runs of the configuration when they are due, one after the other. Of a watch, it
// uses only the suites, the rest and the access.
type calendar struct {
	*shared
	// generator is the program that run reports name as their origin.
	generator string
	// restorer is the command in Options.Restorer.
	restorer []string
	fleet    *permits
	runs     func() []config.Run      // the runs in the current configuration
	watches  func() map[string]*watch // the current watches
}

// restoreSettings restores the device settings that a run left changed because its process was killed.
func (c *calendar) restoreSettings(ctx context.Context) {
	told, left, err := settings.RestorePending(ctx, settings.Options{FS: c.fs, Store: c.state.Store, OpenNVMe: nvme.Open})
	for _, what := range told {
		c.log.Warn("restored a setting that a killed run had left changed", "setting", what)
	}
	for _, id := range slices.Sorted(maps.Keys(left)) {
		c.log.Error("settings that a killed run has changed are not restored", "id", id, "err", left[id])
	}
	if err != nil {
		c.log.Error("restore the settings that a run had changed", "err", err)
	}
}

// follow executes the scheduled runs until ctx ends.
func (c *calendar) follow(ctx context.Context) error {
	from := wallClock() // before settings are restored, which may take minutes: no run that becomes due meanwhile is skipped
	c.restoreSettings(ctx)
	for ctx.Err() == nil {
		from = c.step(ctx, from)
	}
	return nil
}

// step waits for the runs that are due next after the given time, at most for calendarLook, and executes those that are
// due. It returns the time after which the next step looks for runs.
func (c *calendar) step(ctx context.Context, from time.Time) time.Time {
	due, at := c.next(from)
	wait := calendarLook
	if len(due) > 0 {
		wait = min(wait, time.Until(at))
	}
	schedule.Pause(ctx, wait)
	now := wallClock()
	if len(due) == 0 || now.Before(at) {
		return now // not from: a run that is added later does not begin because its time of earlier today has passed
	}
	for _, r := range due {
		c.execute(ctx, r, at.Add(r.Window))
	}
	if late := wallClock(); late.Sub(at) > calendarLook {
		c.skip(due, at, late)
		return late
	}
	return at
}

// skip skips the runs that became due while those that are done were in progress: they would pile up.
func (c *calendar) skip(done []config.Run, began, now time.Time) {
	for _, r := range c.runs() {
		due, err := r.Next(began)
		if err != nil || due.IsZero() || due.After(now) || len(ofSuite(done, r.Suite)) > 0 {
			continue
		}
		c.log.Warn("run skipped", "suite", r.Suite, "due", due, "err", errOverlap)
		for _, w := range c.watches() {
			if w.isMeant(r) {
				w.suites.end(r.Suite, record.RunRefused, record.RunReport{}, errOverlap)
			}
		}
	}
}

// wallClock returns the time without the monotonic reading of time.Now. With that reading, the calendar would never
// notice that the clock was set back.
func wallClock() time.Time { return time.Now().Round(0) }

// next returns the runs that are due next after the given time, and when they are due.
func (c *calendar) next(after time.Time) (due []config.Run, at time.Time) {
	for _, r := range c.runs() {
		next, err := r.Next(after)
		switch {
		case err != nil || next.IsZero(): // the configuration is valid, so there is no such day
			continue
		case at.IsZero() || next.Before(at):
			due, at = []config.Run{r}, next
		case next.Equal(at):
			due = append(due, r)
		}
	}
	return due, at
}

// execute runs a suite on each target that the run is meant for. A target that is not available now is tried again after
// the others.
func (c *calendar) execute(ctx context.Context, r config.Run, end time.Time) {
	ctx, cancel := context.WithDeadlineCause(ctx, end, errWindowClosed)
	defer cancel()
	schedule.Pause(ctx, c.fleet.first())
	waits := map[string]error{} // why a target was not available, by id
	for pending := slices.Sorted(maps.Keys(c.watches())); len(pending) > 0; {
		var later []string
		var pause time.Duration
		for i, id := range pending {
			w, watched := c.watches()[id]
			now, scheduled := c.scheduled(r)
			if !watched || !w.isMeant(r) || !scheduled { // a new configuration holds for the targets that are left
				continue
			}
			r = now
			why := c.runOn(ctx, w, r, waits[id])
			if why == nil {
				continue
			}
			waits[id], pause = why, c.waitAfter(why)
			if errors.Is(why, errNotPermitted) { // nor would this node be for another target
				later = append(later, pending[i:]...)
				break
			}
			later = append(later, id)
		}
		pending = later
		schedule.Pause(ctx, pause)
	}
}

// scheduled returns the run as the configuration has it now; false when it has no such run any more. How many reports are kept
// and how busy the host may be can change while a run is in progress.
func (c *calendar) scheduled(r config.Run) (config.Run, bool) {
	for _, now := range c.runs() {
		same := now
		same.Keep, same.MaxCPUPressure = r.Keep, r.MaxCPUPressure
		if reflect.DeepEqual(same, r) {
			return now, true
		}
	}
	return r, false
}

// runOn runs a suite on one target, unless ctx has ended. It returns why the run cannot begin now, if it has to be tried
// again. before is what it returned the last time.
func (c *calendar) runOn(ctx context.Context, w *watch, r config.Run, before error) error {
	log := w.log.With("suite", r.Suite)
	var report record.RunReport
	err := before
	if before == nil || ctx.Err() == nil {
		report, err = c.attempt(ctx, w, r)
	}
	waits := c.waitAfter(err) > 0
	if waits && ctx.Err() == nil {
		if w.suites.wait(r.Suite, err) {
			log.Info("the run waits", "err", err)
		}
		return err
	}
	if waits {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	w = c.latest(w)
	outcome := runOutcome(ctx, report, err, waits)
	if err != nil {
		log.Warn("run not complete", "outcome", outcome, "err", err)
	} else {
		log.Info("run complete", "steps", len(report.Steps), "took", report.Finished.Sub(report.Started))
	}
	w.suites.end(r.Suite, outcome, report, err)
	if len(report.Steps) > 0 {
		c.keepReport(ctx, w, r, report)
	}
	return nil
}

// keepReport compares a run that has ended with those before, and then stores its report: that may drop the oldest. A state
// directory that hangs delays the other runs once; the report is stored and compared when it answers.
func (c *calendar) keepReport(ctx context.Context, w *watch, r config.Run, report record.RunReport) {
	err := w.suites.compareRun(context.WithoutCancel(ctx), record.RunStatus{Suite: r.Suite, Last: &report}) // which logs it; the window may have closed
	if guard.Hangs(err) {
		w.suites.compareLater()
	}
	r, _ = c.scheduled(r)
	c.state.keep(ctx, runsOf(w.spec.ID), mostReports, func(s state.Dir) error { return s.KeepRun(report, r.Keep) })
}

// latest returns the current watch of the target, which may have replaced w because of a new configuration.
func (c *calendar) latest(w *watch) *watch {
	if now, ok := c.watches()[w.spec.ID]; ok {
		return now
	}
	return w
}

// waitAfter returns how long to wait before a run that did not begin is tried again, or 0 when it is not tried again.
func (c *calendar) waitAfter(err error) time.Duration {
	switch {
	case errors.Is(err, admit.ErrBusy), errors.Is(err, run.ErrInUse), errors.Is(err, errHangs), errors.Is(err, errUnusable), errors.Is(err, errQuiet):
		return busyRetry
	case errors.Is(err, errNotPermitted):
		return c.fleet.pause()
	default:
		return 0
	}
}

func runOutcome(ctx context.Context, r record.RunReport, err error, waited bool) record.RunOutcome {
	switch {
	case err == nil:
		return record.RunOK
	case waited:
		return record.RunRefused
	case ctx.Err() != nil && len(r.Steps) > 0, errors.Is(err, errCPUPressure), errors.Is(err, errQuietBegins), errors.Is(err, errUnscheduled), errors.Is(err, fiorun.ErrOthers), errors.Is(err, fleet.ErrLost):
		return record.RunShort
	case ctx.Err() != nil:
		return record.RunRefused
	default:
		return record.RunError
	}
}

// attempt tries to run the suite now. It does not hold the permit while the run waits for the device, so that another
// node may run meanwhile.
func (c *calendar) attempt(ctx context.Context, w *watch, r config.Run) (record.RunReport, error) {
	if why := w.access.problem(); why != "" || w.spec.Unresolved { // the run would hang as well
		return record.RunReport{}, fmt.Errorf("%w: %s", errHangs, why)
	}
	if err := checkQuiet(w.spec.Quiet, wallClock()); err != nil {
		return record.RunReport{}, err
	}
	chosen, err := suite.Find(r.Suite)
	if err != nil {
		return record.RunReport{}, err
	}
	values, err := chosen.Set(r.Set)
	if err != nil {
		return record.RunReport{}, err
	}
	binary, err := fiorun.Find(ctx)
	if err != nil {
		return record.RunReport{}, err
	}
	if err := w.opener.isThere(ctx); err != nil { // the run would make a file elsewhere
		return record.RunReport{}, fmt.Errorf("%w: %w", errUnusable, err)
	}
	return c.fleet.under(ctx, func(ctx context.Context) (record.RunReport, error) {
		now := time.Now()
		w.suites.begin(r.Suite, now)
		defer w.access.rest.begin(r.Suite, now)()
		return c.measure(ctx, w, r, run.Suite{Suite: chosen, Values: values, Fio: binary})
	})
}

// measure runs the suite until quiet hours begin or the host becomes too busy.
func (c *calendar) measure(ctx context.Context, w *watch, r config.Run, chosen run.Suite) (record.RunReport, error) {
	now := wallClock()
	if err := checkQuiet(w.spec.Quiet, now); err != nil { // they may have begun during the wait for a permit
		return record.RunReport{}, err
	}
	ctx, cancel := beforeQuiet(ctx, w.spec.Quiet, now)
	defer cancel()
	status := w.Status(now)
	ctx, calm := context.WithCancelCause(ctx)
	defer calm(nil)
	session, err := run.Begin(ctx, measure.Subject{
		Target: w.spec.Target, LockID: w.spec.LockID, Device: status.Device, Conditions: status.Conditions, Warnings: status.Warnings,
	}, run.Options{
		Options: measure.Options{FS: c.fs, Engine: c.engine, Meter: c.meter},
		Limits:  w.spec.Admission.Limits, LockDir: c.locks.dir, Store: c.state.Store, Restorer: c.restorer, Node: c.node, Generator: c.generator,
		MaxOthers: r.MaxOthers, KeepFile: true, Progress: func(p run.Progress) { w.log.Debug("run", "step", p.Step, "done", p.Done) },
	})
	if err != nil {
		return record.RunReport{}, err
	}
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		c.oversee(ctx, w, r, calm)
	}()
	report, err := run.RunSuite(ctx, []*run.Session{session}, chosen)
	calm(nil)
	<-watching
	_, endErr := session.End()
	return report, errors.Join(err, endErr)
}

// checkQuiet returns errQuiet during quiet hours.
func checkQuiet(quiet config.QuietHours, now time.Time) error {
	if until := quiet.Until(now); !until.IsZero() {
		return fmt.Errorf("%w until %s", errQuiet, until.Format(time.RFC3339))
	}
	return nil
}

// beforeQuiet returns a context that ends when the next quiet hours begin.
func beforeQuiet(ctx context.Context, quiet config.QuietHours, now time.Time) (context.Context, context.CancelFunc) {
	begin := quiet.Begin(now)
	if begin.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, begin, errQuietBegins)
}

// oversee ends a run when tasks of the host wait for a CPU for too much of the time, or when a new configuration makes
// these hours quiet or has no such run.
func (c *calendar) oversee(ctx context.Context, w *watch, r config.Run, end context.CancelCauseFunc) {
	for schedule.Pause(ctx, overseeEvery) {
		now, ok := c.scheduled(r)
		if !ok {
			end(errUnscheduled)
		}
		if checkQuiet(c.latest(w).spec.Quiet, wallClock()) != nil {
			end(errQuietBegins)
		}
		p, err := counters.ReadCPUPressure(c.fs)
		if err == nil && p.Some.Average10 > now.MaxCPUPressure { // without the kernel's report, nothing is too much
			end(fmt.Errorf("%w: tasks waited for a CPU for %.0f %% of the last 10 s, above the limit of %.0f %%",
				errCPUPressure, 100*p.Some.Average10, 100*now.MaxCPUPressure))
		}
	}
}
