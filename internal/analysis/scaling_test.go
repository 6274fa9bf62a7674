package analysis_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Two PCIe roots with four drives each; the second root carries the load of 2.5 drives.
func TestScalingBreaksInTheGroupThatIsFull(t *testing.T) {
	groups := []string{"pci0000:00", "pci0000:00", "pci0000:00", "pci0000:00", "pci0000:40", "pci0000:40", "pci0000:40", "pci0000:40"}
	rates := [][]float64{
		{100}, {100, 100}, {100, 100, 100}, {100, 100, 100, 100}, {100, 100, 100, 100, 100}, {100, 100, 100, 100, 100, 100},
		{100, 100, 100, 100, 83, 83, 84}, {100, 100, 100, 100, 62, 62, 63, 63},
	}
	steps := slices.Collect(func(yield func(s step) bool) {
		for _, r := range rates {
			if !yield(together(groups, r...)) {
				return
			}
		}
	})
	got := analysis.Scalings(steps)
	require.Len(t, got, 1)
	s := got[0]
	assert.Equal(t, []any{"4 KiB random read, depth 32", "IOPS", 100.0, 8, "pci0000:40", 0.9}, []any{s.Load, s.Unit, s.Alone, s.BreaksAt, s.Group, s.Limit})
	assert.InDelta(t, 0.625, s.GroupRatio, 1e-9)
	require.Len(t, s.Points, 8)
	assert.InDelta(t, 650.0/700, s.Points[6].Linearity, 1e-9)
	assert.InDelta(t, 650.0/800, s.Points[7].Linearity, 1e-9)
	assert.Equal(t, []any{"/dev/nvme6n1", "pci0000:40", 83.0, 100.0}, []any{s.Points[6].Added, s.Points[6].Group, s.Points[6].Slowest, s.Points[6].Fastest})
}

// Repeats count as their mean, in the order in which devices were added.
func TestScalingOfRepeats(t *testing.T) {
	groups := []string{"a", "a"}
	got := analysis.Scalings([]step{together(groups, 99), together(groups, 69, 81), together(groups, 101), together(groups, 71, 79)})
	require.Len(t, got, 1)
	assert.Equal(t, []any{100.0, 2, 0.75}, []any{got[0].Alone, got[0].BreaksAt, got[0].GroupRatio})
	require.Len(t, got[0].Points, 2)
	p := got[0].Points[1]
	require.NotNil(t, p.Upper)
	assert.InDelta(t, 0.75, (*p.Lower+*p.Upper)/2, 0.01)
	p.Lower, p.Upper = nil, nil
	assert.Equal(t, record.ScalePoint{
		Devices: 2, Added: "/dev/nvme1n1", Group: "a", Total: 150, Ideal: 200, Slowest: 70, Fastest: 80, Linearity: 0.75,
	}, p)
}

// A drive that is slower by itself, such as an older model, is not slowed down by the others.
func TestScalingOfDrivesThatDiffer(t *testing.T) {
	alone := func(target string, iops float64) step {
		s := together([]string{"a"}, iops)
		s.Name, s.Parts[0].Target = "alone-"+target, target
		return s
	}
	groups := []string{"a", "b", "b"}
	differ := []step{together(groups, 100), alone("/dev/nvme1n1", 40), alone("/dev/nvme2n1", 200)}
	got := analysis.Scalings(append(differ, together(groups, 100, 40), together(groups, 100, 40, 200)))[0]
	assert.Zero(t, got.BreaksAt)
	require.Len(t, got.Points, 3)
	assert.Equal(t, []any{100.0, "/dev/nvme0n1", 140.0, 1.0, 340.0, 1.0},
		[]any{got.Alone, got.Points[0].Added, got.Points[1].Ideal, got.Points[1].Linearity, got.Points[2].Ideal, got.Points[2].Linearity})

	got = analysis.Scalings(append(differ, together(groups, 100, 40), together(groups, 100, 20, 100)))[0]
	assert.Equal(t, []any{3, "b", 0.5}, []any{got.BreaksAt, got.Group, got.GroupRatio}, "a fast drive does not hide it")

	got = analysis.Scalings([]step{together(groups, 100), disturbed(alone("/dev/nvme1n1", 40)), together(groups, 100, 40)})[0]
	assert.Equal(t, []string{"disturbed"}, got.Points[1].Codes, "the ideal is of that step, too")

	assert.Empty(t, analysis.Scalings(append(differ[1:], together(groups, 100, 40))), "nothing is known of the first one alone")

	repeated := slices.Concat(differ, differ, []step{together(groups, 100, 40), together(groups, 99, 41)})
	got = analysis.Scalings(repeated)[0]
	require.NotNil(t, got.Points[1].Lower)
	assert.InDelta(t, 1, *got.Points[1].Lower, 0.01)
}

// Repeats that lie far apart show neither that devices slow each other down nor that they do not.
func TestScalingOfRepeatsThatDiffer(t *testing.T) {
	groups := []string{"a", "a"}
	got := analysis.Scalings([]step{together(groups, 90), together(groups, 70, 80), together(groups, 110), together(groups, 90, 100)})
	require.Len(t, got, 1)
	assert.Zero(t, got[0].BreaksAt)
	assert.True(t, got[0].Points[1].Unclear(got[0].Limit))
}

// Disturbed steps show neither that devices slow each other down nor that they do not.
func TestDisturbedStepsDecideNoScaling(t *testing.T) {
	groups := []string{"a", "a", "a"}
	got := analysis.Scalings([]step{together(groups, 100), disturbed(together(groups, 50, 50)), together(groups, 70, 70, 70)})[0]
	assert.Equal(t, 3, got.BreaksAt)
	assert.Equal(t, []string{"disturbed"}, got.Points[1].Codes)

	got = analysis.Scalings([]step{disturbed(together(groups, 50)), together(groups, 100, 100)})[0]
	assert.Equal(t, []string{"disturbed"}, got.Points[1].Codes, "the ideal is of that step")

	calm := analysis.Scalings([]step{together(groups, 100), disturbed(together(groups, 50, 50)), together(groups, 100, 100)})[0]
	assert.Zero(t, calm.BreaksAt)
	assert.Empty(t, calm.Points[1].Codes, "another repeat was calm")
}

func TestScalingThatHolds(t *testing.T) {
	groups := []string{"a", "a", "b"}
	got := analysis.Scalings([]step{together(groups, 100), together(groups, 100, 98), together(groups, 99, 97, 102)})
	assert.Zero(t, got[0].BreaksAt)
	assert.Empty(t, got[0].Group)
	assert.Empty(t, analysis.Scalings([]step{together(groups, 100, 98)}), "nothing is known of one alone")
	assert.Empty(t, analysis.Scalings([]step{randomRead(1, 100)}))
}
