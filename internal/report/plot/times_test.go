package plot_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/report/plot"
)

func TestTicksOfTimeAreRound(t *testing.T) {
	end := time.Date(2026, 11, 22, 18, 7, 41, 0, time.UTC)
	for length, want := range map[time.Duration][]string{
		2 * time.Minute: {
			"18:05:50", "18:06", "18:06:10", "18:06:20", "18:06:30", "18:06:40", "18:06:50", "18:07", "18:07:10", "18:07:20", "18:07:30", "18:07:40",
		},
		time.Hour:           {"17:10", "17:15", "17:20", "17:25", "17:30", "17:35", "17:40", "17:45", "17:50", "17:55", "18:00", "18:05"},
		24 * time.Hour:      {"20:00", "22:00", "22 Nov", "02:00", "04:00", "06:00", "08:00", "10:00", "12:00", "14:00", "16:00", "18:00"},
		31 * 24 * time.Hour: {"29 Oct", "5 Nov", "12 Nov", "19 Nov"},
	} {
		from, to := float64(end.Add(-length).Unix()), float64(end.Unix())
		p := plot.Plot{
			X: plot.Axis{Scale: plot.Time}, Y: plot.Axis{Format: func(float64) string { return "" }},
			Series: []plot.Series{{Points: []plot.Point{{X: from, Y: 1}, {X: to, Y: 2}}}},
		}
		var ticks []string
		for _, text := range texts(elements(t, p.SVG()), "tick") {
			if text != "" {
				ticks = append(ticks, text)
			}
		}
		assert.Equal(t, want, ticks, length)
	}
}

func TestASparkKeepsGapsOpenAndNoiseSmall(t *testing.T) {
	s := plot.Spark{Title: "p50", From: 0, To: 100, Gap: 15, Points: []plot.Point{{X: 0, Y: 100}, {X: 10, Y: 101}, {X: 50, Y: 99}, {X: 60, Y: 100}}}
	all := elements(t, s.SVG())
	line := pick(all, "path", "line")
	require.Len(t, line, 1)
	assert.Equal(t, "M1 13.1h0L12.8 12.7M60 13.6h0L71.8 13.1", line[0].attrs["d"], "a hundredth is nearly flat, and 10 to 50 is open")
	s.Points[3].Y = 1000
	assert.Equal(t, "M1 21.6h0L12.8 21.6M60 21.6h0L71.8 2", pick(elements(t, s.SVG()), "path", "line")[0].attrs["d"])
	s.Points = []plot.Point{{X: 50, Y: 0}}
	assert.Equal(t, "M60 22h0", pick(elements(t, s.SVG()), "path", "line")[0].attrs["d"], "idle")
	assert.Empty(t, plot.Spark{From: 0, To: 100}.SVG())
}
