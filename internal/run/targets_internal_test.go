package run

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/device/devicetest"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/suite"
)

func anyCPU(int) bool { return true }

// server returns the drives of a server with two sockets, each with sixteen cores and twelve drives, as
// targets in the order in which the shell lists their names.
func server(t *testing.T, may func(int) bool) []suite.Target {
	t.Helper()
	fs := devicetest.Server{Sockets: 2, Cores: 16, Threads: 2, Drives: 12}.Make(t)
	devices, err := device.Scan(fs)
	require.NoError(t, err)
	require.Len(t, devices, 24)
	slices.SortFunc(devices, func(a, b record.Device) int { return strings.Compare(a.Name, b.Name) })
	var targets []suite.Target
	for _, d := range devices {
		subject, err := measure.OfDevice(device.NewScanner(fs), "/dev/"+d.Name, d)
		if err != nil {
			require.ErrorContains(t, err, "read conditions", "the fixture has no governor")
		}
		target, err := targetOn(fs, subject, may)
		require.NoError(t, err)
		targets = append(targets, target)
	}
	return targets
}

func paths(targets []suite.Target) []string {
	all := make([]string, len(targets))
	for i, t := range targets {
		all[i] = t.Path
	}
	return all
}

func TestTargetsByRoot(t *testing.T) {
	ordered := ByRoot(server(t, anyCPU))
	var want []string
	for i := range 24 {
		want = append(want, fmt.Sprintf("/dev/nvme%dn1", i))
	}
	assert.Equal(t, want, paths(ordered))
	for i, target := range ordered {
		first := 16 * (i / 12)
		assert.Equal(t, fmt.Sprintf("pci%04x:00", i/12), target.Group)
		assert.Equal(t, []any{32, 16}, []any{len(target.CPUs.CPUs), target.CPUs.Cores})
		assert.Equal(t, []int{first, first + 1, 32 + first}, []int{target.CPUs.CPUs[0], target.CPUs.CPUs[1], target.CPUs.CPUs[16]})
	}
	assert.Equal(t, []int{1, 33}, ordered[0].Core, "not CPU 0, where interrupts gather")
	assert.Equal(t, []int{16, 48}, ordered[12].Core)
}

// A container that may only use some CPUs gets jobs on those alone.
func TestTargetsOfARestrictedProcess(t *testing.T) {
	may := func(cpu int) bool { return cpu >= 2 && cpu <= 5 || cpu == 34 }
	ordered := ByRoot(server(t, may))
	assert.Equal(t, device.CPUSet{CPUs: []int{2, 3, 4, 5, 34}, Cores: 4}, ordered[0].CPUs)
	assert.Equal(t, []int{2, 34}, ordered[0].Core)
	assert.Equal(t, device.CPUSet{}, ordered[12].CPUs, "none of that node: jobs are free")
	assert.Nil(t, ordered[12].Core)
}

// options returns the values that a job file sets for an option.
func options(text, key string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), key+"="); ok {
			all = append(all, value)
		}
	}
	return all
}

// With 24 drives, every job has a physical core of the drive's node, and all cores differ as long as there
// are enough.
func TestScaleOnAServer(t *testing.T) {
	ordered := ByRoot(server(t, anyCPU))
	s, err := suite.Find("scale")
	require.NoError(t, err)
	v, err := s.Set([]string{"loads=random-read", "random-jobs=1"})
	require.NoError(t, err)
	steps, err := s.DryRun(v, ordered...)
	require.NoError(t, err)
	require.Len(t, steps, 47, "each device alone, and 2 to 24 together")
	last := steps[46]
	assert.Equal(t, "random-read-24-devices", last.Name)
	assert.Equal(t, paths(ordered), options(last.JobFile, "filename"))
	var want []string
	for i := range 24 {
		want = append(want, fmt.Sprint(16*(i/12)+i%12))
	}
	assert.Equal(t, want, options(last.JobFile, "cpus_allowed"))
	assert.Equal(t, paths(ordered)[:3], options(steps[25].JobFile, "filename"), "one group first")

	// Four jobs on each of twelve drives exceed the node's 32 threads.
	steps, err = s.DryRun(suite.Values{}, ordered...)
	require.NoError(t, err)
	require.Len(t, steps, 94)
	sets := options(steps[46].JobFile, "cpus_allowed")
	assert.Equal(t, []string{"0-3", "4-7", "8-11", "12-15", "32-35", "36-39", "40-43", "44-47", "0-3", "4-7", "8-11", "12-15"}, sets[:12])
	assert.Equal(t, "16-19", sets[12], "the other node's own")
}

func TestSaturateOnAServer(t *testing.T) {
	ordered := ByRoot(server(t, anyCPU))
	s, err := suite.Find("saturate")
	require.NoError(t, err)
	steps, err := s.DryRun(suite.Values{}, ordered[20])
	require.NoError(t, err)
	var cpus []string
	for _, step := range steps {
		cpus = append(cpus, options(step.JobFile, "cpus_allowed")...)
	}
	assert.Equal(t, []string{"16-31", "16-19", "16-23", "16-31", "16-31", "16-19", "16-23", "16-31", "16-31", "16-31"}, cpus,
		"physical cores of the second node")
	_, err = s.DryRun(suite.Values{}, ordered...)
	require.EqualError(t, err, "24 targets: it takes one")
}

// All CPUs of the machine are used in this order: cores near the drive, cores far from it, then the
// siblings.
func TestCPUsOnAServer(t *testing.T) {
	s, err := suite.Find("cpus")
	require.NoError(t, err)
	plan := func(may func(int) bool, drive int) []string {
		steps, err := s.DryRun(suite.Values{}, ByRoot(server(t, may))[drive])
		require.NoError(t, err)
		var plans []string
		for _, step := range steps[:len(steps)/3] { // of the first repeat
			plans = append(plans, strings.TrimPrefix(step.Plan, "4 KiB random read, depth 32, "))
		}
		return plans
	}
	assert.Equal(t, []string{
		"64 jobs, on 1 core of NUMA node 1 (CPU 16)",
		"64 jobs, on 2 cores of NUMA node 1 (CPU 16-17)",
		"64 jobs, on 4 cores of NUMA node 1 (CPU 16-19)",
		"64 jobs, on 8 cores of NUMA node 1 (CPU 16-23)",
		"64 jobs, on 16 cores of NUMA node 1 (CPU 16-31)",
		"64 jobs, on 32 cores of NUMA nodes 1 and 0 (CPU 0-31)",
		"64 jobs, on 32 cores and 32 SMT siblings of NUMA nodes 1 and 0 (CPU 0-63)",
	}, plan(anyCPU, 12))
	assert.Equal(t, []string{
		"5 jobs, on 1 core of NUMA node 0 (CPU 2)",
		"5 jobs, on 2 cores of NUMA node 0 (CPU 2-3)",
		"5 jobs, on 4 cores of NUMA node 0 (CPU 2-5)",
		"5 jobs, on 4 cores and 1 SMT sibling of NUMA node 0 (CPU 2-5,34)",
	}, plan(func(cpu int) bool { return cpu >= 2 && cpu <= 5 || cpu == 34 }, 12), "a container that may use some CPUs, all far from the drive")
}

// fio gives each thread one CPU. A step of eight CPUs with two threads would measure two.
func TestEachCPUHasAThread(t *testing.T) {
	s, err := suite.Find("cpus")
	require.NoError(t, err)
	drive := ByRoot(server(t, anyCPU))[12]
	for _, c := range []struct {
		set     []string
		refused string // nothing if empty
	}{
		{[]string{"jobs=32"}, "jobs: 32 cannot use 64 CPUs; want 64 or more, or counts up to 32"},
		{[]string{"jobs=3", "counts=4,1"}, "jobs: 3 cannot use 4 CPUs; want 4 or more, or counts up to 3"},
		{[]string{"jobs=64"}, ""},
		{[]string{"jobs=4", "counts=4,2"}, ""},
	} {
		values, err := s.Set(c.set)
		require.NoError(t, err)
		if _, err = s.DryRun(values, drive); c.refused != "" {
			require.EqualError(t, err, c.refused)
		} else {
			require.NoError(t, err)
		}
	}
}

// The memory of the load on each drive is on the drive's node.
func TestMemoryOnAServer(t *testing.T) {
	s, err := suite.Find("scale")
	require.NoError(t, err)
	values, err := s.Set([]string{"counts=24", "loads=random-read"})
	require.NoError(t, err)
	steps, err := s.DryRun(values, ByRoot(server(t, anyCPU))...)
	require.NoError(t, err)
	assert.Equal(t, []int{12, 12}, []int{strings.Count(steps[0].JobFile, "numa_mem_policy=bind:0\n"), strings.Count(steps[0].JobFile, "numa_mem_policy=bind:1\n")})
}

// A warning of a run names its target unless all targets have it.
func TestWarningsOfSeveralTargets(t *testing.T) {
	governor, identity, others := record.Warning{Code: "governor", Text: "saves power"}, record.Warning{Code: "identity", Text: "no serial"}, record.Warning{Code: "busy", Text: "busy"}
	targets := []suite.Target{{Path: "/dev/a"}, {Path: "/dev/b"}, {Path: "/dev/c"}}
	assert.Equal(t, []record.Warning{
		governor, {Code: "identity", Text: "/dev/a: no serial"}, {Code: "identity", Text: "/dev/b: no serial"}, {Code: "busy", Text: "/dev/c: busy"},
	}, joined(targets, [][]record.Warning{{governor, identity}, {identity, governor}, {governor, others}}))
	assert.Equal(t, []record.Warning{identity, governor}, joined(targets[:1], [][]record.Warning{{identity, governor}}))
}
