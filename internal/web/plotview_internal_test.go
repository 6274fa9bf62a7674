package web

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
)

// A statistic may not be judged in each block.
func TestWhatWasNotJudgedIsNotPlotted(t *testing.T) {
	x := drift.Explanation{
		BlockLength: 5 * time.Minute, Statistics: []drift.StatisticExplanation{{Drift: record.Drift{Statistic: record.LatencyP50, State: record.Stable}}},
	}
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

// Where rounds are rare, blocks are long.
func TestBlocksOfTwentyMinutesAreJoined(t *testing.T) {
	const length = 20 * time.Minute
	began := time.Unix(1_700_000_400, 0)
	x := drift.Explanation{
		BlockLength: length, Statistics: []drift.StatisticExplanation{{Drift: record.Drift{Statistic: record.LatencyP50, State: record.Stable}}},
	}
	for k := range 12 {
		if k != 4 && k != 7 && k != 8 && k != 9 { // one block is missing, and then three in a row
			x.Recent = append(x.Recent, drift.Block{Time: began.Add(time.Duration(k) * length), Ratios: drift.Values{1}})
		}
	}
	p := newPlot(x)
	require.NotNil(t, p)
	require.Len(t, p.Series, 2)
	assert.Equal(t, []plot.Shape{plot.Line, plot.Line}, []plot.Shape{p.Series[0].Shape, p.Series[1].Shape})
	assert.Len(t, p.Series[0].Points, 6)
	assert.Equal(t, plot.Seconds(began.Add(length/2)), p.Series[0].Points[0].X, "the middle of the block")
	assert.Equal(t, plot.Seconds(began.Add(12*length)), p.X.Room.To, "the end of the last block")
}
