package web

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// A statistic may not be judged in each block.
func TestWhatWasNotJudgedIsNotPlotted(t *testing.T) {
	x := drift.Explanation{Statistics: []drift.StatisticExplanation{{Drift: record.Drift{Statistic: record.LatencyP50, State: record.Stable}}}}
	for k, ratio := range []float64{2, 0, 1.5, 0} {
		x.Recent = append(x.Recent, drift.Block{Time: time.Unix(1_700_000_000+int64(k)*300, 0), Ratios: drift.Values{ratio}})
	}
	p := newPlot(x)
	require.NotNil(t, p)
	assert.Contains(t, p.Title, "2 blocks: 1.50× to 2.00× slower")
	var plotted []float64
	for _, s := range p.Series {
		for _, point := range s.Points {
			plotted = append(plotted, point.Y)
		}
	}
	assert.Equal(t, []float64{2, 1.5}, plotted)
	x.Recent = x.Recent[1:2]
	assert.Nil(t, newPlot(x))
}
