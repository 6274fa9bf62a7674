package suite_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// Memory is bound to the node of each drive. On request, both placements are compared. Without several nodes, it is
// not bound.
func TestMemoryOfTheDrivesNode(t *testing.T) {
	near, far, only := serverDrive(), serverDrive(), serverDrive()
	far.Path, far.MemoryNode = "/dev/nvme1n1", new(0)
	only.MemoryNode = nil
	s := find(t, "scale")
	plan := func(target, other suite.Target, settings ...string) []suite.DryStep {
		steps, err := s.DryRun(set(t, s, append(settings, "loads=random-read", "counts=2")...), target, other)
		require.NoError(t, err)
		return steps
	}
	bound := plan(near, far)
	require.Len(t, bound, 1)
	assert.Equal(t, "random-read-2-devices", bound[0].Name)
	assert.Contains(t, bound[0].Plan, ", memory of each drive's NUMA node")
	first, second, _ := strings.Cut(bound[0].JobFile, "[random-read-2-devices-2]")
	assert.Contains(t, first, "numa_mem_policy=bind:1\n")
	assert.Contains(t, second, "numa_mem_policy=bind:0\n")

	compared := plan(near, far, "memory=any,bind")
	require.Len(t, compared, 2)
	assert.Equal(t, []string{"memory-any-random-read-2-devices", "memory-bind-random-read-2-devices"}, []string{compared[0].Name, compared[1].Name})
	assert.NotContains(t, compared[0].JobFile, "numa_mem_policy")
	assert.Contains(t, compared[1].JobFile, "numa_mem_policy=bind:1\n")

	partly := plan(near, only)
	require.Len(t, partly, 1)
	assert.Contains(t, partly[0].Plan, ", memory of each drive's NUMA node, memory for "+only.Path+" not bound: this machine has one NUMA node, or")

	nothing := plan(only, only)
	require.Len(t, nothing, 1)
	assert.NotContains(t, nothing[0].Plan+nothing[0].JobFile, "mem")
	once := plan(only, only, "memory=bind,any")
	require.Len(t, once, 1, "both would be the same")
	assert.Contains(t, once[0].Plan, ", memory not bound: this machine has one NUMA node, or does not say which is the drive's")
}

// The real fio binds memory, and the effect is analysed.
func TestMemoryReally(t *testing.T) {
	target := dataFile(t)
	target.MemoryNode = new(0)
	s := find(t, "saturate")
	measure := func() record.RunReport {
		r, err := suite.Execute(t.Context(), s, suite.Options{Fio: binary(t), Target: target, Values: set(t, s,
			"time=100ms", "ramp=0s", "random-jobs=1", "depth=4", "writes=no", "repeats=4", "memory=bind,any")})
		require.NoError(t, err)
		require.Len(t, r.Steps, 16)
		return r
	}
	r := measure()
	// An interval needs two repeats. On a busy machine one of 100 ms may end without a result, or disturbed.
	testenv.Eventually(t, "two calm repeats with each memory", func() bool {
		if r.Analysis.Effects[0].IOPS.Lower != nil {
			return true
		}
		r = measure()
		return false
	})
	assert.Contains(t, r.Steps[0].JobFile, "numa_mem_policy=bind:0\n")
	assert.NotContains(t, r.Steps[2].JobFile, "numa_mem_policy")
	require.Len(t, r.Analysis.Effects, 2)
	e := r.Analysis.Effects[0]
	assert.Equal(t, []any{"memory", "bind", "any"}, []any{e.Setting, e.From, e.To})
	assert.NotNil(t, e.IOPS.Lower)
}

// If memory cannot be bound, the load runs without, and its plan says why; if the user asked for it, that is an
// error.
func TestMemoryThatCannotBeBound(t *testing.T) {
	target := dataFile(t)
	target.MemoryNode = new(900)
	s := find(t, "saturate")
	short := []string{"time=100ms", "ramp=0s", "random-jobs=1", "depth=4", "writes=no"}
	r, err := suite.Execute(t.Context(), s, suite.Options{Fio: binary(t), Target: target, Values: set(t, s, short...)})
	require.NoError(t, err)
	require.Len(t, r.Steps, 2)
	assert.Contains(t, r.Steps[0].Plan, "memory not bound: fio cannot bind its memory here (NUMA node 900): ")
	assert.NotContains(t, r.Steps[0].JobFile, "numa_mem_policy")
	_, err = suite.Execute(t.Context(), s, suite.Options{Fio: binary(t), Target: target, Values: set(t, s, append(short, "memory=bind,any")...)})
	require.ErrorIs(t, err, fiorun.ErrMemoryNode)
	require.ErrorContains(t, err, "run saturate: memory: ")
}
