package fiorun_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// captured returns a run with one of the reports stored in pkg/fio.
func captured(t *testing.T, name string) fiorun.Run {
	t.Helper()
	f, err := os.Open(filepath.Join("../../pkg/fio/testdata", name))
	require.NoError(t, err)
	defer f.Close()
	out, err := fio.ParseOutput(f)
	require.NoError(t, err)
	return fiorun.Run{Output: out, Job: job("any", reads("x")), JobFile: "[any]\n", Duration: time.Second}
}

func TestStepsOfAGroup(t *testing.T) {
	steps := captured(t, "fio-3.33-randread-group.json").Steps()
	require.Len(t, steps, 1)
	assert.Equal(t, int64(450), steps[0].Read.Latency.Count())
	// These are fio's own p50 and p99 of lat_ns, not those of clat_ns.
	assert.Equal(t, 288768*time.Nanosecond, steps[0].Read.Latency.Quantile(0.5))
	assert.Equal(t, 12779520*time.Nanosecond, steps[0].Read.Latency.Quantile(0.99))
	steps[0].Read.Latency = nil
	for i := range steps[0].Depth.Levels {
		steps[0].Depth.Levels[i].Share = math.Round(1e4*steps[0].Depth.Levels[i].Share) / 1e4
	}
	assert.Equal(t, record.Step{
		Name: "qd8", Duration: 30 * time.Millisecond, JobFile: "[any]\n", InterruptsPerIO: -1, Plan: "4 KiB random read, depth 8, 3 jobs",
		Workload: &record.Workload{Direction: record.Read, Pattern: record.Random, BlockBytes: 4096, QueueDepth: 8, Jobs: 3, Engine: "libaio"},
		Read:     &record.Result{IOs: 450, Bytes: 1843200, IOPS: 15000, BytesPerSecond: 61440000, Min: 59559, Mean: 510519, Max: 14563170},
		// 14.7 % of one CPU in each of the jobs, which together ran for 75 ms.
		SystemCPU: 0.14666667 * 75 / 30,
		Depth: &record.Depth{Asked: 1, Levels: []record.DepthLevel{ // the device was not watched
			{Least: 1, Share: 0.0067}, {Least: 2, Share: 0.0133}, {Least: 4, Share: 0.0267}, {Least: 8, Share: 0.9533},
		}},
	}, steps[0])
}

// fio counts whole milliseconds: of a piece that a fast drive reads in 4.1 ms, it makes 5, and a fifth of the speed is lost.
func TestABriefStepDecidesNothing(t *testing.T) {
	o := reads(dataFile(t))
	o.RW, o.SizeBytes = fio.Read, new(int64(4096)) // a single I/O
	run, err := real(t).Run(t.Context(), fiorun.Request{Job: job("piece", o)})
	require.NoError(t, err)
	run.Output.Jobs[0].Read.Runtime = 5 * time.Millisecond
	step := run.Steps()[0]
	assert.Contains(t, step.Warnings, record.Warning{
		Code: record.WarnBrief, Text: "This took 5 ms, and fio counts whole milliseconds, so the rates may be off by 20 %: measure more data or for longer.",
	})
	assert.NotEmpty(t, step.Spoiled())
	run.Output.Jobs[0].Read.Runtime = time.Second
	step = run.Steps()[0]
	assert.NotContains(t, codesOf(step), record.WarnBrief)
}

func TestStepsOfTwoGroups(t *testing.T) {
	steps := captured(t, "fio-3.33-stonewall-sync.json").Steps()
	require.Len(t, steps, 2)
	assert.Equal(t, []string{"mixed", "durable"}, []string{steps[0].Name, steps[1].Name})
	assert.Equal(t, []int64{40, 20}, []int64{steps[0].Read.IOs, steps[0].Write.IOs})
	assert.Nil(t, steps[0].Sync)
	assert.Nil(t, steps[1].Read)
	assert.Equal(t, int64(59), steps[1].Sync.IOs)
	assert.Equal(t, int64(59), steps[1].Sync.Latency.Count())
	assert.Equal(t, []time.Duration{37527, 429485, 2468696}, []time.Duration{steps[1].Sync.Min, steps[1].Sync.Mean, steps[1].Sync.Max})
	assert.InEpsilon(t, 59/steps[1].Duration.Seconds(), steps[1].Sync.IOPS, 1e-9)
}

// Jobs that fio reports one by one give the same result as those that it merges.
func TestStepsAddJobsUp(t *testing.T) {
	run := captured(t, "fio-3.33-stonewall-sync.json")
	one := run.Steps()[0].Read
	twice := run
	first := run.Output.Jobs[0]
	twice.Output.Jobs = []fio.JobResult{first, first}
	both := twice.Steps()
	require.Len(t, both, 1)
	assert.Equal(t, "mixed", both[0].Name)
	assert.Equal(t, 2*one.IOs, both[0].Read.IOs)
	assert.InEpsilon(t, 2*one.IOPS, both[0].Read.IOPS, 1e-9)
	assert.Equal(t, record.Merge(one.Latency, one.Latency), both[0].Read.Latency)
	assert.Equal(t, []time.Duration{one.Min, one.Mean, one.Max}, []time.Duration{both[0].Read.Min, both[0].Read.Mean, both[0].Read.Max})
}

func TestWarnings(t *testing.T) {
	plain := captured(t, "fio-3.33-randread-group.json")
	busy := func(user, system float64) fiorun.Run {
		run := plain
		run.Output.Jobs = append([]fio.JobResult(nil), plain.Output.Jobs...)
		run.Output.Jobs[0].UserCPU, run.Output.Jobs[0].SystemCPU = user, system
		run.Output.Jobs[0].Runtime = 30 * time.Millisecond
		return run
	}
	all := busy(0.5, 0.3)
	all.Output.Jobs[0].Runtime = time.Duration(runtime.NumCPU()) * 37 * time.Millisecond
	with := func(change func(*fiorun.Run)) fiorun.Run {
		run := plain
		change(&run)
		return run
	}
	disk := func(readSectors, writeSectors counters.Sectors512) *counters.Disk {
		return &counters.Disk{ReadSectors: readSectors, WriteSectors: writeSectors}
	}
	ramp := func(moved *fiorun.Moved) fiorun.Run {
		return with(func(r *fiorun.Run) {
			o := reads("x")
			o.RampTime = new(time.Second)
			r.Job, r.Seen.Disk, r.Seen.Moved = job("any", o), disk(99999, 0), moved
		})
	}
	long := func(r fiorun.Run) fiorun.Run {
		r.Duration = 2 * time.Second
		return r
	}
	for name, c := range map[string]struct {
		run        fiorun.Run
		code, text string
	}{
		"nothing":       {run: plain},
		"one CPU":       {busy(0.4, 0.58), record.WarnCPUBound, "The load generator used 98 % of one CPU"},
		"all CPUs":      {all, record.WarnCPUBound, "they were the limit"},
		"hardly one":    {run: busy(0.4, 0.4)},
		"stopped":       {with(func(r *fiorun.Run) { r.Stopped, r.Ended = errors.New("interrupt"), "exit status 128" }), record.WarnShort, "Stopped before its end: interrupt."},
		"ended badly":   {with(func(r *fiorun.Run) { r.Ended, r.Messages = "exit status 1", ": fio: odd" }), record.WarnErrors, "fio did not end well, exit status 1: fio: odd."},
		"throttled":     {with(func(r *fiorun.Run) { r.Seen.Throttled = 11 * time.Millisecond }), record.WarnDisturbed, "stopped threads for 11.0 ms in 1 s"},
		"hardly so":     {run: with(func(r *fiorun.Run) { r.Seen.Throttled = 9 * time.Millisecond })},
		"waited":        {with(func(r *fiorun.Run) { r.Seen.CPUWait = new(0.06) }), record.WarnDisturbed, "The threads of fio waited for a CPU for 6 % of the time"},
		"hardly waited": {run: with(func(r *fiorun.Run) { r.Seen.CPUWait = new(0.05) })},
		"own doing": {with(func(r *fiorun.Run) {
			*r = busy(0.4, 0.4)
			o := reads("x")
			o.CPUsAllowed = "0"
			r.Job, r.Seen.CPUWait = job("any", o), new(0.3)
		}), record.WarnCPUBound, "for 30 % of the time, and fio itself used 80 % of those that it may use"},
		"all of its CPU": {with(func(r *fiorun.Run) {
			*r = busy(0.4, 0.58)
			r.Seen.CPUWait = new(0.3)
			o := reads("x")
			o.CPUsAllowed = "0"
			r.Job = job("any", o)
		}), record.WarnCPUBound, "The load generator used 98 % of one CPU"},
		"pressed": {with(func(r *fiorun.Run) { r.Seen.CPUPressure = new(310 * time.Millisecond) }), record.WarnDisturbed, "Tasks of this host waited for a CPU for 31 % of the time"},
		"others pressed": {run: with(func(r *fiorun.Run) {
			r.Seen.CPUPressure, r.Seen.CPUWait = new(800*time.Millisecond), new(0.01)
		})},
		"others read":     {with(func(r *fiorun.Run) { r.Seen.Disk = disk(3600+2000, 0) }), record.WarnOthersActive, "they read 1.02 MB and wrote 0 B, beside the 1.84 MB of this run"},
		"others write":    {with(func(r *fiorun.Run) { r.Seen.Disk = disk(3600, 2000) }), record.WarnOthersActive, "they read 0 B and wrote 1.02 MB"},
		"a journal":       {run: with(func(r *fiorun.Run) { r.Seen.Disk = disk(3600, 400) })},
		"nearly all read": {run: with(func(r *fiorun.Run) { r.Seen.Disk = disk(1900, 0) })},
		"not counted":     {with(func(r *fiorun.Run) { r.Seen.Disk = disk(10, 0) }), record.WarnLoadBlind, "The device did not count most of these I/Os"},
		"trims are counted as such": {run: with(func(r *fiorun.Run) {
			r.Seen.Disk = disk(10, 0)
			r.Seen.Disk.Discards = &counters.Discards{Sectors: 3600}
		})},
		"ramp":                    {run: ramp(nil)},
		"ramp, and alone":         {run: ramp(&fiorun.Moved{Read: 100 << 20, Written: 1 << 10, Own: counters.ProcessIO{Read: 101 << 20}})},
		"ramp, and others read":   {ramp(&fiorun.Moved{Read: 110 << 20, Own: counters.ProcessIO{Read: 100 << 20}}), record.WarnOthersActive, "they read 10.5 MB and wrote 0 B, beside the 105 MB of this run"},
		"ramp, and others write":  {ramp(&fiorun.Moved{Read: 100 << 20, Written: 10 << 20, Own: counters.ProcessIO{Read: 100 << 20}}), record.WarnOthersActive, "they read 0 B and wrote 10.5 MB"},
		"ramp, and its journal":   {run: ramp(&fiorun.Moved{Read: 100 << 20, Written: 90 << 20, Own: counters.ProcessIO{Read: 100 << 20, Written: 50 << 20}})},
		"ramp, not counted":       {long(ramp(&fiorun.Moved{Own: counters.ProcessIO{Read: 100 << 20}})), record.WarnLoadBlind, "The device did not count most of these I/Os"},
		"ramp, never looked at":   {long(ramp(nil)), record.WarnLoadBlind, "The kernel did not count what fio moved"},
		"not fio's to the kernel": {long(ramp(&fiorun.Moved{Read: 9 << 20})), record.WarnLoadBlind, "The kernel did not count what fio moved"},
		"no device":               {run: with(func(r *fiorun.Run) { r.Duration, r.Seen.Groups = time.Minute, []fiorun.SeenGroup{{}} })},
		"page cache": {run: with(func(r *fiorun.Run) {
			o := reads("x")
			o.Direct = new(false)
			r.Job, r.Seen.Disk = job("any", o), disk(99999, 0)
		})},
		"several devices": {with(func(r *fiorun.Run) {
			r.Seen.Groups = []fiorun.SeenGroup{{Disk: disk(0, 0)}, {Disk: disk(0, 0)}}
			r.Seen.Moved = &fiorun.Moved{Read: 110 << 20, Own: counters.ProcessIO{Read: 100 << 20}}
		}), record.WarnOthersActive, "they read 10.5 MB"},
		"blind": {with(func(r *fiorun.Run) { r.Seen.Problems = []string{"interrupts: none", "throttling: odd"} }), record.WarnDisturbanceBlind, "Could not look at interrupts: none; throttling: odd."},
	} {
		t.Run(name, func(t *testing.T) {
			warnings := c.run.Steps()[0].Warnings
			if c.code == "" {
				assert.Empty(t, warnings)
				return
			}
			require.Len(t, warnings, 1)
			assert.Equal(t, c.code, warnings[0].Code)
			assert.Contains(t, warnings[0].Text, c.text)
		})
	}
}

func TestInterruptsPerIO(t *testing.T) {
	run := captured(t, "fio-3.33-randread-group.json")
	run.Seen.Interrupts = new(uint64(90))
	assert.Less(t, run.Steps()[0].InterruptsPerIO, 0.0, "without the device's I/Os")
	run.Seen.Disk = &counters.Disk{ReadIOs: 80, WriteIOs: 20}
	assert.InDelta(t, 0.9, run.Steps()[0].InterruptsPerIO, 1e-9)
	run.Seen.Interrupts = nil
	assert.Less(t, run.Steps()[0].InterruptsPerIO, 0.0)

	groups := captured(t, "fio-3.33-stonewall-sync.json")
	groups.Seen.Interrupts, groups.Seen.Disk = new(uint64(90)), &counters.Disk{ReadIOs: 80, WriteIOs: 20}
	require.Greater(t, len(groups.Steps()), 1)
	for _, step := range groups.Steps() {
		assert.Less(t, step.InterruptsPerIO, 0.0, "they were counted for all groups together")
		assert.Zero(t, step.InterruptsPerSecond)
	}
}

// With group_reporting, fio prints the sum of all sections but only the options of the first, however short the others
// were.
func TestSectionsThatFioAddedUp(t *testing.T) {
	testenv.Installed(t, "fio")
	binary, err := fiorun.Find(t.Context())
	require.NoError(t, err)
	file := dataFile(t)
	for plan, change := range map[string]func(*fio.Options){
		"4 KiB random read, depth 1 + 16 KiB random read, depth 4": func(o *fio.Options) {
			o.BlockBytes, o.IODepth, o.Extra = new(int64(16384)), new(4), []fio.Option{{Key: "number_ios", Value: "1"}}
		},
		"4 KiB random read, depth 1, 2 jobs": func(*fio.Options) {},
	} {
		first, second := reads(file), reads(file)
		change(&second)
		first.GroupReporting, second.GroupReporting = new(true), new(true)
		run, err := binary.Run(t.Context(), fiorun.Request{Job: fio.Job{Sections: []fio.Section{{Name: "a", Options: first}, {Name: "b", Options: second}}}, ReadOnly: true})
		require.NoError(t, err)
		require.Len(t, run.Output.Jobs, 1)
		steps := run.Steps()
		require.Len(t, steps, 1)
		assert.Equal(t, plan, steps[0].Plan)
		assert.Nil(t, steps[0].Workload, "no point of a sweep")
	}
}
