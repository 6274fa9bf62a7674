package web

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnreadAnswersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sender{limit: 10}
		var cut []string
		add := func(name string, size int) func() {
			kept := s.add(size, func() { cut = append(cut, name) })
			if kept == nil {
				return nil
			}
			return func() { s.remove(kept) }
		}
		removeBig := add("big", 100)
		require.NotNil(t, removeBig, "one alone is never too large")
		require.Nil(t, add("early", 1), "the one before is not slow yet")
		removeBig()
		removeA := add("a", 4)
		<-time.After(slowAfter / 2)
		removeB := add("b", 6)
		require.Nil(t, add("c", 5))
		<-time.After(slowAfter / 2)
		require.Nil(t, add("c", 7), "without a, b is in the way and not slow")
		assert.Equal(t, []string{"a"}, cut, "the oldest goes")
		removeC := add("c", 4)
		require.NotNil(t, removeC)
		removeA()
		assert.Equal(t, 10, s.bytes, "what was cut off counts no more")
		removeB()
		removeC()
		assert.Equal(t, []string{"a"}, cut)
		assert.Zero(t, s.bytes)
	})
}

// A client that reads nothing of an answer which no socket buffer holds is cut off when
// another client needs the memory.
func TestSlowReadersAreCutOff(t *testing.T) {
	const size = 16 << 20
	body := bytes.Repeat([]byte("x"), size)
	kept := inOnePiece(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }), &sender{log: slog.New(slog.DiscardHandler), limit: size * 3 / 2})
	for name, configure := range map[string]func(*httptest.Server){
		"HTTP/1": func(s *httptest.Server) { s.Start() },
		"HTTP/2": func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(kept)
			configure(server)
			t.Cleanup(server.Close)
			ask := func() (status int, text io.Reader) {
				response, err := server.Client().Get(server.URL)
				require.NoError(t, err)
				t.Cleanup(func() { assert.NoError(t, response.Body.Close()) })
				return response.StatusCode, response.Body
			}
			status, slow := ask()
			require.Equal(t, http.StatusOK, status)
			status, quick := ask()
			require.Equal(t, http.StatusServiceUnavailable, status, "a second is left to read it")
			text, err := io.ReadAll(quick)
			require.NoError(t, err)
			assert.Contains(t, string(text), "have not read their answers yet")
			for status != http.StatusOK { // until the first one is slow
				require.Equal(t, http.StatusServiceUnavailable, status)
				status, quick = ask()
			}
			_, err = io.ReadAll(slow)
			require.Error(t, err, "half an answer is not taken for a whole one")
			whole, err := io.ReadAll(quick)
			require.NoError(t, err)
			assert.Len(t, whole, size)
		})
	}
}
