package suite

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// The figures of a load beside others are its own, and so are the values that explain them:
// the CPU time and depth of the others would make it look limited by the one CPU of its
// job.
func TestMeasuredBesideOthers(t *testing.T) {
	var groups []record.Step
	var targets []Target
	for i, path := range []string{"/dev/a", "/dev/b", "/dev/c"} {
		groups = append(groups, record.Step{
			Duration: time.Duration(i+1) * time.Second, UserCPU: 0.1, SystemCPU: 0.25,
			Read: &record.Result{IOs: 10, IOPS: 10, BytesPerSecond: 1e6}, Depth: &record.Depth{Asked: 8, Mean: 7.9},
		})
		targets = append(targets, Target{Path: path})
	}
	steps, err := Step{Name: "a", Targets: targets, beside: true}.measured(groups)
	require.NoError(t, err)
	require.Len(t, steps, 1)
	s := steps[0]
	assert.Equal(t, []any{time.Second, 0.1, 0.25, 10.0}, []any{s.Duration, s.UserCPU, s.SystemCPU, s.Read.IOPS})
	assert.Equal(t, &record.Depth{Asked: 8, Mean: 7.9}, s.Depth)
	assert.Len(t, s.Parts, 3, "the others are told by part")
	assert.InDelta(t, 7.9, s.Parts[2].Depth.Mean, 1e-9)

	steps, err = Step{Name: "a", Targets: targets, parts: true}.measured(groups)
	require.NoError(t, err)
	assert.InDelta(t, 0.75, steps[0].SystemCPU, 1e-9, "of a load on all of them it is the sum")
	assert.Equal(t, 24, steps[0].Depth.Asked)
}
