package analysis_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// on returns a load of eight jobs on some CPUs, of which it uses a share.
func on(cpus int, iops, share float64) record.Step {
	s := randomRead(32, iops)
	s.Workload.Jobs, s.Workload.CPUCores, s.Workload.CPUNodes = 8, min(cpus, 4), []int{0}
	for cpu := range cpus {
		s.Workload.CPUs = append(s.Workload.CPUs, cpu)
	}
	s.SystemCPU = share * float64(cpus)
	return s
}

func TestCPUScalings(t *testing.T) {
	m := analysis.Machine{CPUs: 8, LinkBytesPerSecond: 3.9e9, LinkText: "8 GT/s x4"}
	waited := on(8, 700_000, 0.5)
	waited.Warnings = []record.Warning{{Code: record.WarnDisturbed}}
	for name, c := range map[string]struct {
		steps  []step
		enough int
		limit  record.Limit
	}{
		"the drive":                   {[]step{on(1, 200_000, 0.99), on(2, 400_000, 0.98), on(4, 700_000, 0.7), on(8, 700_000, 0.4)}, 4, record.LimitDevice},
		"the link":                    {[]step{on(1, 200_000, 0.99), on(2, 400_000, 0.98), on(8, 900_000, 0.6)}, 8, record.LimitLink},
		"never enough":                {[]step{on(1, 200_000, 0.99), on(8, 800_000, 0.95)}, 0, ""},
		"always enough":               {[]step{on(1, 90_000, 0.5), on(8, 90_000, 0.1)}, 1, record.LimitDevice},
		"in the middle of it":         {[]step{on(1, 200_000, 0.99), on(2, 300_000, 0.8), on(4, 400_000, 0.95), on(8, 500_000, 0.5)}, 8, record.LimitDevice},
		"one repeat is CPU":           {[]step{on(1, 200_000, 0.99), on(2, 300_000, 0.8), on(1, 200_000, 0.99), on(2, 300_000, 0.95)}, 0, ""},
		"others take the CPUs":        {[]step{on(1, 200_000, 0.99), waited}, 0, ""},
		"idle, but faster with more":  {[]step{on(1, 300_000, 0.85), on(2, 590_000, 0.84), on(4, 600_000, 0.5)}, 2, record.LimitDevice},
		"faster up to the last":       {[]step{on(1, 300_000, 0.85), on(2, 590_000, 0.84)}, 0, ""},
		"faster, but not for certain": {[]step{on(1, 500_000, 0.5), on(1, 700_000, 0.5), on(2, 500_000, 0.4), on(2, 900_000, 0.4)}, 1, record.LimitDevice},
		"calm, then disturbed":        {[]step{on(1, 200_000, 0.99), on(8, 700_000, 0.4), waited, waited}, 8, record.LimitDevice},
		"disturbed, then calm":        {[]step{on(1, 200_000, 0.99), waited, on(8, 700_000, 0.4)}, 8, record.LimitDevice},
		"in any order of steps":       {[]step{on(8, 700_000, 0.4), on(1, 200_000, 0.99)}, 8, record.LimitDevice},
	} {
		got := analysis.CPUScalings(c.steps, m)
		require.Len(t, got, 1, name)
		assert.Equal(t, []any{"4 KiB random read, depth 32, 8 jobs", "IOPS", c.enough, c.limit}, []any{got[0].Load, got[0].Unit, got[0].EnoughAt, got[0].Limit}, name)
	}
	got := analysis.CPUScalings([]step{on(8, 700_000, 0.5), on(8, 500_000, 0.25)}, m)[0].Points
	require.Len(t, got, 1)
	assert.Equal(t, []any{8, 4, []int{0}, 600_000.0, 3.0, record.LimitDevice}, []any{got[0].CPUs, got[0].Cores, got[0].Nodes, got[0].Rate, got[0].Used, got[0].Limit})
	slowed := waited
	slowed.Read = on(8, 100_000, 0.5).Read
	got = analysis.CPUScalings([]step{slowed, on(8, 700_000, 0.5)}, m)[0].Points
	assert.InDelta(t, 700_000, got[0].Rate, 1e-6, "what others disturbed is no part of the mean")
	assert.Empty(t, analysis.CPUScalings([]step{randomRead(1, 100)}, m), "of other suites")
}

// Whatever spoils a repeat keeps it out of the mean, and a number of CPUs without other repeats decides nothing.
func TestCPUScalingsOfSpoiledSteps(t *testing.T) {
	for _, code := range []string{record.WarnDisturbed, record.WarnOthersActive, record.WarnIOLimited, record.WarnErrors} {
		slowed := on(8, 100_000, 0.1)
		slowed.Warnings = []record.Warning{{Code: code}}
		one := analysis.CPUScalings([]step{on(1, 200_000, 0.99), slowed, on(8, 700_000, 0.4)}, analysis.Machine{CPUs: 8})[0]
		assert.InDelta(t, 700_000, one.Points[1].Rate, 1e-6, code)
		assert.Equal(t, []any{8, []string(nil)}, []any{one.EnoughAt, one.Points[1].Codes}, code)

		all := analysis.CPUScalings([]step{on(1, 200_000, 0.99), slowed, slowed}, analysis.Machine{CPUs: 8})[0]
		assert.InDelta(t, 100_000, all.Points[1].Rate, 1e-6, code)
		assert.Equal(t, []any{0, []string{code}}, []any{all.EnoughAt, all.Points[1].Codes}, code)

		slowed.Workload.CPUs = slowed.Workload.CPUs[:1]
		first := analysis.CPUScalings([]step{slowed, on(8, 700_000, 0.4)}, analysis.Machine{CPUs: 8})[0]
		assert.NotEqual(t, record.LimitCPU, first.Points[0].Limit, "something else than the CPUs may have made it slower")
	}
}
