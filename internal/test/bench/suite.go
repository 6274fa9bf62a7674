package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/target"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// admitAll is a part of a configuration with which no other load stops a probe or a run.
const admitAll = "admission: {max_utilisation: 1, max_in_flight: 100000, max_io_pressure: 1, max_cpu_wait: 1}\n"

// compareSuite compares the IOPS of the steps of run quick, run as the suite runs them, with those of bare
// fio with the same job file: on the drive, and on a disk with a constant speed, which the kernel limits.
func compareSuite(ctx context.Context, b *bench) ([]line, error) {
	// A drive's speed varies within seconds, so many short turns are more exact than few long ones.
	lines, err := suiteOn(ctx, b.file, "run quick IOPS", time.Second, 2*b.pairs)
	if err != nil {
		return nil, err
	}
	more, err := b.onMemoryDisk(ctx, func(disk *memoryDisk, file *target.File) ([]line, error) {
		const iops = 2000
		if err := disk.hold(iops); err != nil {
			return nil, err
		}
		// The kernel lets the reads of some ten milliseconds pass in one burst.
		return suiteOn(ctx, file, fmt.Sprintf("run quick IOPS, disk held to %d", iops), 3*time.Second, b.pairs)
	})
	return append(lines, more...), err
}

// suiteOn compares on a file. The sides take turns step by step, and the order changes from pair to pair.
func suiteOn(ctx context.Context, file *target.File, what string, turn time.Duration, pairs int) ([]line, error) {
	binary, err := fiorun.Find(ctx)
	if err != nil {
		return nil, unreachableError{err.Error()}
	}
	steps, err := quick(file, turn)
	if err != nil {
		return nil, err
	}
	ratios := make([][]float64, len(steps))
	for i := range pairs {
		for j, step := range steps {
			var ours, theirs float64
			sides := []func() error{
				func() (err error) { ours, err = runStep(ctx, binary, step); return err },
				func() error {
					r, err := runFio(ctx, step.text, "-")
					theirs = r.read.IOPS
					return err
				},
			}
			for k := range sides {
				if err := sides[(i+k)%2](); err != nil {
					return nil, fmt.Errorf("run quick: step %s: %w", step.Name, err)
				}
			}
			ratios[j] = append(ratios[j], ours/theirs)
		}
	}
	var lines []line
	for j, step := range steps {
		lines = append(lines, newLine(what+": "+step.Plan, "bare fio, same job file", "ratio", within(0.01), ratios[j]...))
	}
	return lines, nil
}

// quickStep is a step of the suite with its job file.
type quickStep struct {
	suite.Step
	text string
}

// quick plans the suite on a file, with steps of one turn.
func quick(file *target.File, turn time.Duration) ([]quickStep, error) {
	s, err := suite.Find("quick")
	if err != nil {
		return nil, err
	}
	values, err := s.Set([]string{"time=" + turn.String()})
	if err != nil {
		return nil, err
	}
	start, length := file.Data()
	planned, err := s.Plan(values, suite.Target{Path: file.Path(), OffsetBytes: start, SizeBytes: length, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	steps := make([]quickStep, len(planned))
	for i, step := range planned {
		text, err := step.Job.Render()
		if err != nil {
			return nil, err
		}
		steps[i] = quickStep{step, text}
	}
	return steps, nil
}

// runStep runs a step as the suite does, with its progress read, and returns its IOPS.
func runStep(ctx context.Context, binary fiorun.Binary, step quickStep) (float64, error) {
	run, err := binary.Run(ctx, fiorun.Request{Job: step.Job, ReadOnly: true, Progress: func(fio.Status) {}})
	if err != nil {
		return 0, err
	}
	measured := run.Steps()
	switch {
	case run.Stopped != nil:
		return 0, run.Stopped
	case len(measured) != 1 || measured[0].Read == nil:
		return 0, errors.New("it measured nothing")
	}
	return measured[0].Read.IOPS, nil
}
