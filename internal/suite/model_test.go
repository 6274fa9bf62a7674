package suite_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/suite"
)

// kernelTool returns the options with which tools/cgroup/iocost_coef_gen.py of Linux 6.12 runs fio by default, in
// order: --seqio-block-mb=128 --seq-depth=64 --rand-depth=64 --numjobs=1 --duration=120.
func kernelTool() []struct{ step, options string } {
	common := "--name=coef --direct=1 --ioengine=libaio --time_based --runtime=120 "
	return []struct{ step, options string }{
		{"rbps", common + "--rw=read --iodepth=1 --bs=134217728"},
		{"rseqiops", common + "--rw=read --iodepth=64 --bs=4096"},
		{"rrandiops", common + "--rw=randread --iodepth=64 --bs=4096"},
		{"wbps", common + "--rw=write --iodepth=1 --bs=134217728"},
		{"wseqiops", common + "--rw=write --iodepth=64 --bs=4096"},
		{"wrandiops", common + "--rw=randwrite --iodepth=64 --bs=4096"},
	}
}

// The suite runs what the kernel's own tool runs.
func TestModelIsTheMethodOfTheKernel(t *testing.T) {
	target := serverDrive()
	target.Destroy = true
	s := find(t, "model")
	steps, err := s.DryRun(set(t, s, "repeats=1"), target)
	require.NoError(t, err)
	commands := kernelTool()
	require.Len(t, steps, len(commands))
	for i, step := range steps {
		assert.Equal(t, commands[i].step, step.Name)
		assert.Empty(t, differences(jobOptions(t, jobFile(t, strings.Fields(commands[i].options))), jobOptions(t, step.JobFile)), step.Name)
		assert.Equal(t, 2*time.Minute, step.Expected)
	}
	repeated, err := s.DryRun(suite.Values{}, target)
	require.NoError(t, err)
	require.Len(t, repeated, 3*len(commands))
	assert.Equal(t, []string{"rbps-repeat1", "rbps-repeat2"}, []string{repeated[0].Name, repeated[6].Name}, "all come once before any comes again")
}

// Without --destroy, a raw device is only read.
func TestModelWritesWhereItMay(t *testing.T) {
	s := find(t, "model")
	names := func(t *testing.T, target suite.Target, settings ...string) []string {
		t.Helper()
		steps, err := s.DryRun(set(t, s, append(settings, "repeats=1")...), target)
		require.NoError(t, err)
		var all []string
		for _, step := range steps {
			all = append(all, step.Name)
		}
		return all
	}
	reads, all := []string{"rbps", "rseqiops", "rrandiops"}, []string{"rbps", "rseqiops", "rrandiops", "wbps", "wseqiops", "wrandiops"}
	device, file := serverDrive(), suite.Target{Path: "/srv/data", SizeBytes: 1 << 30}
	assert.Equal(t, reads, names(t, device))
	assert.Equal(t, all, names(t, file))
	assert.Equal(t, reads, names(t, file, "writes=no"))
	assert.Equal(t, all, names(t, device, "writes=yes"))
	device.Destroy = true
	assert.Equal(t, all, names(t, device))
	assert.Equal(t, reads, names(t, device, "writes=no"))
	_, err := s.Plan(suite.Values{}, device)
	require.ErrorContains(t, err, "its serial number was not given to permit that", "to ask is no permission")
}

func TestModelOnWhatQueuesNothing(t *testing.T) {
	volume := suite.Target{Path: "/dev/dm-0", Raw: true, SizeBytes: 1 << 40, Device: record.Device{Name: "dm-0"}, Queue: device.Queue{Known: true}}
	_, err := find(t, "model").Plan(suite.Values{}, volume)
	require.EqualError(t, err, "plan model: io.cost does not work on this device: dm-0 hands I/Os on to other devices and queues none itself; name a drive that it is made of")
}

// The report lists the differences from the method of the kernel's tool.
func TestModelSaysWhatDiffers(t *testing.T) {
	target := dataFile(t)
	target.Device.Name, target.Device.Number = "sda", "8:0"
	target.Conditions.Scheduler, target.Conditions.Stack = "bfq", "crypt on wwn-1"
	target.Queue = device.Queue{Known: true, Requests: true, CostControlled: true}
	s := find(t, "model")
	r, err := suite.Execute(t.Context(), s, suite.Options{
		Fio: binary(t), Target: target, Values: set(t, s, "time=100ms", "repeats=1", "writes=no", "sequential-block=1MiB"),
	})
	require.NoError(t, err)
	var texts []string
	for _, w := range r.Warnings {
		assert.Equal(t, record.WarnMethod, w.Code)
		texts = append(texts, w.Text)
	}
	require.Len(t, texts, 3)
	assert.Contains(t, texts[0], "The I/O scheduler of sda is bfq; ")
	assert.Contains(t, texts[1], `write "8:0 enable=0" to /sys/fs/cgroup/io.cost.qos`)
	assert.Contains(t, texts[2], "The file has 16 MiB; ")
	require.NotNil(t, r.Analysis.CostModel)
	assert.Len(t, r.Analysis.CostModel.Coefficients, 3)
	withheld := strings.Join(r.Analysis.CostModel.Withheld, "\n")
	assert.Contains(t, withheld, "the three for writes")
	assert.Contains(t, withheld, "measured through crypt on wwn-1")
	assert.Empty(t, r.Analysis.CostModel.ModelLine)
}

// modelled checks that the coefficients of a run are fio's own figures.
func modelled(t *testing.T, r record.RunReport) {
	t.Helper()
	m := r.Analysis.CostModel
	require.NotNil(t, m)
	rates := map[string]string{}
	for _, step := range r.Steps {
		result := step.Read
		if result == nil {
			result = step.Write
		}
		rate := result.IOPS
		if step.Workload.BlockBytes > 4096 {
			rate = result.BytesPerSecond
		}
		rates[step.Name] = strconv.FormatFloat(rate, 'f', 0, 64)
	}
	assert.ElementsMatch(t, []string{"rbps", "rseqiops", "rrandiops", "wbps", "wseqiops", "wrandiops"}, slices.Collect(maps.Keys(rates)))
	for _, c := range m.Coefficients {
		if c.Repeats == 1 { // on a busy machine, disturbed repeats are left out
			assert.Equal(t, rates[c.Name], fmt.Sprintf("%.0f", c.Of.Mean.Value), c.Name)
		}
	}
	assert.Len(t, m.Coefficients, 6)
	assert.Equal(t, len(m.Withheld) == 0, m.ModelLine != "")
}
