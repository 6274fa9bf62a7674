package suite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// Options are what a run needs beside the suite.
type Options struct {
	Fio    fiorun.Binary
	Target Target
	Values Values
	// FS is this process's own view of /proc and /sys; the zero value is the machine.
	FS sysfs.FS
	// Conditions are those of now; their Engine is filled in.
	Conditions record.Conditions
	// Node and Generator go into the report: "storage-07", "ssdprobe 1.2.3".
	Node, Generator string
	// Warnings are what the caller knows against the result; they come first in the report.
	Warnings []record.Warning
	// Progress is told about once a second how far the run is; may be nil. It is
	// called from more than one goroutine, never from two at once, and does not block.
	Progress func(Progress)
}

// Progress is how far a run is.
type Progress struct {
	Step string // its name
	Plan string
	// Number is that of the step, from 1 to Steps.
	Number, Steps int
	// Done is the share (0 to 1) of the whole run that is done, and Remaining what
	// the rest takes, by the plan.
	Done      float64
	Remaining time.Duration
	// Rates are those of now; nil when not known.
	Rates *fio.Rates
}

// Execute runs a suite and returns its report. When ctx ends, the report has what
// was measured until then, with the warning record.WarnShort on itself and on the
// step that was cut short, and the error is nil. With any other error, the report
// has the steps before it; the report is zero when nothing was run.
func Execute(ctx context.Context, s Suite, o Options) (record.RunReport, error) {
	steps, err := s.Plan(o.Values, o.Target)
	if err != nil {
		return record.RunReport{}, err
	}
	if err := o.Target.checkKind(); err != nil {
		return record.RunReport{}, fmt.Errorf("run %s: %w", s.Name, err)
	}
	engines := enginesOf(steps)
	for _, engine := range engines {
		if err := o.Fio.CheckEngine(ctx, engine); err != nil {
			return record.RunReport{}, fmt.Errorf("run %s: %w", s.Name, err)
		}
	}
	report := record.RunReport{
		Version: record.RunReportVersion, Suite: s.Name, Device: o.Target.Device, Target: o.Target.Path, TargetID: o.Target.ID,
		Started: time.Now(), Node: o.Node, Generator: o.Generator, Engine: o.Fio.Version.String(),
		Conditions: o.Conditions, Warnings: append([]record.Warning(nil), o.Warnings...),
	}
	report.Conditions.Engine = o.Fio.Version.String()
	for _, engine := range engines {
		report.Conditions.Engine += " " + engine
	}
	for i := range steps {
		step, stopped, err := o.execute(ctx, steps, i)
		report.Finished = time.Now()
		if err != nil {
			return report, fmt.Errorf("run %s: step %s: %w", s.Name, steps[i].Name, err)
		}
		report.Steps = append(report.Steps, step)
		if stopped == nil {
			continue
		}
		report.Warnings = append(report.Warnings, record.Warning{Code: record.WarnShort, Text: fmt.Sprintf(
			"Stopped in step %d of %d: %v.", i+1, len(steps), stopped)})
		if ctx.Err() == nil {
			return report, fmt.Errorf("run %s: step %s: %w", s.Name, steps[i].Name, stopped)
		}
		break
	}
	return report, nil
}

// execute runs one step. stopped is why it was cut short; nil when it was not.
func (o Options) execute(ctx context.Context, steps []Step, i int) (result record.Step, stopped, err error) {
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
	run, err := o.Fio.Run(ctx, fiorun.Request{
		Job: planned.Job, ReadOnly: planned.Writes == "", Limit: limit(planned.Expected),
		Progress: func(status fio.Status) { tell(status.Rates) },
		Watch:    fiorun.Watch{FS: o.FS, Device: o.Target.Device.Number, Controllers: o.Target.Controllers},
	})
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return unmeasured(planned, context.Cause(ctx)), context.Cause(ctx), nil
	case err != nil:
		return record.Step{}, nil, err
	}
	measured := run.Steps()
	if len(measured) != 1 {
		return record.Step{}, nil, fmt.Errorf("fio reports on %d groups of jobs instead of one", len(measured))
	}
	result = measured[0]
	result.Name, result.Plan = planned.Name, planned.Plan
	result.Warnings = append(result.Warnings, impossible(result, o.Target)...)
	return result, run.Stopped, nil
}

// limit is when a step is taken for hung.
func limit(expected time.Duration) time.Duration { return 2*expected + time.Minute }

// unmeasured is a step that was stopped before anything of it was known.
func unmeasured(planned Step, cause error) record.Step {
	return record.Step{Name: planned.Name, Plan: planned.Plan, InterruptsPerIO: -1, Warnings: []record.Warning{{
		Code: record.WarnShort, Text: fmt.Sprintf("Stopped before anything was reported: %v.", cause),
	}}}
}

// progress goes by the planned times: fio's own share knows of one step, and not
// of its first seconds.
func progress(steps []Step, i int, elapsed time.Duration) Progress {
	all := Expected(steps)
	done := Expected(steps[:i]) + min(elapsed, steps[i].Expected)
	p := Progress{Step: steps[i].Name, Plan: steps[i].Plan, Number: i + 1, Steps: len(steps), Remaining: all - done}
	if all > 0 {
		p.Done = float64(done) / float64(all)
	}
	return p
}

// enginesOf lists the I/O engines of the steps, each once.
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
