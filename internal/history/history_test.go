package history_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/history"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

var (
	key   = history.Key{Source: "read-4k", Figure: history.P50}
	start = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
)

// means returns the means of the points.
func means(points []history.Point) (all []float64) {
	for _, p := range points {
		all = append(all, p.Mean)
	}
	return all
}

func TestASlotIsTheMeanOfItsValuesByWeight(t *testing.T) {
	var h history.History
	h.Add(key, start, 1, 3)
	h.Add(key, start.Add(30*time.Second), 5, 1)
	h.Add(key, start.Add(time.Minute), 7, 1)
	points := h.Points(key, history.Hour(), start.Add(2*time.Minute))
	assert.Equal(t, []float64{2, 7}, means(points))
	assert.Equal(t, start.Add(30*time.Second), points[0].Time, "the middle of the slot")
	assert.Equal(t, []float64{3}, means(h.Points(key, history.Day(), start)), "15 by a weight of 5, all in one slot")
	assert.Empty(t, h.Points(history.Key{Source: "other"}, history.Day(), start))
}

func TestWhatIsNotAFigureIsLeftOut(t *testing.T) {
	var h history.History
	h.Add(key, start, -1, 1)
	h.Add(key, start, 1, 0)
	assert.Empty(t, h.Points(key, history.Hour(), start))
	h.Add(key, start, 0, 1)
	assert.Equal(t, []float64{0}, means(h.Points(key, history.Hour(), start)), "nothing happened, and that is known")
}

func TestSpansAreBoundedAndGapsStayGaps(t *testing.T) {
	var h history.History
	at := start
	for range 5 * 24 * 60 { // five days
		h.Add(key, at, 84e-6, 1)
		at = at.Add(time.Minute)
	}
	for _, span := range history.Spans() {
		want := min(span.Slots, int(5*24*time.Hour/span.Slot))
		assert.InDelta(t, want, len(h.Points(key, span, at.Add(-time.Minute))), 1, span.Name)
	}
	back := at.Add(30 * time.Minute)
	h.Add(key, back, 90e-6, 1)
	h.Add(key, back.Add(time.Minute), 91e-6, 1)
	hour := h.Points(key, history.Hour(), back.Add(time.Minute))
	require.Len(t, hour, 60-30)
	assert.Equal(t, 31*time.Minute, hour[28].Time.Sub(hour[27].Time))
	assert.Empty(t, h.Points(key, history.Hour(), back.Add(2*time.Hour)), "it is over")
	assert.NotEmpty(t, h.Points(key, history.Day(), back.Add(2*time.Hour)))

	far := back.Add(100 * 24 * time.Hour)
	h.Add(key, far, 1, 1)
	h.Add(key, far.Add(4*time.Hour), 2, 1)
	assert.Equal(t, []float64{1, 2}, means(h.Points(key, history.Month(), far.Add(4*time.Hour))))
}

// Values from a wrong clock must not hide values added after the clock was corrected.
func TestAClockThatIsSetBack(t *testing.T) {
	var h history.History
	h.Add(key, start, 1, 1)
	h.Add(key, start.Add(365*24*time.Hour), 9, 1)
	h.Add(key, start.Add(365*24*time.Hour+5*time.Hour), 9, 1)
	for range 2 { // it is set back by half an hour, too
		for minute := range 30 {
			h.Add(key, start.Add(time.Duration(minute)*time.Minute), 1e3+float64(minute), 1)
		}
		all := means(h.Points(key, history.Hour(), start.Add(time.Hour)))
		assert.Greater(t, len(all), 15, "soon they count")
		assert.InDelta(t, 1029, all[len(all)-1], 0)
	}
	require.NoError(t, new(history.History).Restore(h.State(start.Add(time.Hour))), "what is kept then makes sense")
}

// A clock that is wrong for minutes, as after a boot, must not drop what it will catch up with.
func TestAClockThatIsBehindForAMoment(t *testing.T) {
	var h history.History
	at := start
	for range 31 * 24 {
		h.Add(key, at, 1, 1)
		at = at.Add(time.Hour)
	}
	for i := range 5 {
		h.Add(key, time.Unix(0, 0).Add(time.Duration(i)*time.Minute), 9, 1)
	}
	h.Add(key, at, 1, 1)
	month := means(h.Points(key, history.Month(), at))
	assert.Len(t, month, history.Month().Slots)
	assert.NotContains(t, month, 9.)
}

func TestARestartKeepsIt(t *testing.T) {
	var h history.History
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		h.Add(key, start.Add(time.Duration(i)*time.Minute), 80e-6+1e-5*random.Float64(), 1)
	}
	other := history.Key{Source: record.SourceTraffic, Figure: history.Writes}
	h.Add(other, start, 100, 30)
	now := start.Add(3000 * time.Minute)
	text, err := json.Marshal(h.State(now))
	require.NoError(t, err)
	assert.Less(t, len(text), 10*3*(60+144+186), "a mean takes few characters")

	var s history.State
	require.NoError(t, json.Unmarshal(text, &s))
	var restored history.History
	require.NoError(t, restored.Restore(s))
	for _, span := range history.Spans() {
		assert.Equal(t, h.Points(key, span, now), restored.Points(key, span, now), span.Name)
		assert.Equal(t, h.Points(other, span, start), restored.Points(other, span, start), span.Name)
	}
	assert.InDelta(t, 85e-6, restored.Points(key, history.Month(), now)[3].Mean, 2e-6)

	later := h.State(start.Add(40 * 24 * time.Hour))
	assert.Empty(t, later.Series, "a month without a value: forgotten")
}

func TestWhatMakesNoSenseIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(*history.KeptSeries){
		"spans": func(s *history.KeptSeries) { s.Spans = s.Spans[:2] },
		"means": func(s *history.KeptSeries) { s.Spans[0].Means = make([]float32, 61) },
		"order": func(s *history.KeptSeries) { s.Spans[1].First = s.Spans[1].Open + 2 },
		"value": func(s *history.KeptSeries) { s.Spans[2].Means = []float32{-7} },
	} {
		var h history.History
		for i := range 600 {
			h.Add(key, start.Add(time.Duration(i)*time.Minute), 1, 1)
		}
		s := h.State(start.Add(10 * time.Hour))
		spoil(&s.Series[0])
		assert.Error(t, new(history.History).Restore(s), name)
	}
}
