package drift_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
)

// expected returns when the median is expected to be slower.
func (h *history) expected() []drift.Expected {
	return h.track.Explain(time.Unix(int64(h.minute)*60, 0)).Statistics[0].Expected
}

func TestExplainTellsWhenASlowdownRecurs(t *testing.T) {
	h := newHistory(t)
	h.night(1)
	h.night(1)
	assert.Empty(t, h.expected())
	h.night(1.6) // from 22:00 to midnight of the third of January 1970
	h.night(1)
	h.run(time.Hour, 1, h.track.Conditions())
	list := h.expected()
	require.Len(t, list, 2, "at that time of each day, and of that day of each week: less is left of what does not recur")
	day, week := list[0], list[1]
	assert.Equal(t, drift.EveryDay, day.Every)
	assert.Equal(t, "Jan 05 21:30 to Jan 06 00:30", day.From.Format("Jan 02 15:04")+" to "+day.To.Format("Jan 02 15:04"))
	assert.InDelta(t, 1.49, day.Ratio, 0.03)
	assert.Equal(t, drift.EveryWeek, week.Every)
	assert.Equal(t, "Jan 10 21:30 to Jan 11 00:30", week.From.Format("Jan 02 15:04")+" to "+week.To.Format("Jan 02 15:04"))
	assert.InDelta(t, 1.6, week.Ratio, 0.03)

	h.run(22*time.Hour, 1, h.track.Conditions())
	assert.Equal(t, day.From, h.expected()[0].From, "it is that time now")
	h.run(2*time.Hour, 1, h.track.Conditions())
	assert.Equal(t, "Jan 06 21:30", h.expected()[0].From.Format("Jan 02 15:04"), "it is over")
}
