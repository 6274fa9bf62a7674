package analysis_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// sweep returns the steps of a drive with a given speed at each depth.
func sweep(iops func(depth int) float64, depths ...int) []record.Step {
	steps := make([]record.Step, len(depths))
	for i, d := range depths {
		steps[i] = randomRead(d, iops(d))
	}
	return steps
}

func powers(most int) []int {
	var all []int
	for d := 1; d <= most; d *= 2 {
		all = append(all, d)
	}
	return all
}

func upTo(most int) []int {
	all := make([]int, most)
	for i := range all {
		all[i] = i + 1
	}
	return all
}

// wall is a drive that serves 10 000 IOPS for each I/O in flight, up to a maximum depth.
func wall(depth int) func(int) float64 {
	return func(d int) float64 { return 10_000 * math.Min(float64(d), float64(depth)) }
}

func TestKneeIsWhereTheWallIs(t *testing.T) {
	for _, at := range []int{4, 32, 128} {
		got := analysis.Knees(sweep(wall(at), powers(1024)...))
		require.Len(t, got, 1)
		assert.Equal(t, record.Knee{
			Load: "4 KiB random read", Depth: at, IOPS: 10_000 * float64(at), Mean: 100 * time.Microsecond, P99: 100 * time.Microsecond,
			Deepest: 1024, IOPSGain: 1, LatencyGrowth: got[0].LatencyGrowth,
		}, got[0])
		assert.InEpsilon(t, 1024/float64(at), got[0].LatencyGrowth, 0.001)
	}
}

// From a depth of k/√2 on, doubling the depth raises the throughput X·d/(d+k) by less than a
// factor of √2.
func TestKneeOfASoftCurve(t *testing.T) {
	const k = 20
	soft := func(d int) float64 { return 500_000 * float64(d) / (float64(d) + k) }
	assert.Equal(t, 15, analysis.Knees(sweep(soft, upTo(64)...))[0].Depth, "the first depth above 14.1")
	assert.Equal(t, 16, analysis.Knees(sweep(soft, powers(256)...))[0].Depth)
}

// A laptop disk from a published test: 54 IOPS at depth 1, 103 at 31.
func TestKneeOfADisk(t *testing.T) {
	disk := func(d int) float64 { return 54 + 49*math.Log(float64(d))/math.Log(31) }
	got := analysis.Knees(sweep(disk, upTo(31)...))[0]
	assert.Equal(t, 1, got.Depth, "doubling the depth never pays")
	assert.InEpsilon(t, 103.0/54, got.IOPSGain, 0.01)
	assert.InEpsilon(t, 16.25, got.LatencyGrowth, 0.01)
}

// A job with gtod_reduce or disable_lat measures rates alone. A report with a figure that is no number has no JSON.
func TestKneeWithoutLatencies(t *testing.T) {
	steps := sweep(wall(4), powers(64)...)
	for i := range steps {
		steps[i].Read.Mean, steps[i].Read.Latency = 0, nil
	}
	assert.Equal(t, []record.Knee{{Load: "4 KiB random read", Depth: 4, IOPS: 40_000, Deepest: 64, IOPSGain: 1}}, analysis.Knees(steps))
	assert.Equal(t, "one I/O at a time", analysis.Bounds(steps, analysis.Machine{})[0].Evidence)
}

func TestNoKnee(t *testing.T) {
	endless := func(d int) float64 { return 9_000 * float64(d) }
	assert.Equal(t, []record.Knee{{Load: "4 KiB random read", Deepest: 64}}, analysis.Knees(sweep(endless, powers(64)...)))
	assert.Empty(t, analysis.Knees(sweep(endless, 1, 2)), "two depths are no curve")
	assert.Empty(t, analysis.Knees(nil))
}

// Noise of 3 % moves the knee by at most one step, and one bad step does not create a knee.
func TestKneeWithNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		noisy := func(d int) float64 { return wall(32)(d) * (1 + 0.03*random.NormFloat64()) }
		assert.Contains(t, []int{16, 32}, analysis.Knees(sweep(noisy, powers(1024)...))[0].Depth)
	}
	steps := sweep(wall(64), powers(256)...)
	steps[2] = randomRead(4, 55_000) // so that depth 8 seems to bring little
	assert.Equal(t, 64, analysis.Knees(steps)[0].Depth)
}

func TestKneesOfSeveralLoads(t *testing.T) {
	steps := sweep(wall(8), powers(64)...)
	for _, s := range sweep(wall(2), powers(64)...) {
		s.Workload.Settings = map[string]string{"interrupt coalescing": "10/100µs"}
		steps = append(steps, s, short(randomRead(128, 1)))
	}
	got := analysis.Knees(steps)
	require.Len(t, got, 2)
	assert.Equal(t, []any{"4 KiB random read", 8}, []any{got[0].Load, got[0].Depth})
	assert.Equal(t, []any{"4 KiB random read, interrupt coalescing 10/100µs", 2}, []any{got[1].Load, got[1].Depth})
}

// Disturbed steps are not points of the curve, and with fewer than three depths there is no
// knee.
func TestDisturbedStepsDecideNoKnee(t *testing.T) {
	steps := sweep(wall(8), powers(64)...)
	disturb := func(i int) { steps[i].Warnings = []record.Warning{{Code: record.WarnDisturbed}} }
	steps[1].Read.IOPS = 10_000 // as if depth 1 were the knee
	steps[2].Read.IOPS = 10_000
	disturb(1)
	disturb(2)
	got := analysis.Knees(steps)[0]
	assert.Equal(t, []any{8, 64, 2, []string{"disturbed"}}, []any{got.Depth, got.Deepest, got.Disregarded, got.Codes})
	for i := range steps {
		disturb(i)
	}
	assert.Equal(t, []record.Knee{{Load: "4 KiB random read", Disregarded: 7, Codes: []string{"disturbed"}}}, analysis.Knees(steps))
}

// A user's own job may go through the page cache, so its figures are not those of the drive.
func TestThePageCacheIsNotTheDrive(t *testing.T) {
	var steps []step
	for _, depth := range []int{1, 2, 4, 8, 16} {
		steps = append(steps, randomRead(depth, min(100e3*float64(depth), 400e3)))
	}
	for i, offset := range []int64{0, 1 << 30} {
		s := randomRead(1, 1e6/float64(i+1))
		s.Workload.Pattern, s.Workload.OffsetBytes = record.Sequential, offset
		steps = append(steps, s)
	}
	sheet := record.DataSheet{RandomReadIOPS: &record.Promise[float64]{Value: 1e6}, RandomReadLatency: &record.Promise[time.Duration]{Value: 10 * time.Microsecond}}
	require.Len(t, analysis.Knees(steps), 1)
	require.Len(t, analysis.Offsets(steps), 1)
	for _, share := range analysis.Shares(steps, sheet) {
		require.NotEmpty(t, share.Step)
	}
	for i := range steps {
		steps[i].Workload.Buffered = true
	}
	assert.Empty(t, analysis.Knees(steps))
	assert.Empty(t, analysis.Offsets(steps))
	for _, share := range analysis.Shares(steps, sheet) {
		assert.Empty(t, share.Step)
	}
}
