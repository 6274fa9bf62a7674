package fiorun_test

import (
	"os"
	"path/filepath"
	"slices"
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

// queueOf sets an attribute of the queue of a device that the test has made.
func queueOf(t *testing.T, loop testenv.Loop, name, value string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join("/sys/block", filepath.Base(loop.Path), "queue", name), []byte(value), 0o600))
}

// depthOn runs fio on a loop device and returns the step and its depth.
func depthOn(t *testing.T, loop testenv.Loop, change func(*fio.Options)) (record.Step, record.Depth) {
	t.Helper()
	o := reads(loop.Path)
	o.IODepth, o.TimeBased, o.Runtime, o.SizeBytes = new(32), new(true), new(500*time.Millisecond), nil
	change(&o)
	run, err := real(t).Run(t.Context(), fiorun.Request{
		Job: job("depth", o), ReadOnly: true,
		Watch: fiorun.Watch{Device: testenv.DeviceNumber(t, loop.Path), Groups: []string{testenv.DeviceNumber(t, loop.Path)}},
	})
	require.NoError(t, err)
	steps := run.Steps()
	require.Len(t, steps, 1)
	require.NotNil(t, steps[0].Depth)
	return steps[0], *steps[0].Depth
}

// What the kernel makes of the requested depth, on a real queue.
func TestDepthOnADevice(t *testing.T) {
	loop := testenv.LoopDevice(t, 64<<20, testenv.Options{Random: true})
	t.Run("the queue has no more requests", func(t *testing.T) {
		queueOf(t, loop, "nr_requests", "8")
		defer queueOf(t, loop, "nr_requests", "128")
		step, d := depthOn(t, loop, func(*fio.Options) {})
		assert.Equal(t, record.DepthRequests, d.Limit)
		assert.Contains(t, d.Evidence, "nr_requests is 8", "of a busy machine, which also keeps the jobs from submitting, it says more")
		assert.Positive(t, d.Mean)
		assert.LessOrEqual(t, d.Mean, 8.5)
		assert.Contains(t, codesOf(step), record.WarnDepth)
	})
	t.Run("blocks are larger than requests", func(t *testing.T) {
		queueOf(t, loop, "max_sectors_kb", "64")
		defer queueOf(t, loop, "max_sectors_kb", "1280")
		step, d := depthOn(t, loop, func(o *fio.Options) { o.BlockBytes, o.IODepth = new(int64(256<<10)), new(4) })
		assert.Equal(t, record.DepthSplit, d.Limit)
		assert.Equal(t, "max_sectors_kb is 64, so the kernel made 4.0 requests of each I/O of 256 KiB", d.Evidence)
		assert.Less(t, step.OthersRatio, 0.1, "the requests that the kernel made of fio's I/Os are not those of others")
		assert.Contains(t, codesOf(step), record.WarnDepth)
		step, d = depthOn(t, loop, func(o *fio.Options) { o.BlockBytes, o.IODepth = new(int64(256<<10)), new(1) })
		assert.Equal(t, record.DepthSplit, d.Limit, "said")
		assert.NotContains(t, codesOf(step), record.WarnDepth, "and no alarm: no depth was asked for")
	})
	t.Run("neighbours are merged", func(t *testing.T) {
		step, d := depthOn(t, loop, func(o *fio.Options) {
			o.RW = fio.Read
			o.Extra = []fio.Option{{Key: "iodepth_batch", Value: "16"}, {Key: "iodepth_batch_complete_min", Value: "16"}}
		})
		assert.Equal(t, record.DepthMerged, d.Limit)
		assert.Contains(t, codesOf(step), record.WarnDepth)
	})
	t.Run("the engine does one at a time", func(t *testing.T) {
		step, d := depthOn(t, loop, func(o *fio.Options) { o.IOEngine = "psync" })
		assert.Equal(t, record.DepthEngine, d.Limit)
		assert.LessOrEqual(t, d.Mean, 1.1)
		assert.Positive(t, d.Mean)
		assert.Equal(t, []record.DepthLevel{{Least: 1, Share: 1}}, d.Levels)
		assert.Contains(t, codesOf(step), record.WarnDepth)
	})
	t.Run("the page cache does one at a time", func(t *testing.T) {
		step, d := depthOn(t, loop, func(o *fio.Options) { o.Direct = new(false) })
		assert.Equal(t, record.DepthEngine, d.Limit)
		assert.Zero(t, d.Mean, "the device's is not that of the job")
		assert.Contains(t, codesOf(step), record.WarnDepth)
	})
	t.Run("the job holds itself back", func(t *testing.T) {
		step, d := depthOn(t, loop, func(o *fio.Options) { o.Extra = []fio.Option{{Key: "rate_iops", Value: "20"}} })
		assert.Less(t, d.Mean, 16.0)
		assert.NotContains(t, codesOf(step), record.WarnDepth)
	})
	t.Run("depth 1", func(t *testing.T) {
		step, d := depthOn(t, loop, func(o *fio.Options) { o.IODepth = nil })
		assert.Equal(t, 1, d.Asked)
		assert.Empty(t, d.Limit)
		assert.NotContains(t, codesOf(step), record.WarnDepth)
	})
}

func codesOf(s record.Step) []string {
	var codes []string
	for _, w := range s.Warnings {
		codes = append(codes, w.Code)
	}
	return codes
}

// The device counts ten thousand reads of 4 KiB in a second at depth 32.
func TestLimitOfTheDepth(t *testing.T) {
	const ios, span = 10_000, time.Second
	type group struct {
		disk   counters.Disk
		queue  counters.Queue
		job    fio.JobResult
		option fio.Options
		waited float64
	}
	for name, c := range map[string]struct {
		change   func(*group)
		mean     float64
		limit    record.DepthLimit
		evidence string
		warns    bool
	}{
		"as asked":            {func(*group) {}, 31, "", "", false},
		"a little less":       {func(g *group) { g.disk.WeightedTime = 26 * span }, 26, "", "", false},
		"two thirds":          {func(g *group) { g.disk.WeightedTime = 20 * span }, 20, "", "", false},
		"nothing explains":    {func(g *group) { g.disk.WeightedTime = 10 * span }, 10, record.DepthUnknown, "not explained: the jobs may submit late, or a layer above the device may hold I/Os back", false},
		"a CPU is used up":    {func(g *group) { g.disk.WeightedTime, g.job.UserCPU = 3*span, 0.98 }, 3, record.DepthSubmission, "the device answers faster than the jobs submit", false},
		"a CPU is waited for": {func(g *group) { g.disk.WeightedTime, g.waited = 3*span, 0.4 }, 3, record.DepthSubmission, "the jobs waited for a CPU for 40 % of the time", false},
		"no requests left":    {func(g *group) { g.disk.WeightedTime, g.queue.Requests = 7*span, 8 }, 7, record.DepthRequests, "nr_requests is 8", true},
		"far below them": {func(g *group) { g.disk.WeightedTime, g.queue.Requests, g.waited = 3*span, 8, 0.66 }, 3, record.DepthRequests,
			"nr_requests is 8, and the jobs waited for a CPU for 66 % of the time", true},
		"of several queues": {func(g *group) {
			g.disk.WeightedTime, g.queue.Requests, g.queue.HardwareQueues = 15*span, 8, 4
			g.option.IODepth, g.option.NumJobs = new(16), new(2)
		}, 15, record.DepthRequests, "nr_requests is 8 in each of 4 hardware queues", true},
		"not by requests": {func(g *group) { g.disk.WeightedTime, g.queue.Requests, g.queue.HardwareQueues = 20*span, 8, 4 }, 20, "", "", false},
		"others":          {func(g *group) { g.disk.WriteSectors = 10 * g.disk.ReadSectors }, 0, "", "", false},
		"others with small requests": {func(g *group) {
			g.job.Read.IOs, g.job.Read.Bytes, g.option.BlockBytes = ios/10, ios/10*128<<10, new(int64(128<<10))
			g.disk.ReadSectors, g.disk.WriteIOs, g.disk.WriteSectors = ios/10*256, 4000, 4000*8 // an eighth of the bytes
			g.disk.ReadIOs, g.queue.MaxRequestBytes = ios/10, 128<<10
		}, 0, "", "", false},
		"so deep and long that the kernel's time wraps around": {func(g *group) { g.option.IODepth = new(5_000_000) }, 0, "", "", false},
		"nothing counted": {func(g *group) { g.disk = counters.Disk{} }, 0, "", "", false},
		"a ramp": {func(g *group) {
			g.option.RampTime = new(span)
			g.disk.ReadSectors, g.disk.ReadIOs, g.disk.WeightedTime = 2*g.disk.ReadSectors, 2*g.disk.ReadIOs, 62*span
		}, 31, "", "", false},
		"syncs": {func(g *group) { g.disk.WeightedTime, g.option.Fdatasync = 3*span, new(1) }, 3, record.DepthJob, "writes wait for syncs", false},
		"a pace": {func(g *group) {
			g.disk.WeightedTime, g.job.Read.Total.Mean = 3*span, 300*time.Microsecond
			g.option.Extra = append(g.option.Extra, fio.Option{Key: "rate_iops", Value: "10k"})
		}, 3, record.DepthJob, "the jobs pace their I/Os (rate_iops=10k)", false},
		"a pace at depth 1, beside others": {func(g *group) {
			g.disk.WriteSectors, g.option.IODepth, g.job.Read.Total.Mean = 10*g.disk.ReadSectors, new(1), 10*time.Microsecond
			g.option.Extra = append(g.option.Extra, fio.Option{Key: "thinktime", Value: "90us"})
		}, 0, record.DepthJob, "the jobs pace their I/Os (thinktime=90us)", false},
		"a pace that is too fast": {func(g *group) {
			g.job.Read.Total.Mean = 3100 * time.Microsecond
			g.option.Extra = append(g.option.Extra, fio.Option{Key: "rate_iops", Value: "1m"})
		}, 31, "", "", false},
		"no pace": {func(g *group) {
			g.disk.WeightedTime, g.job.Read.Total.Mean = 20*span, 300*time.Microsecond
			g.option.Extra = append(g.option.Extra, fio.Option{Key: "rate_iops", Value: "0,0"})
		}, 20, "", "", false},
		"a rate": {func(g *group) {
			g.disk.WeightedTime, g.job.Depths = 3*span, []fio.DepthLevel{{Least: 2, Share: 1}}
		}, 3, record.DepthJob, "the jobs themselves kept at most 3.0 in flight", false},
		"merged": {func(g *group) {
			g.disk.WeightedTime, g.disk.ReadIOs, g.disk.ReadMerges = 8*span, ios/4, ios*3/4
		}, 8, record.DepthMerged, "the kernel merged neighbouring I/Os, 4.0 to a request", true},
		"sequential blocks as large as a request": {func(g *group) { g.queue.MaxRequestBytes = 4096 }, 31, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := group{
				disk:   counters.Disk{ReadIOs: ios, ReadSectors: ios * 8, WeightedTime: 31 * span},
				job:    fio.JobResult{Runtime: span, Read: &fio.Direction{IOs: ios, Bytes: ios * 4096, IOPS: ios, Runtime: span}},
				option: func() fio.Options { o := reads("x"); o.IODepth, o.CPUsAllowed = new(32), "0"; return o }(),
			}
			c.change(&g)
			run := fiorun.Run{Job: job("a", g.option), Output: fio.Output{Jobs: []fio.JobResult{g.job}}, Duration: 2 * span}
			run.Seen.Groups = []fiorun.SeenGroup{{Disk: &g.disk, Queue: g.queue}}
			run.Seen.CPUWait = &g.waited
			step := run.Steps()[0]
			assert.InDelta(t, c.mean, step.Depth.Mean, 0.01)
			assert.Equal(t, c.limit, step.Depth.Limit)
			assert.Equal(t, c.evidence, step.Depth.Evidence)
			assert.Equal(t, c.warns, slices.Contains(codesOf(step), record.WarnDepth))
		})
	}
}

// Two devices at the same time each have a depth; that of groups one after the other on one device is
// unknown.
func TestDepthOfGroups(t *testing.T) {
	result := fio.JobResult{Runtime: time.Second, Read: &fio.Direction{IOs: 100, Bytes: 100 * 4096, Runtime: time.Second}}
	second := result
	second.Group = 1
	disk := counters.Disk{ReadIOs: 100, ReadSectors: 800, WeightedTime: 4 * time.Second}
	o := reads("x")
	o.IODepth = new(4)
	run := fiorun.Run{
		Job:    fio.Job{Sections: []fio.Section{{Name: "a", Options: o}, {Name: "b", Options: o}}},
		Output: fio.Output{Jobs: []fio.JobResult{result, second}}, Duration: time.Second,
		Seen: fiorun.Seen{Groups: []fiorun.SeenGroup{{Disk: &disk}, {Disk: &disk}}},
	}
	for _, s := range run.Steps() {
		assert.Equal(t, &record.Depth{Asked: 4, Mean: 4}, s.Depth)
	}
	run.Seen.Groups = run.Seen.Groups[:1]
	for _, s := range run.Steps() {
		assert.Equal(t, &record.Depth{Asked: 4}, s.Depth)
	}
}

// A step with too many interrupts has a warning.
func TestTooManyInterrupts(t *testing.T) {
	run := captured(t, "fio-3.33-randread-group.json")
	for _, c := range []struct {
		aSecond float64
		warns   bool
	}{{1_400_000, false}, {1_600_000, true}} {
		run.Seen.Interrupts = new(uint64(c.aSecond * run.Steps()[0].Duration.Seconds()))
		step := run.Steps()[0]
		assert.InEpsilon(t, c.aSecond, step.InterruptsPerSecond, 1e-5, "fio's start is no part of the time")
		assert.Equal(t, c.warns, slices.Contains(codesOf(step), record.WarnInterrupts))
	}
}
