package web

import (
	"bytes"
	"encoding/json"
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
		s := &sender{log: slog.New(slog.DiscardHandler), limit: 10, within: time.Second}
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
		<-time.After(s.within / 2)
		removeB := add("b", 6)
		require.Nil(t, add("c", 4))
		<-time.After(s.within / 2)
		require.Nil(t, add("c", 5), "b is in the way and not slow")
		assert.Empty(t, cut, "a would be cut off in vain")
		removeC := add("c", 4)
		require.NotNil(t, removeC)
		assert.Equal(t, []string{"a"}, cut, "the oldest goes")
		removeA()
		assert.Equal(t, 10, s.bytes, "what was cut off counts no more")
		removeB()
		removeC()
		assert.Equal(t, []string{"a"}, cut)
		assert.Zero(t, s.bytes)
	})
}

// unreadable is the size of an answer that no socket buffer holds.
const unreadable = 16 << 20

// asker returns how to ask a server that has memory for one such answer, and leaves clients
// so long to read it.
func asker(t *testing.T, within time.Duration, start func(*httptest.Server)) (ask func() openAnswer) {
	t.Helper()
	body := bytes.Repeat([]byte("x"), unreadable)
	server := httptest.NewUnstartedServer(counted(inOnePiece(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "none of this client's")
		_, _ = w.Write(body)
	}), &sender{log: slog.New(slog.DiscardHandler), limit: unreadable * 3 / 2, within: within})))
	server.Listener = &conns{Listener: server.Listener, limit: 100}
	server.Config.ConnContext = withConn
	start(server)
	t.Cleanup(server.Close)
	return func() openAnswer {
		transport := server.Client().Transport.(*http.Transport).Clone() // a connection of its own
		t.Cleanup(transport.CloseIdleConnections)
		response, err := (&http.Client{Transport: transport}).Get(server.URL)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, response.Body.Close()) })
		return openAnswer{response.StatusCode, response.Header, response.Proto, response.Body}
	}
}

// openAnswer is an answer that is not read yet.
type openAnswer struct {
	status int
	header http.Header
	proto  string
	body   io.Reader
}

// A client that reads nothing is cut off when another client needs the memory, and not before
// it had its time.
func TestSlowReadersAreCutOff(t *testing.T) {
	for name, start := range map[string]func(*httptest.Server){
		"HTTP/1": func(s *httptest.Server) { s.Start() },
		"HTTP/2": func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() },
	} {
		t.Run(name+" in time", func(t *testing.T) {
			ask := asker(t, time.Hour, start)
			first, second := ask(), ask()
			require.Equal(t, http.StatusOK, first.status)
			assert.Equal(t, http.StatusServiceUnavailable, second.status)
			assert.Empty(t, second.header.Get("Content-Encoding"))
			assert.Equal(t, "1", second.header.Get("Retry-After"))
			var told problem
			require.NoError(t, json.NewDecoder(second.body).Decode(&told))
			assert.Equal(t, http.StatusServiceUnavailable, told.Status)
			assert.Contains(t, told.Error, "clients have not read")
			text, err := io.ReadAll(first.body)
			require.NoError(t, err)
			assert.Len(t, text, unreadable)
		})
		t.Run(name+" too slow", func(t *testing.T) {
			ask := asker(t, 0, start)
			first := ask()
			require.Equal(t, http.StatusOK, first.status)
			require.Contains(t, first.proto, name)
			second := ask()
			require.Equal(t, http.StatusOK, second.status)
			_, err := io.ReadAll(first.body)
			require.Error(t, err, "half an answer is not taken for a whole one")
			text, err := io.ReadAll(second.body)
			require.NoError(t, err)
			assert.Len(t, text, unreadable)
		})
	}
}
