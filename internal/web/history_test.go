package web_test

import (
	"math"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/history"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/web"
)

// lived returns the history of a drive over 40 days. The drive became twice as slow four hours ago, and was away for
// three hours before that.
func lived() *history.History {
	h, now := &history.History{}, recordtest.Now()
	for at := now.Add(-40 * 24 * time.Hour); at.Before(now); at = at.Add(time.Minute) {
		ago := now.Sub(at)
		if ago > 7*time.Hour && ago < 10*time.Hour {
			continue
		}
		p50 := 84e-6 * (1 + 0.03*math.Sin(ago.Hours()))
		if ago < 4*time.Hour {
			p50 *= 2
		}
		h.Add(history.Key{Source: "read-4k", Figure: history.P50}, at, p50, 1)
		h.Add(history.Key{Source: "read-4k", Figure: history.P99}, at, 2*p50, 1)
		h.Add(history.Key{Source: record.SourceTraffic, Figure: history.Reads}, at, 400, 30)
		h.Add(history.Key{Source: record.SourceTraffic, Figure: history.ReadLatency}, at, p50, 400)
	}
	return h
}

func withHistory() web.Options {
	o, h := options(), lived()
	o.History = func(id string) (*history.History, bool) { return h, id == recordtest.RegressedID }
	return o
}

func TestThePastOfADrive(t *testing.T) {
	server := serve(t, withHistory())
	page := func(query string) string {
		return devicePage(t, server.URL, recordtest.RegressedID, query)
	}
	for query, want := range map[string]struct{ span, slot, tick string }{
		"":            {"day", "10 min", "16:00"},
		"?span=hour":  {"hour", "1 min", "12:30"},
		"?span=month": {"month", "4 h", "23 Apr"},
		"?span=year":  {"day", "10 min", "16:00"},
	} {
		body := page(query)
		shows(t, body, "<strong>"+want.span+"</strong>")
		shows(t, body, "a point is the mean of "+want.slot)
		shows(t, body, `aria-label="read-4k: latency over the last `+want.span)
		shows(t, body, ">"+want.tick+"<")
		shows(t, body, `aria-label="latency of the applications&#39; I/O over the last `+want.span)
		shows(t, body, `aria-label="I/Os per second of applications over the last `+want.span)
	}
	day := page("")
	first := regexp.MustCompile(`(?s)<figure.*?</figure>`).FindString(day)
	assert.Equal(t, 2*(1+2), strings.Count(first, `class="line c1"`), "wide and narrow: the legend, and two parts, as a gap of three hours stays open")
	shows(t, first, ">degraded, PCIe link changed<")
	shows(t, devicePage(t, server.URL, recordtest.FileID), "The last")
}

func TestTheLastDayIsInTheTable(t *testing.T) {
	body := get(t, serve(t, withHistory()).URL+"/").body
	sparks := regexp.MustCompile(`<td data-name="last day">(.*?)</td>`).FindAllStringSubmatch(body, -1)
	require.Len(t, sparks, 3)
	assert.Contains(t, sparks[0][1], `aria-label="p50 of the last day: 81.5 µs to 173 µs"`)
	assert.Empty(t, sparks[1][1])
	assert.Empty(t, sparks[2][1])
}

func TestHistoryAPI(t *testing.T) {
	server := serve(t, withHistory())
	type answer struct {
		Series []struct {
			Source, Figure string
			Spans          []struct {
				Span        string
				SlotSeconds float64 `json:"slot_seconds"`
				Points      []history.Point
			}
		}
	}
	got := decode[answer](t, get(t, server.URL+"/api/v1/history/"+recordtest.RegressedID))
	require.Len(t, got.Series, 4)
	s := got.Series[0]
	assert.Equal(t, "read-4k p50", s.Source+" "+s.Figure)
	require.Len(t, s.Spans, 3)
	for i, want := range []int{60, 144 - 18, 186} {
		assert.InDelta(t, want, len(s.Spans[i].Points), 2, s.Spans[i].Span)
	}
	assert.InEpsilon(t, 600, s.Spans[1].SlotSeconds, 1e-9)
	assert.InDelta(t, 168e-6, s.Spans[0].Points[0].Mean, 10e-6)
	assert.Equal(t, http.StatusNotFound, get(t, server.URL+"/api/v1/history/"+recordtest.HealthyID).status)
}
