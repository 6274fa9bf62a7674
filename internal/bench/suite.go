package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// suiteShare is the part of the pairs that the suite is run for, which takes its time.
const suiteShare = 2

// admitAll is a part of a configuration that lets nothing that others do stop a probe or a run.
const admitAll = "admission: {max_utilisation: 1, max_in_flight: 100000, max_io_pressure: 1, max_cpu_wait: 1}\n"

// compareSuite sets the IOPS that run quick reports, step by step, against those of bare fio with the same job file. Who
// goes first changes from pair to pair.
func compareSuite(ctx context.Context, b *bench) ([]line, error) {
	steps, err := b.quick(ctx) // for the job files
	if err != nil {
		return nil, err
	}
	ratios := make([][]float64, len(steps))
	for i := range max(1, b.pairs/suiteShare) {
		ours := steps
		theirs := make([]float64, len(steps))
		sides := []func() error{
			func() (err error) { ours, err = b.quick(ctx); return err },
			func() error {
				for j, step := range steps {
					r, err := runFio(ctx, step.JobFile, "-")
					if err != nil {
						return err
					}
					theirs[j] = r.read.IOPS
				}
				return nil
			},
		}
		for j := range sides {
			if err := sides[(i+j)%2](); err != nil {
				return nil, err
			}
		}
		for j := range steps {
			ratios[j] = append(ratios[j], ours[j].Read.IOPS/theirs[j])
		}
	}
	var lines []line
	for j, step := range steps {
		lines = append(lines, newLine("run quick IOPS: "+step.Plan, "bare fio, same job file", "ratio", within(0.01), ratios[j]...))
	}
	return lines, nil
}

// quick runs the suite on the file.
func (b *bench) quick(ctx context.Context) ([]record.Step, error) {
	config, err := b.write("quick.yaml", "lock_dir: "+filepath.Join(b.work, "locks")+"\n"+admitAll)
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, b.binary, "run", "quick", "--config", config, "--state-dir", filepath.Join(b.work, "quick"),
		"--target", b.file.Path(), "--set", "time=2s", "-o", "json")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("run quick: %w: %s", err, stderr.String())
	}
	var document struct{ Report record.RunReport }
	if err := json.Unmarshal(out, &document); err != nil {
		return nil, fmt.Errorf("run quick: %w", err)
	}
	for _, step := range document.Report.Steps {
		if step.Read == nil || step.JobFile == "" {
			return nil, fmt.Errorf("run quick: step %s measured nothing", step.Name)
		}
	}
	return document.Report.Steps, nil
}

// write writes a file of the bench's own.
func (b *bench) write(name, text string) (string, error) {
	path := filepath.Join(b.work, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}
