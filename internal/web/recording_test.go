package web_test

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/web"
)

// recorded returns options with one recording.
func recorded() web.Options {
	o := options()
	o.Recording = func(id string) (record.Recording, bool, error) {
		rec := recordtest.Recording()
		switch id {
		case rec.ID:
			return rec, true, nil
		case "broken":
			return rec, true, errors.New("unexpected EOF in /var/lib/secret")
		}
		return record.Recording{}, false, nil
	}
	return o
}

func TestRecordings(t *testing.T) {
	server := serve(t, recorded())
	rec := recordtest.Recording()
	list := decode[struct{ Recordings []record.RecordingHead }](t, get(t, server.URL+"/api/v1/recordings"))
	assert.Equal(t, []record.RecordingHead{rec.RecordingHead}, list.Recordings)
	assert.Equal(t, rec.WithoutNames(), decode[record.Recording](t, get(t, server.URL+"/api/v1/recordings/"+rec.ID)))

	page := pages(t, server.URL)
	assert.Equal(t, 1, strings.Count(page, `<a href="/recordings/`+rec.ID+`">`), "with the drive that triggered it")
	got := get(t, server.URL+"/recordings/"+rec.ID)
	assert.Equal(t, http.StatusOK, got.status)
	assert.Contains(t, got.header.Get("Content-Type"), "text/html")
	assert.NotEqual(t, get(t, server.URL+"/").header.Get("Content-Security-Policy"), got.header.Get("Content-Security-Policy"), "it has a style of its own")
	assert.Contains(t, got.body, "<svg")
	for _, path := range []string{"/recordings/", "/api/v1/recordings/"} {
		body := get(t, server.URL+path+rec.ID).body
		assert.Contains(t, body, "1953525160", "the sector of a slow I/O")
		for _, name := range []string{"postgres", "4711"} {
			assert.NotContains(t, body, name, "who submitted it is nobody's business on the web")
		}
	}
}

// A recording that is being made is listed with the drive that triggered it. It has no page yet.
func TestRecordingsThatAreNotFinished(t *testing.T) {
	o := recorded()
	o.Snapshot = func() record.Snapshot {
		s := recordtest.Snapshot()
		h := s.Recorder.Recordings[0]
		h.ID, h.Until, h.Bytes = "being-made", s.Time.Add(40*time.Second), 0
		s.Recorder.Unfinished = []record.RecordingHead{h}
		return s
	}
	server := serve(t, o)
	for _, path := range []string{"/api/v1/recordings/", "/recordings/"} {
		got := get(t, server.URL+path+"being-made")
		assert.Equal(t, http.StatusNotFound, got.status)
		assert.Contains(t, got.body, "recording being-made is not finished; it will be at ")
	}
	page := pages(t, server.URL)
	assert.Equal(t, 1, strings.Count(page, "not finished, 40 s left"))
	assert.NotContains(t, page, "/recordings/being-made")
}

func TestRecordingsThatAreNotThere(t *testing.T) {
	server := serve(t, recorded())
	for _, path := range []string{"/api/v1/recordings/", "/recordings/"} {
		assert.Equal(t, http.StatusNotFound, get(t, server.URL+path+"nothing").status)
		broken := get(t, server.URL+path+"broken")
		assert.Equal(t, http.StatusInternalServerError, broken.status)
		assert.NotContains(t, broken.body, "secret")
	}
	o := options()
	o.Snapshot = func() record.Snapshot { return record.Snapshot{Time: recordtest.Now()} }
	without := serve(t, o)
	assert.Contains(t, get(t, without.URL+"/api/v1/recordings").body, `"recordings": []`)
	assert.Equal(t, http.StatusNotFound, get(t, without.URL+"/recordings/x").status)
}

// A host that became slower triggers a recording that belongs to no target.
func TestRecordingsOfTheNode(t *testing.T) {
	o := options()
	o.Log = slog.New(slog.DiscardHandler)
	o.Snapshot = func() record.Snapshot {
		s := recordtest.Snapshot()
		h := s.Recorder.Recordings[0]
		h.ID, h.Triggers = "of-the-node", []record.Trigger{{Time: h.Until, Kind: record.TriggerVerdict, Text: "8 drives got slower together"}}
		for range 9 {
			s.Recorder.Recordings = append(s.Recorder.Recordings, h)
		}
		return s
	}
	page := get(t, serve(t, o).URL+"/").body
	_, node, found := strings.Cut(page, "Recordings of the node")
	require.True(t, found)
	assert.Equal(t, 5, strings.Count(node, `<a href="/recordings/of-the-node">`), "the newest")
	assert.Contains(t, node, "verdict: 8 drives got slower together")
}
