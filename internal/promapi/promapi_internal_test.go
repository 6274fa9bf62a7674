package promapi

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnEndlessAnswerIsRefused(t *testing.T) {
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		page := make([]byte, 64<<10)
		for {
			if _, err := w.Write(page); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	s, err := newServer(endless.URL, endless.Client(), 1<<20)
	require.NoError(t, err)
	_, _, err = s.Range(t.Context(), "up", time.Unix(0, 0), time.Unix(60, 0), time.Minute)
	assert.EqualError(t, err, endless.URL+": the answer is longer than 1048576 bytes")
}

// The page of a daemon, or of any other program that answers in JSON, begins with a bracket, which says nothing.
func TestOnlyAReasonInWordsIsQuoted(t *testing.T) {
	body := "{\n  \"status\": 404\n}\n"
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, body, http.StatusNotFound) }))
	defer other.Close()
	s, err := newServer(other.URL, other.Client(), 1<<20)
	require.NoError(t, err)
	_, _, err = s.Range(t.Context(), "up", time.Unix(0, 0), time.Unix(60, 0), time.Minute)
	require.EqualError(t, err, other.URL+": it answers 404 Not Found")
	body = "404 page not found\n"
	_, _, err = s.Range(t.Context(), "up", time.Unix(0, 0), time.Unix(60, 0), time.Minute)
	assert.EqualError(t, err, other.URL+": it answers 404 Not Found (404 page not found)")
}
