package finding

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestSmallStepsAreOneFindingTogether(t *testing.T) {
	since := now().Add(-90 * 24 * time.Hour)
	lifetime := func(ratio float64) record.Lifetime {
		return record.Lifetime{Ratio: record.Ratio{Ratio: ratio, Lower: ratio - 0.05, Upper: ratio + 0.05}, Since: since}
	}
	p := record.ProbeStatus{Lifetime: map[record.Statistic]record.Lifetime{record.LatencyP50: lifetime(1.4), record.IOPS: lifetime(1.19)}}
	all := ofLifetime(p)
	require.Len(t, all, 1)
	assert.Equal(t, ManyChanges, all[0].Code)
	assert.Equal(t, []string{"p50 1.40× (1.35× to 1.45×)"}, all[0].Evidence, "1.19 times is too little")
	assert.Equal(t, since, all[0].Since)

	p.Effect = &record.Effect{Time: now(), Ratios: map[record.Statistic]record.Ratio{record.LatencyP50: {Ratio: 1.25, Lower: 1.2, Upper: 1.3}}}
	assert.Empty(t, ofLifetime(p), "most of it is told already")
	p.Effect.Accepted = true
	assert.NotEmpty(t, ofLifetime(p))
	p.Drift = []record.Drift{{Statistic: record.LatencyP50, State: record.Improved}}
	assert.Empty(t, ofLifetime(p), "it is fast again, for another reason")
}
