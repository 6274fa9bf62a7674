package analysis_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestSteadyAfterTheCliff(t *testing.T) {
	got := analysis.Steadiness(slices.Concat([]step{{Write: &record.Result{Bytes: 1 << 40}}},
		rounds(200e3, 198e3, 190e3, 90e3, 62e3, 50e3, 51e3, 49e3, 50e3, 50e3, 52e3)), analysis.PTS())
	require.NotNil(t, got)
	var phases []string
	for _, r := range got.Path {
		phases = append(phases, r.Phase)
	}
	// Rounds 6 to 10 meet the rule; rounds 5 to 9 contain 62e3 at a mean of 52.4e3, a
	// range of 25 %.
	assert.Equal(t, []string{"fresh", "fresh", "fresh", "transition", "transition", "steady", "steady", "steady", "steady", "steady", "steady"}, phases)
	assert.Equal(t, int64(1<<40+4096*200_000), got.Path[0].WrittenBytes)
	assert.Equal(t, time.Duration(32.0/200e3*1e9), got.Path[0].Mean)
	assert.InEpsilon(t, 4, got.Fresh, 1e-9)
	got.Path, got.Fresh = nil, 0
	assert.InDelta(t, 0.008, got.SlopeRatio, 1e-9, "the line falls by 400 over four steps")
	got.SlopeRatio = 0
	assert.Equal(t, &record.Steady{
		Reached: true, Round: 10, Window: 5, Mean: 50e3, Unit: "IOPS", RangeRatio: 0.04, MaxRange: 0.2, MaxSlope: 0.1,
	}, got)
}

// A window with disturbed rounds says so. Rounds before it do not matter.
func TestSteadyWindowOfDisturbedRounds(t *testing.T) {
	steps := rounds(200, 100, 100, 100, 100, 100)
	steps[0] = disturbed(steps[0])
	assert.Empty(t, analysis.Steadiness(steps, analysis.PTS()).Codes)
	steps[3] = disturbed(steps[3])
	got := analysis.Steadiness(steps, analysis.PTS())
	assert.Equal(t, []any{true, []string{"disturbed"}}, []any{got.Reached, got.Codes})
	got = analysis.Steadiness(steps[:4], analysis.PTS())
	assert.Equal(t, []any{false, []string{"disturbed"}}, []any{got.Reached, got.Codes})
}

func TestSteadyBounds(t *testing.T) {
	for name, c := range map[string]struct {
		rounds []float64
		want   int
	}{
		"at once":                    {[]float64{100, 100, 100, 100, 100}, 5},
		"four rounds are too few":    {[]float64{100, 100, 100, 100}, 0},
		"a range of 20 %":            {[]float64{90, 110, 100, 110, 90}, 5},
		"a range above 20 %":         {[]float64{89, 110, 101, 110, 90}, 0},
		"a slope of 10 %":            {[]float64{95, 97.5, 100, 102.5, 105}, 5},
		"a slope above 10 %":         {[]float64{94, 97, 100, 103, 106}, 0},
		"a slope that ends":          {[]float64{50, 70, 94, 97, 100, 103, 106, 106}, 8},
		"no second thoughts later":   {[]float64{100, 100, 100, 100, 100, 10}, 5},
		"a cut round does not count": {[]float64{100, 100, 100, 100}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			steps := rounds(c.rounds...)
			if name == "a cut round does not count" {
				steps = append(steps, short(rounds(1, 1, 1, 1, 100)[4]))
			}
			got := analysis.Steadiness(steps, analysis.PTS())
			assert.Equal(t, c.want, got.Round)
			assert.Equal(t, c.want > 0, got.Reached)
		})
	}
	assert.Nil(t, analysis.Steadiness([]record.Step{randomRead(1, 100)}, analysis.PTS()))
}
