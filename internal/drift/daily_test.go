package drift_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// night runs a day whose last two hours are slower by a ratio, and counts the regressions in them.
func (h *history) night(slower float64) (told int) {
	h.t.Helper()
	h.run(22*time.Hour, 1, record.Conditions{})
	for _, e := range h.run(2*time.Hour, slower, record.Conditions{}) {
		if e.To == record.Regressed {
			told++
		}
	}
	return told
}

func TestWhatRecursDailyIsToldOnce(t *testing.T) {
	h := newHistory(t)
	h.night(1)
	assert.Positive(t, h.night(1.6), "it is news")
	for range 4 {
		assert.Zero(t, h.night(1.6), "it was there the night before")
	}
	assert.Positive(t, h.night(3), "but not like this")
}

// A drive that is far slower every night is news every night.
func TestWhatIsFarSlowerIsToldEachNight(t *testing.T) {
	h := newHistory(t)
	h.night(1)
	for range 3 {
		assert.Positive(t, h.night(20))
	}
}

func TestWhatTheFirstNightHadIsExpected(t *testing.T) {
	h := newHistory(t)
	h.night(1.6)
	for range 3 {
		assert.Zero(t, h.night(1.6))
	}
	// At another time of day it is news.
	h.run(10*time.Hour, 1, record.Conditions{})
	h.run(2*time.Hour, 1.6, record.Conditions{})
	assert.Equal(t, record.Regressed, h.p50().State)
}

// A drive that becomes slower is also slower by day. What recurs every night neither ends that nor hides it.
func TestADriftLastsThroughTheNight(t *testing.T) {
	for name, begins := range map[string]func(h *history, c record.Conditions){
		"before the night": func(h *history, c record.Conditions) {
			h.run(16*time.Hour, 1, c)
			h.run(6*time.Hour, 1.3, c)
			h.run(2*time.Hour, 1.3*1.6, c)
		},
		"in the night": func(h *history, c record.Conditions) {
			h.run(22*time.Hour, 1, c)
			h.run(time.Hour, 1.6, c)
			h.run(time.Hour, 1.3*1.6, c)
		},
	} {
		for _, kernel := range []string{"6.1", "6.2"} {
			h, c := newHistory(t), record.Conditions{Kernel: "6.1"}
			for range 2 {
				h.run(22*time.Hour, 1, c)
				h.run(2*time.Hour, 1.6, c)
			}
			c.Kernel = kernel
			begins(h, c)
			for range 2 {
				h.run(22*time.Hour, 1.3, c)
				assert.Equal(t, record.Regressed, h.p50().State, "%s, %s", name, kernel)
				assert.InDelta(t, 1.3, h.p50().Ratio, 0.05, "%s, %s", name, kernel)
				h.run(2*time.Hour, 1.3*1.6, c)
				assert.InDelta(t, 1.3, h.p50().Ratio, 0.05, "%s, %s: the night is known", name, kernel)
			}
		}
	}
}

// A backup may skip a night.
func TestWhatSkipsANightIsStillExpected(t *testing.T) {
	h := newHistory(t)
	h.night(1)
	assert.Positive(t, h.night(1.6))
	h.night(1)
	assert.Zero(t, h.night(1.6))
}

// What comes on top of an expectation is expected together with it the next time.
func TestWhatIsWorseThanExpectedIsExpectedWhole(t *testing.T) {
	h := newHistory(t)
	long := func(slower float64) (told int) {
		h.run(16*time.Hour, 1, record.Conditions{})
		for _, e := range h.run(8*time.Hour, slower, record.Conditions{}) {
			if e.To == record.Regressed {
				told++
			}
		}
		return told
	}
	long(1)
	assert.Positive(t, long(1.4))
	assert.Positive(t, long(2))
	assert.Zero(t, long(2))
}

// Noise may hide for hours that something is over. It is not expected for that time.
func TestWhatSeemedToLastIsExpectedForAsLongAsItWas(t *testing.T) {
	h := newHistory(t)
	h.night(1)
	assert.Positive(t, h.night(1.6))
	h.run(11*time.Hour, 1.2, record.Conditions{})
	h.run(11*time.Hour, 1, record.Conditions{})
	assert.Empty(t, h.run(2*time.Hour, 1.6, record.Conditions{}))
}

func TestWhatDoesNotComeAgainIsForgotten(t *testing.T) {
	h := newHistory(t)
	h.night(1)
	h.night(1.6)
	for range 4 {
		h.night(1)
	}
	assert.Positive(t, h.night(1.6), "it is news again")
}

func TestWhatIsExpectedIsNoMoreThanWhatCame(t *testing.T) {
	h := newHistory(t)
	h.night(1)
	h.night(1.6)
	assert.Positive(t, h.night(2), "it is worse than the night before")
}

// A State is written to disk while rounds go on, so it must not change.
func TestAStateStaysAsItIs(t *testing.T) {
	h := newHistory(t)
	h.night(1)
	h.night(1.6)
	h.run(3*time.Hour, 1.4, record.Conditions{})
	s := h.track.State()
	before, err := json.Marshal(s)
	require.NoError(t, err)
	h.run(3*time.Hour, 1, record.Conditions{})
	h.run(3*time.Hour, 1.3, record.Conditions{Kernel: "6.2"})
	after, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
}
