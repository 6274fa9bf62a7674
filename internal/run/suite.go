package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

const (
	// sampled is how many blocks of a target are looked at before fio reads it.
	sampled = 512
	// writtenEnough is the share of them that must have been written for reads all
	// over the target to mean something.
	writtenEnough = 0.95
)

// Suite runs a suite of fio jobs. A run that ctx ends early returns what it has,
// with a warning, and the cause.
func (s *Session) Suite(ctx context.Context, chosen suite.Suite, values suite.Values, binary fiorun.Binary) (record.RunReport, error) {
	r := s.report(chosen.Name, binary.Version.String())
	s.options.Guard = &guard.Guard{}
	opened, err := s.open(ctx)
	if err != nil {
		return r, err
	}
	unwritten, err := s.checkWritten(ctx, opened)
	if err := errors.Join(err, opened.Close()); err != nil { // fio opens it by itself
		return r, err
	}
	r.Warnings = append(r.Warnings, unwritten...)
	names, err := counters.InterruptNames(s.options.FS, s.subject.Device)
	if err != nil {
		names = nil // a figure less is no reason to fail a run
	}
	done, err := suite.Execute(ctx, chosen, suite.Options{
		Fio: binary, Values: values, Conditions: s.subject.Conditions, Node: s.options.Node, Generator: s.options.Generator,
		Warnings: r.Warnings, Progress: s.suiteProgress,
		Target: suite.Target{
			Path: opened.Path, ID: s.subject.ID, Raw: !s.subject.File, OffsetBytes: opened.Area.Start, SizeBytes: opened.Area.Size,
			Device: s.subject.Device, Controllers: names,
		},
	})
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if len(done.Steps) == 0 {
		return r, err
	}
	done.FlagImpossible()
	return done, err
}

// checkWritten warns when much of the target was never written: fio reads all
// over it, and a drive answers for such blocks without reading anything.
func (s *Session) checkWritten(ctx context.Context, opened *measure.Session) ([]record.Warning, error) {
	if s.subject.File && !opened.ReadOnly {
		return nil, nil // written in full
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
	if p.Rates != nil {
		text = fmt.Sprintf("%s: %s", text, ratesText(*p.Rates))
	}
	s.options.Progress(Progress{Step: fmt.Sprintf("step %d of %d", p.Number, p.Steps), Done: p.Done, Text: text})
}

func ratesText(r fio.Rates) string {
	var parts []string
	if r.ReadIOPS > 0 {
		parts = append(parts, "read "+report.IOPS(r.ReadIOPS)+" IOPS, "+report.Bandwidth(r.ReadBytesPerSecond))
	}
	if r.WriteIOPS > 0 {
		parts = append(parts, "write "+report.IOPS(r.WriteIOPS)+" IOPS, "+report.Bandwidth(r.WriteBytesPerSecond))
	}
	return strings.Join(parts, "; ")
}
