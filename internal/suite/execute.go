package suite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// Options holds what a run needs besides the suite.
type Options struct {
	Fio    fiorun.Binary
	Target Target
	// More are further targets, for suites that take several.
	More   []Target
	Values Values
	// FS gives this process's own view of /proc and /sys; the zero value is the machine's.
	FS sysfs.FS
	// MaxOthers is the share (0 to 1) of the devices' bytes that others may move. If they exceed it
	// for some seconds, the run ends with fiorun.ErrOthers. 0 means no limit.
	MaxOthers float64
	// Settings is used by suites that change settings of the device.
	Settings settings.Options
	// DataSheet is compared with the results; nil for no comparison.
	DataSheet *record.DataSheet
	// Conditions are the current conditions; Execute fills in their Engine.
	Conditions record.Conditions
	// Node and Generator are copied to the report: "storage-07", "ssdprobe 1.2.3".
	Node, Generator string
	// Warnings are the caller's reservations about the result; they come first in the report.
	Warnings []record.Warning
	// KeepFio receives the job of each step as passed to fio, and fio's report; may be nil.
	KeepFio func(step, job string, report []byte)
	// Progress is called about once a second with the progress of the run; may be nil. It is
	// called from more than one goroutine, but never concurrently, and must not block.
	Progress func(Progress)
}

// Progress is the progress of a run.
type Progress struct {
	Step string // name of the step
	Plan string
	// Number is the number of the step, from 1 to Steps.
	Number, Steps int
	// Done is the share (0 to 1) of the whole run that is done, and Remaining the planned time
	// for the rest.
	Done      float64
	Remaining time.Duration
	// Rates are the current rates; nil if unknown.
	Rates *fio.Rates
}

func (o Options) targets() []Target { return append([]Target{o.Target}, o.More...) }

// Execute runs a suite and returns its report. If ctx ends, the report has what was measured
// until then, with the warning record.WarnShort on itself and on the interrupted step, and the
// error is nil. With any other error, the report has the preceding steps and the same warning;
// it is zero if nothing was planned.
//
// Before each step that writes, everything that speaks against writing is checked again.
// Changed settings are restored before Execute returns, or, if the device or the state directory
// hangs, when it answers.
func Execute(ctx context.Context, s Suite, o Options) (report record.RunReport, err error) {
	fail := func(err error) error { return fmt.Errorf("run %s: %w", s.Name, err) }
	if err := o.freeMemory(ctx, s); err != nil {
		return record.RunReport{}, fail(err)
	}
	steps, err := s.Plan(o.Values, o.targets()...)
	if err != nil {
		return record.RunReport{}, err
	}
	for _, t := range o.targets() {
		if err := t.checkKind(); err != nil {
			return record.RunReport{}, fail(err)
		}
	}
	if err := checkEngines(ctx, o.Fio, steps); err != nil {
		return record.RunReport{}, fail(err)
	}
	held, err := hold(ctx, steps)
	if err != nil {
		return record.RunReport{}, fail(err)
	}
	defer func() { err = errors.Join(err, held.close()) }()
	changing, err := o.takeSettings(ctx, steps, settings.Patience)
	if err != nil {
		return record.RunReport{}, fail(err)
	}
	defer func() {
		if restored := changing.restore(ctx); restored != nil {
			err = errors.Join(err, fail(restored))
		}
	}()
	report = o.newReport(s, steps)
	err = o.run(ctx, s, steps, held, changing, &report)
	if len(report.Steps) > 0 {
		report.Analysis = conclude(s, o, report.Steps)
	}
	return report, err
}

func (o Options) newReport(s Suite, steps []Step) record.RunReport {
	report := record.RunReport{
		Version: record.RunReportVersion, Suite: s.Name, Device: o.Target.Device, Target: o.Target.Path, TargetID: o.Target.ID, File: o.Target.file(),
		Started: time.Now(), Node: o.Node, Generator: o.Generator, Engine: o.Fio.Version.String(),
		Conditions: o.Conditions, Warnings: append([]record.Warning(nil), o.Warnings...), Settings: o.Values.texts,
		Unrepeatable: !s.Repeatable(),
	}
	if s.doubts != nil {
		report.Warnings = append(report.Warnings, s.doubts(o.Target)...)
	}
	report.Conditions.Engine = o.Fio.Version.String()
	for _, engine := range enginesOf(steps) {
		report.Conditions.Engine += " " + engine
	}
	if len(o.More) > 0 {
		for i, t := range o.targets() {
			r := t.record()
			r.Conditions.Engine = report.Conditions.Engine
			report.Targets = append(report.Targets, r)
			if i > 0 {
				report.TargetID += "+" + t.ID
			}
		}
	}
	return report
}

// run executes the steps and adds their results to the report.
func (o Options) run(ctx context.Context, s Suite, steps []Step, held holding, changing changing, report *record.RunReport) error {
	for i := range steps {
		if steps[i].Optional && s.steady(o.Values, analysis.RoundsOf(report.Steps, steps[i].Workload.SparePercent)) {
			continue
		}
		// What was measured so far may be all that anyone ever sees of the run.
		short := func(why error) {
			report.Warnings = append(report.Warnings, record.Warning{Code: record.WarnShort, Text: fmt.Sprintf(
				"Stopped in step %d of %d: %v.", i+1, len(steps), why)})
		}
		fail := func(err error) error {
			short(err)
			return fmt.Errorf("run %s: step %s: %w", s.Name, steps[i].Name, err)
		}
		if err := errors.Join(held.check(ctx, steps[i]), changing.apply(ctx, steps[i])); err != nil {
			return fail(err)
		}
		done, stopped, err := o.execute(ctx, steps, i, held)
		report.Finished = time.Now()
		if err != nil {
			return fail(err)
		}
		for k := range done {
			if steps[i].direct(k, len(done)) {
				report.FlagImpossible(&done[k])
			}
		}
		report.Steps = append(report.Steps, done...)
		if stopped == nil {
			continue
		}
		if ctx.Err() == nil {
			return fail(stopped)
		}
		short(stopped)
		break
	}
	return nil
}

// steady reports whether the rounds so far are steady, so that no more are needed.
func (s Suite) steady(v Values, done []record.Step) bool {
	if s.rule == nil {
		return false
	}
	found := analysis.Steadiness(done, s.rule(v))
	return found != nil && found.Reached
}

// execute runs one step on the held devices. stopped is why it was cut short; nil if it was
// not.
func (o Options) execute(ctx context.Context, steps []Step, i int, held holding) (result []record.Step, stopped, err error) {
	planned := steps[i]
	started := time.Now()
	tell := func(rates *fio.Rates) {
		if o.Progress != nil {
			p := progress(steps, i, time.Since(started))
			p.Rates = rates
			o.Progress(p)
		}
	}
	tell(nil)
	if planned.Format {
		err := held.format(ctx, planned)
		return []record.Step{{Name: planned.Name, Plan: planned.Plan, Duration: time.Since(started), InterruptsPerIO: -1}}, nil, err
	}
	run, err := o.Fio.Run(ctx, fiorun.Request{
		Job: planned.Job, ReadOnly: planned.Writes == "", Limit: limit(planned), Idle: planned.Idle,
		Progress: func(status fio.Status) { tell(status.Rates) },
		Watch:    o.watch(planned),
		Held:     held.devices(planned),
		Files:    held.files(planned),
	})
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return []record.Step{unmeasured(planned, context.Cause(ctx))}, context.Cause(ctx), nil
	case err != nil:
		return nil, nil, err
	}
	if o.KeepFio != nil {
		o.KeepFio(planned.Name, run.JobFile, run.Report)
	}
	result, err = planned.measured(run.Steps())
	return result, cutShort(run), err
}

// watch returns what to watch while fio runs. It includes the counters of a single device only:
// those of several do not tell which step disturbed which device.
func (o Options) watch(planned Step) fiorun.Watch {
	w := fiorun.Watch{FS: o.FS, MaxOthers: o.MaxOthers}
	if len(planned.Targets) == 1 {
		w.Device, w.Controllers = planned.Targets[0].Device.Number, planned.Targets[0].Controllers
	}
	for _, t := range planned.Targets {
		if t.Device.Number == "" {
			w.Groups = nil
			break
		}
		w.Groups = append(w.Groups, t.Device.Number)
	}
	return w
}

// limit returns the time after which a step counts as hung; 0 means never.
func limit(planned Step) time.Duration {
	switch {
	case planned.Limit > 0:
		return planned.Limit
	case planned.Idle > 0, planned.own && planned.Expected == 0:
		return 0 // its duration is unknown
	}
	return 2*planned.Expected + time.Minute
}

// unmeasured returns a step that was stopped before fio reported anything about it.
func unmeasured(planned Step, cause error) record.Step {
	return record.Step{
		Name: planned.Name, Plan: planned.Plan, Series: planned.Series, Workload: planned.Workload, InterruptsPerIO: -1,
		Warnings: []record.Warning{{
			Code: record.WarnShort, Text: fmt.Sprintf("Stopped before anything was reported: %v.", cause),
		}},
	}
}

// progress is based on the planned times: fio's own share covers only one step, and not its
// first seconds.
func progress(steps []Step, i int, elapsed time.Duration) Progress {
	all := Expected(steps)
	done := Expected(steps[:i]) + min(elapsed, steps[i].Expected)
	p := Progress{Step: steps[i].Name, Plan: steps[i].Plan, Number: i + 1, Steps: len(steps), Remaining: all - done}
	if all > 0 {
		p.Done = float64(done) / float64(all)
	}
	return p
}

// enginesOf returns the distinct I/O engines of the steps.
func enginesOf(steps []Step) []string {
	var engines []string
	seen := map[string]bool{}
	for _, step := range steps {
		for i := range step.Job.Sections {
			if e := step.Job.Effective(i).IOEngine; e != "" && !seen[e] {
				seen[e] = true
				engines = append(engines, e)
			}
		}
	}
	return engines
}
