package replay

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnEndlessAnswerIsRefused(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		page := make([]byte, 1<<20)
		for {
			if _, err := w.Write(page); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	p, err := NewPrometheus(s.Client(), Query{URL: s.URL, Device: "nvme0n1", Probe: "read-4k", From: time.Unix(0, 0), To: time.Unix(60, 0)})
	require.NoError(t, err)
	_, err = p.Next(t.Context())
	assert.ErrorContains(t, err, "the answer is longer than")
}
