package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/units"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

const (
	// sampled is how many blocks of a target are checked before fio reads it.
	sampled = 512
	// writtenEnough is the share of them that must have been written so that reads all over the target are
	// meaningful.
	writtenEnough = 0.95
)

// Suite is a suite of fio jobs and what is needed to run it.
type Suite struct {
	suite.Suite
	Values suite.Values
	Fio    fiorun.Binary
	// Destroy are the serial numbers of the raw devices that the user allows to be overwritten.
	Destroy []string
	// DestroyUnknownData extends this to devices with data of no known format.
	DestroyUnknownData bool
	// Format also allows them to be formatted.
	Format bool
	// DataSheet is compared with the results; nil for no comparison.
	DataSheet *record.DataSheet
	// KeepFio receives the job of each step as passed to fio, and fio's report; may be nil.
	KeepFio func(step, job string, report []byte)
}

// PlanError says that a suite cannot be run on its targets with its values at all.
type PlanError struct {
	Suite string
	Err   error
}

// Error returns "plan mixed: …".
func (e *PlanError) Error() string { return fmt.Sprintf("plan %s: %v", e.Suite, e.Err) }

func (e *PlanError) Unwrap() error { return e.Err }

// targets returns the targets of a run before any of them is opened, and whether the run writes to them. Errors:
// *PlanError if the suite cannot be run at all.
func (s Suite) targets(fs sysfs.FS, subjects []measure.Subject) (targets []suite.Target, writes bool, err error) {
	for _, subject := range subjects {
		t, err := Target(fs, subject)
		if err != nil {
			return nil, false, err
		}
		t.Destroy = t.Raw && len(s.Destroy) > 0
		targets = append(targets, t)
	}
	if writes, err = s.WritesTo(s.Values, targets...); err != nil {
		return nil, false, &PlanError{s.Name, err}
	}
	if s.Values.Text("purge") == suite.Format && !s.Format {
		return nil, false, &PlanError{s.Name, errors.New("purge=format: erases the drive by a command to its controller: give --format and --destroy SERIAL instead")}
	}
	if err := s.checkDestroy(targets, writes); err != nil {
		return nil, false, &PlanError{s.Name, err}
	}
	return targets, writes, nil
}

// possible returns why the suite cannot be carried out on its targets, whatever they contain. Errors: *PlanError
// if the device lacks a setting; others may concern only this process, which may not be allowed to ask the
// device.
func (s Suite) possible(ctx context.Context, fs sysfs.FS, targets []suite.Target) error {
	err := s.Possible(ctx, s.Values, s.Fio, settings.Options{FS: fs, OpenNVMe: nvme.Open}, targets...)
	if errors.Is(err, settings.ErrNone) || errors.Is(err, fiorun.ErrJob) {
		return &PlanError{s.Name, err}
	}
	return err
}

// checkDestroy refuses a run if a device was named to be overwritten but would not be. A device that was not
// named is refused later, together with everything else that speaks against writing to it.
func (s Suite) checkDestroy(targets []suite.Target, writes bool) error {
	if len(s.Destroy) > 0 && !writes {
		return fmt.Errorf("--destroy %s: the suite only reads, so nothing would be overwritten; leave --destroy out", s.Destroy[0])
	}
	var names []string
	for _, t := range targets {
		if t.Raw {
			names = append(names, safety.Name(t.Device))
		}
	}
	if slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(s.Destroy, name) }) {
		return nil
	}
	for _, named := range s.Destroy {
		if !slices.Contains(names, named) {
			return fmt.Errorf("--destroy %s: it is not one of the targets (%s); leave it out", named, strings.Join(names, ", "))
		}
	}
	return nil
}

// RunSuite runs a suite on the targets of sessions, in the order of their PCIe roots. If ctx ends, it returns
// what it has so far, with a warning, and the cause. A target that must not be written to yields
// safety.ErrRefused.
func RunSuite(ctx context.Context, sessions []*Session, chosen Suite) (record.RunReport, error) {
	first := sessions[0]
	r := first.report(chosen.Name, chosen.Fio.Version.String())
	targets, warnings, err := prepare(ctx, sessions, chosen)
	if err != nil {
		return r, err
	}
	r.Warnings = warnings
	done, err := suite.Execute(ctx, chosen.Suite, suite.Options{
		Fio: chosen.Fio, Target: targets[0], More: targets[1:], Values: chosen.Values, DataSheet: chosen.DataSheet,
		Settings:   settings.Options{FS: first.options.FS, Store: first.options.Store, OpenNVMe: nvme.Open, Restorer: first.options.Restorer},
		Conditions: targets[0].Conditions, Node: first.options.Node, Generator: first.options.Generator,
		Warnings: r.Warnings, Progress: first.suiteProgress, MaxOthers: first.options.MaxOthers, KeepFio: chosen.KeepFio,
	})
	for _, session := range sessions {
		session.formats = errors.Is(err, safety.ErrFormatting)
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if len(done.Steps) == 0 {
		return r, err
	}
	return done, errors.Join(err, done.CheckPhysics())
}

// checkWritten warns if much of the target was never written: fio reads all over it, and a drive answers for
// such blocks without reading anything.
func (s *Session) checkWritten(ctx context.Context, opened *measure.Session) ([]record.Warning, error) {
	if s.subject.File && !opened.ReadOnly {
		return nil, nil // a file of ssdprobe is fully written
	}
	ratio, err := opened.Sample(ctx, sampled)
	if err != nil || ratio >= writtenEnough {
		return nil, err
	}
	return []record.Warning{{
		Code: record.WarnUnmapped,
		Text: fmt.Sprintf("only %.0f %% of the blocks of %s were ever written, and the drive answers for the others without reading: "+
			"the figures are too good; name a directory on it to measure a file, or fill the drive first", 100*ratio, opened.Path),
	}}, nil
}

func (s *Session) suiteProgress(p suite.Progress) {
	text := p.Plan
	if p.Rates != nil && p.Done < 1 { // at the end, fio's rates are those of a time without I/O
		text = fmt.Sprintf("%s: %s", text, ratesText(*p.Rates))
	}
	s.options.Progress(Progress{Step: fmt.Sprintf("step %d of %d", p.Number, p.Steps), Done: p.Done, Left: p.Remaining, Text: text})
}

func ratesText(r fio.Rates) string {
	var parts []string
	if r.ReadIOPS > 0 {
		parts = append(parts, "read "+units.IOPS(r.ReadIOPS)+" IOPS, "+units.Bandwidth(r.ReadBytesPerSecond))
	}
	if r.WriteIOPS > 0 {
		parts = append(parts, "write "+units.IOPS(r.WriteIOPS)+" IOPS, "+units.Bandwidth(r.WriteBytesPerSecond))
	}
	return strings.Join(parts, "; ")
}
