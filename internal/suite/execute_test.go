package suite_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

func TestQuickOnAFile(t *testing.T) {
	s, target, b := find(t, "quick"), dataFile(t), binary(t)
	var seen []suite.Progress
	before := time.Now()
	caller := record.Warning{Code: record.WarnGovernor, Text: "The governor saves power."}
	got, err := suite.Execute(t.Context(), s, suite.Options{
		Fio: b, Target: target, Values: set(t, s, "time=200ms"), Conditions: record.Conditions{Kernel: "6.1", Scheduler: "none"},
		Node: "storage-07", Generator: "ssdprobe 1.2.3", Warnings: []record.Warning{caller},
		Progress: func(p suite.Progress) { seen = append(seen, p) },
	})
	require.NoError(t, err)

	steps := got.Steps
	assert.False(t, got.Started.Before(before.Round(0)))
	assert.True(t, got.Finished.After(got.Started))
	require.NotNil(t, got.Analysis)
	assert.Len(t, got.Analysis.Bounds, 3)
	limit := record.LimitLatency
	if slices.ContainsFunc(steps[0].Warnings, func(w record.Warning) bool { return w.Code == record.WarnDisturbed }) {
		limit = record.LimitOthers // this machine is busy
	}
	assert.Equal(t, limit, got.Analysis.Bounds[0].Limit)
	got.Started, got.Finished, got.Steps, got.Analysis = time.Time{}, time.Time{}, nil, nil
	assert.Equal(t, record.RunReport{
		Version: record.RunReportVersion, Suite: "quick", Device: target.Device, Target: target.Path, TargetID: target.ID,
		File: &record.RunFile{Bytes: target.OffsetBytes + target.SizeBytes},
		Node: "storage-07", Generator: "ssdprobe 1.2.3", Engine: b.Version.String(),
		Conditions: record.Conditions{Kernel: "6.1", Scheduler: "none", Engine: b.Version.String() + " libaio"},
		Warnings:   []record.Warning{caller}, Settings: map[string]string{"time": "200ms"},
	}, got)

	planned, err := s.Plan(set(t, s, "time=200ms"), target)
	require.NoError(t, err)
	require.Len(t, steps, 3)
	var used float64 // of a single step on a busy host, the clock's ticks may see nothing
	for i, step := range steps {
		text, err := planned[i].Job.Render()
		require.NoError(t, err)
		assert.Equal(t, text, step.JobFile)
		assert.Equal(t, []any{planned[i].Name, planned[i].Plan, planned[i].Workload}, []any{step.Name, step.Plan, step.Workload})
		assert.GreaterOrEqual(t, step.Duration, 200*time.Millisecond)
		require.NotNil(t, step.Read)
		assert.Nil(t, step.Write)
		assert.Positive(t, step.Read.IOs)
		assert.Equal(t, step.Read.IOs*[]int64{4096, 4096, 128 << 10}[i], step.Read.Bytes)
		assert.Positive(t, step.Read.Latency.Quantile(0.99))
		assert.LessOrEqual(t, step.Read.Min, step.Read.Mean)
		assert.LessOrEqual(t, step.Read.Mean, step.Read.Max)
		used += step.UserCPU + step.SystemCPU
		for _, w := range step.Warnings {
			assert.NotContains(t, []string{record.WarnDisturbanceBlind, record.WarnErrors, record.WarnShort}, w.Code, w.Text)
		}
	}

	assert.Positive(t, used)
	require.GreaterOrEqual(t, len(seen), 3)
	assert.Equal(t, suite.Progress{
		Step: "random-read-qd1", Plan: "4 KiB random read, depth 1", Number: 1, Steps: 3, Done: seen[0].Done, Remaining: seen[0].Remaining,
	}, seen[0])
	for i := range seen[1:] {
		assert.GreaterOrEqual(t, seen[i+1].Done, seen[i].Done)
	}

	got.Steps = steps
	var text bytes.Buffer
	require.NoError(t, report.Run(&text, got))
	assert.Contains(t, text.String(), "random-read-qd32: 4 KiB random read, depth 32, ")
	assert.Contains(t, text.String(), "engine       "+b.Version.String())
}

// Reading a raw device does not change it.
func TestQuickOnADevice(t *testing.T) {
	s := find(t, "quick")
	target, behind := loopDevice(t)
	before, err := os.ReadFile(behind)
	require.NoError(t, err)
	got, err := suite.Execute(t.Context(), s, suite.Options{Fio: binary(t), Target: target, Values: set(t, s, "time=100ms")})
	require.NoError(t, err)
	require.Len(t, got.Steps, 3)
	for _, step := range got.Steps {
		assert.Positive(t, step.Read.IOs)
	}
	after, err := os.ReadFile(behind)
	require.NoError(t, err)
	assert.Equal(t, sha256.Sum256(before), sha256.Sum256(after))
}

func TestExecuteIsInterrupted(t *testing.T) {
	s := find(t, "quick")
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted by Ctrl-C")
	got, err := suite.Execute(ctx, s, suite.Options{
		Fio: binary(t), Target: dataFile(t), Values: set(t, s, "time=1h", "random-depths=1"),
		Progress: func(p suite.Progress) {
			if p.Rates != nil {
				cancel(interrupted)
			}
		},
	})
	require.NoError(t, err)
	require.Len(t, got.Steps, 1)
	assert.Positive(t, got.Steps[0].Read.IOs)
	require.NotEmpty(t, got.Steps[0].Warnings)
	assert.Equal(t, record.Warning{Code: record.WarnShort, Text: "Stopped before its end: interrupted by Ctrl-C."}, got.Steps[0].Warnings[0])
	assert.Equal(t, []record.Warning{{Code: record.WarnShort, Text: "Stopped in step 1 of 2: interrupted by Ctrl-C."}}, got.Warnings)
}

// If fio is interrupted before it reports anything, there is still a report.
func TestExecuteIsInterruptedAtOnce(t *testing.T) {
	s := find(t, "quick")
	ctx, cancel := context.WithCancelCause(t.Context())
	got, err := suite.Execute(ctx, s, suite.Options{
		Fio: script(t, `case $1 in --enghelp) echo libaio;; *) sleep 1000;; esac`), Target: dataFile(t),
		Progress: func(suite.Progress) { cancel(errors.New("interrupted by Ctrl-C")) },
	})
	require.NoError(t, err)
	assert.Equal(t, []record.Step{{
		Name: "random-read-qd1", Plan: "4 KiB random read, depth 1", InterruptsPerIO: -1, Workload: got.Steps[0].Workload,
		Warnings: []record.Warning{{Code: record.WarnShort, Text: "Stopped before anything was reported: interrupted by Ctrl-C."}},
	}}, got.Steps)
}

// A run that fails does not look complete.
func TestExecuteFailsOnTheWay(t *testing.T) {
	s := find(t, "quick")
	real := binary(t).Path
	failed := filepath.Join(t.TempDir(), "ran")
	got, err := suite.Execute(t.Context(), s, suite.Options{
		Fio:    script(t, fmt.Sprintf(`case $1 in --enghelp) ;; *) [ -e %[1]s ] && { echo broken >&2; exit 1; }; touch %[1]s;; esac; exec %[2]s "$@"`, failed, real)),
		Target: dataFile(t), Values: set(t, s, "time=200ms", "random-depths=1"),
	})
	require.ErrorContains(t, err, "run quick: step sequential-read-qd8: ")
	require.Len(t, got.Steps, 1)
	assert.Positive(t, got.Steps[0].Read.IOs)
	assert.False(t, got.Complete())
	last := got.Warnings[len(got.Warnings)-1]
	assert.Equal(t, record.WarnShort, last.Code)
	assert.Contains(t, last.Text, "Stopped in step 2 of 2: ")
	assert.Contains(t, last.Text, "broken")
}

// script returns a shell script that replaces fio.
func script(t *testing.T, text string) fiorun.Binary {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fio")
	// A program is not executed while a child that was forked meanwhile has it open for writing.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	return fiorun.Binary{Path: name, Version: fio.Version{Major: 3, Minor: 33}}
}

func TestExecuteRefuses(t *testing.T) {
	s, file := find(t, "quick"), dataFile(t)
	raw, short, gone := file, file, file
	raw.Raw = true
	short.SizeBytes++
	gone.Path += ".gone"
	device := file
	device.Path = "/dev/null"
	for want, target := range map[string]suite.Target{
		"is not a block device": raw, "has 16777216 bytes, fewer than the 16777217": short,
		"no such file or directory": gone, "/dev/null is not a regular file": device,
	} {
		got, err := suite.Execute(t.Context(), s, suite.Options{Fio: binary(t), Target: target})
		require.ErrorContains(t, err, want)
		assert.Zero(t, got)
	}
	_, err := suite.Execute(t.Context(), s, suite.Options{Fio: script(t, "echo sync"), Target: file})
	require.ErrorIs(t, err, fiorun.ErrEngine)
}

// What was measured before a failure is kept.
func TestExecuteKeepsTheStepsBeforeAFailure(t *testing.T) {
	s, b := find(t, "quick"), binary(t)
	once := filepath.Join(t.TempDir(), "once")
	fails := script(t, `case $1 in --enghelp) echo libaio; exit;; esac
test -e `+once+` && { echo broken >&2; exit 1; }
touch `+once+`
exec `+b.Path+` "$@"`)
	got, err := suite.Execute(t.Context(), s, suite.Options{Fio: fails, Target: dataFile(t), Values: set(t, s, "time=100ms")})
	require.EqualError(t, err, "run quick: step random-read-qd32: run fio: exit status 1: broken")
	require.Len(t, got.Steps, 1)
	assert.Positive(t, got.Steps[0].Read.IOs)
}

// A drive may fail in the middle of a step, after much of it was measured: the result is then
// incomplete, too.
func TestExecuteFailsWithAnIO(t *testing.T) {
	s, err := suite.OwnJob("x", strings.NewReader("[global]\nrw=randread\ndirect=1\n[good]\nnumber_ios=50\nbs=4k\n[bad]\nbssplit=1000/100\n"))
	require.NoError(t, err)
	got, err := suite.Execute(t.Context(), s, suite.Options{Fio: binary(t), Target: dataFile(t)})
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "an I/O failed: job bad: EINVAL")
	require.Len(t, got.Steps, 1)
	assert.Equal(t, int64(50), got.Steps[0].Read.IOs)
	assert.False(t, got.Complete())
}
