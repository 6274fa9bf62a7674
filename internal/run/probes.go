package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// ProbeSuite is the suite name of a run of probes.
const ProbeSuite = "probe"

// attempts is how many rounds are tried at most for each good one that is wanted.
const attempts = 3

// ErrNothingMeasured says that a probe had no good round.
var ErrNothingMeasured = errors.New("nothing could be measured")

// Probes runs each probe back to back until it has the wanted number of good rounds, and does all of that repeats
// times. If ctx ends, it returns what it has so far, with a warning, and the cause. With ErrNothingMeasured, the report
// says why.
func (s *Session) Probes(ctx context.Context, probes []record.Probe, rounds, repeats int) (record.RunReport, error) {
	r := s.report(ProbeSuite, probe.Name)
	s.options.Guard = &guard.Guard{}
	opened, err := s.open(ctx)
	if err != nil {
		return r, err
	}
	if opened.ReadOnly {
		probes = slices.DeleteFunc(slices.Clone(probes), func(p record.Probe) bool { return p.Direction == record.Write })
		r.Warnings = append(r.Warnings, record.Warning{
			Code: record.WarnReadOnly, Text: opened.Path + " was not made by ssdprobe, so it is only read",
		})
	}
	r.Target = opened.Path
	if opened.Small.Code != "" {
		r.Warnings = append(r.Warnings, opened.Small)
	}
	if s.subject.File {
		r.File = &record.RunFile{Bytes: opened.Area.Start + opened.Area.Size, Reused: opened.Filled == 0}
	}
	if err := opened.Search(ctx); err != nil && ctx.Err() == nil {
		return r, errors.Join(fmt.Errorf("%s: %w", opened.Path, err), opened.Close())
	}
	var problems []error
	for i := range repeats * len(probes) {
		step, err := s.step(ctx, opened, probes[i%len(probes)], rounds)
		if repeats > 1 {
			step.Series, step.Name = step.Name, fmt.Sprintf("%s-repeat%d", step.Name, 1+i/len(probes))
		}
		if step.Read != nil || step.Write != nil || len(step.Warnings) > 0 {
			r.Steps = append(r.Steps, step)
		}
		if ctx.Err() != nil {
			r.Warnings = append(r.Warnings, record.Warning{
				Code: record.WarnShort, Text: "stopped before the end: " + context.Cause(ctx).Error(),
			})
			problems = append(problems, context.Cause(ctx))
			break
		}
		problems = append(problems, err)
	}
	r.Finished = time.Now()
	return r, errors.Join(append(problems, opened.Close(), r.CheckPhysics())...)
}

// step runs one probe of a run.
func (s *Session) step(ctx context.Context, opened *measure.Session, p record.Probe, rounds int) (record.Step, error) {
	sum := summing{probe: p}
	before := s.interrupts()
	for try := 0; sum.good < rounds && try < attempts*rounds; try++ {
		m, err := opened.Round(ctx, measure.Round{Probe: p, Conditions: s.subject.Conditions, Link: s.subject.Device.Link})
		if err != nil {
			return sum.step(-1), err
		}
		sum.add(m)
		s.options.Progress(Progress{
			Step: p.Name, Done: float64(sum.good) / float64(rounds),
			Text: fmt.Sprintf("round %d of %d: %s", sum.good, rounds, roundText(m)),
		})
		if m.Outcome == record.OutcomeTimeout || m.Outcome == record.OutcomeUnmapped && opened.Pool == nil {
			break // another try would not help
		}
	}
	perIO := -1.0
	if n, ok := counters.InterruptsSince(s.interrupts(), before); ok && sum.issued > 0 {
		perIO = float64(n) / float64(sum.issued)
	}
	step := sum.step(perIO)
	if step.Read == nil && step.Write == nil {
		return step, fmt.Errorf("%s: %w in %s: %s", p.Name, ErrNothingMeasured, units.Plural(sum.rounds, "round"), sum.last)
	}
	return step, nil
}

// interrupts returns the device's interrupts so far; none if they are not counted.
func (s *Session) interrupts() []counters.Interrupt {
	names, err := counters.InterruptNames(s.options.FS, s.subject.Device)
	if err != nil {
		return nil // one figure less is no reason to fail a run
	}
	lines, err := counters.ReadInterrupts(s.options.FS, names)
	if err != nil {
		return nil
	}
	return lines
}

func roundText(m record.Measurement) string {
	if m.Outcome == record.OutcomeOK {
		return "p50 " + units.Latency(m.Latency.Quantile(0.5))
	}
	return fmt.Sprintf("%s (%s)", m.Outcome, m.Reason)
}
