package fiorun_test

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// hog keeps one CPU busy with several processes until the test ends.
func hog(t *testing.T, cpu string) {
	t.Helper()
	for range 4 {
		c := exec.Command("taskset", "-c", cpu, "sh", "-c", "while :; do :; done")
		require.NoError(t, c.Start())
		t.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait() // always an error, because it was killed
		})
	}
}

// timed returns a job that reads for four seconds on CPU 0.
func timed(t *testing.T) fio.Job {
	t.Helper()
	o := reads(dataFile(t))
	o.NumJobs, o.TimeBased, o.Runtime = new(2), new(true), new(4*time.Second)
	o.IODepth, o.CPUsAllowed, o.GroupReporting = new(8), "0", new(true)
	return job("timed", o)
}

func waited(step record.Step) bool {
	return slices.ContainsFunc(step.Warnings, func(w record.Warning) bool {
		return w.Code == record.WarnDisturbed || w.Code == record.WarnCPUBound
	})
}

// Beside hogs on its CPU, fio waits for the CPU, and the step says so.
func TestRunBesideHogs(t *testing.T) {
	b := real(t)
	for name, b := range map[string]fiorun.Binary{"fio": b, "a script that starts it": script(t, b.Path+` "$@"; exit $?`)} {
		t.Run(name, func(t *testing.T) {
			hog(t, "0")
			run, err := b.Run(t.Context(), fiorun.Request{Job: timed(t)})
			require.NoError(t, err)
			step := run.Steps()[0]
			assert.Greater(t, step.Disturbance.CPUWaitRatio, 0.05)
			assert.LessOrEqual(t, step.Disturbance.CPUWaitRatio, 1.0)
			assert.InDelta(t, step.Disturbance.CPUWaitRatio, step.Disturbance.CPUWait.Seconds()/step.Duration.Seconds(), 1e-6)
			assert.True(t, waited(step), "%+v", step.Warnings)
		})
	}
}

// A process from which nobody takes the CPU does not wait, however many others do: a slow
// reader with real-time priority, with and without hogs. The host of a virtual machine may
// take a CPU from everyone, so the test may try again.
func TestRunThatDoesNotWait(t *testing.T) {
	testenv.Root(t)
	b := real(t)
	first := script(t, "exec chrt -f 1 "+b.Path+` "$@"`)
	j := endless(dataFile(t))
	j.Sections[0].Options.Runtime = new(3 * time.Second)
	j.Sections[0].Options.CPUsAllowed = "0"
	for _, hogs := range []bool{false, true} {
		if hogs {
			hog(t, "0")
		}
		var step record.Step
		for attempt := 0; attempt < 3 && (attempt == 0 || waited(step) || step.Disturbance.CPUWaitRatio > 0.05); attempt++ {
			run, err := first.Run(t.Context(), fiorun.Request{Job: j})
			require.NoError(t, err)
			require.NotNil(t, run.Seen.CPUWait)
			step = run.Steps()[0]
			assert.InDelta(t, *run.Seen.CPUWait, step.Disturbance.CPUWaitRatio, 0)
			t.Logf("hogs: %v: waited for %.1f %% of the time", hogs, 100**run.Seen.CPUWait)
		}
		assert.False(t, waited(step), "hogs: %v: three times: %+v", hogs, step.Warnings)
		assert.Less(t, step.Disturbance.CPUWaitRatio, 0.05, "hogs: %v", hogs)
	}
}
