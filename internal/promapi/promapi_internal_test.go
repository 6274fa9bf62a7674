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
	_, err = s.Range(t.Context(), "up", time.Unix(0, 0), time.Unix(60, 0), time.Minute)
	assert.EqualError(t, err, endless.URL+": the answer is longer than 1048576 bytes")
}
