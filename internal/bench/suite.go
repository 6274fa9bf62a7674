package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

const (
	// suiteTurn is how long a step takes on each side. A drive's speed wanders within
	// seconds, so many short turns tell more than few long ones.
	suiteTurn = time.Second
	// suitePairs is how many pairs of turns of a step count as one.
	suitePairs = 2
)

// admitAll is a part of a configuration that lets nothing that others do stop a probe or a run.
const admitAll = "admission: {max_utilisation: 1, max_in_flight: 100000, max_io_pressure: 1, max_cpu_wait: 1}\n"

// compareSuite sets the IOPS of the steps of run quick, run as the suite runs them, against those of bare fio with the
// same job file. The sides take turns step by step, and who goes first changes from pair to pair.
func compareSuite(ctx context.Context, b *bench) ([]line, error) {
	binary, err := fiorun.Find(ctx)
	if err != nil {
		return nil, unreachableError{err.Error()}
	}
	steps, err := b.quick()
	if err != nil {
		return nil, err
	}
	ratios := make([][]float64, len(steps))
	for i := range suitePairs * b.pairs {
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
		lines = append(lines, newLine("run quick IOPS: "+step.Plan, "bare fio, same job file", "ratio", within(0.01), ratios[j]...))
	}
	return lines, nil
}

// quickStep is a step of the suite with its job file.
type quickStep struct {
	suite.Step
	text string
}

// quick plans the suite on the file.
func (b *bench) quick() ([]quickStep, error) {
	s, err := suite.Find("quick")
	if err != nil {
		return nil, err
	}
	values, err := s.Set([]string{"time=" + suiteTurn.String()})
	if err != nil {
		return nil, err
	}
	start, length := b.file.Data()
	planned, err := s.Plan(values, suite.Target{Path: b.file.Path(), OffsetBytes: start, SizeBytes: length, ReadOnly: true})
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

// runStep runs a step as the suite does, watched and with its progress read, and returns its IOPS.
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
