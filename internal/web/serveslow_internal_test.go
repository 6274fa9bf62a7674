package web

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// dial opens a connection and sends text on it.
func dial(t *testing.T, s *Server, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addrs()[0].String())
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	_, err = io.WriteString(c, text)
	require.NoError(t, err)
	return c
}

// ended waits until the other side closes.
func ended(t *testing.T, c net.Conn) {
	t.Helper()
	_, err := io.Copy(io.Discard, c)
	if err != nil {
		require.ErrorIs(t, err, syscall.ECONNRESET)
	}
}

const halfARequest = "GET / HTTP/1.1\r\nHost: ssdprobe\r\nX-Slow: "

func TestConnectionsThatNeverAskAreEnded(t *testing.T) {
	s := listen(t, config("127.0.0.1:0"))
	s.limits.readHeader, s.limits.read = 50*time.Millisecond, time.Hour
	stop := running(t, s, hello)
	ended(t, dial(t, s, ""))
	ended(t, dial(t, s, halfARequest))
	require.NoError(t, stop())
}

func TestAHeaderThatNeverEndsIsRefused(t *testing.T) {
	t.Parallel()
	s := listen(t, config("127.0.0.1:0"))
	stop := running(t, s, hello)
	c := dial(t, s, halfARequest+strings.Repeat("x", 32<<10)+"\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, response.StatusCode)
	require.NoError(t, stop())
}

func TestHalfOpenConnectionsDoNotStarveAScraper(t *testing.T) {
	t.Parallel()
	s := listen(t, config("127.0.0.1:0"))
	s.limits.connections, s.limits.readHeader, s.limits.read = 4, time.Hour, time.Hour
	stop := running(t, s, hello)
	crowd := make([]net.Conn, 50)
	for i := range crowd {
		crowd[i] = dial(t, s, halfARequest)
	}
	body, err := ask(s.URLs()[0])
	require.NoError(t, err)
	assert.Equal(t, "hello", body)
	for _, c := range crowd[:len(crowd)-4] {
		ended(t, c)
	}
	require.NoError(t, stop())
}

// The oldest connection has a request, so a crowd of connections without one does not replace it.
func TestHalfOpenConnectionsDoNotEndAnAnswer(t *testing.T) {
	t.Parallel()
	s := listen(t, config("127.0.0.1:0"))
	s.limits.connections, s.limits.readHeader, s.limits.read = 4, time.Hour, time.Hour
	h, entered, leave := held()
	stop := running(t, s, h)
	c := dial(t, s, "GET / HTTP/1.1\r\nHost: ssdprobe\r\nConnection: close\r\n\r\n")
	<-entered
	crowd := make([]net.Conn, 50)
	for i := range crowd {
		crowd[i] = dial(t, s, halfARequest)
	}
	for _, idle := range crowd[:len(crowd)-3] {
		ended(t, idle)
	}
	close(leave)
	body, err := io.ReadAll(c)
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(string(body), "hello"), string(body))
	require.NoError(t, stop())
}

// slowly serves an answer that is larger than any socket buffer. It reports when it has begun, and how sending it
// ended.
func slowly() (h http.HandlerFunc, begun chan struct{}, sent chan error) {
	begun, sent = make(chan struct{}, 100), make(chan error, 100)
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/large" {
			hello(w, r)
			return
		}
		begun <- struct{}{}
		_, err := io.Copy(w, bytes.NewReader(make([]byte, 64<<20)))
		sent <- err
	}, begun, sent
}

const largeRequest = "GET /large HTTP/1.1\r\nHost: ssdprobe\r\n\r\n"

func TestSlowReadersDoNotStarveAScraper(t *testing.T) {
	t.Parallel()
	s := listen(t, config("127.0.0.1:0"))
	s.limits.connections, s.limits.write = 4, time.Hour
	h, begun, sent := slowly()
	stop := running(t, s, h)
	for range 4 {
		dial(t, s, largeRequest)
		<-begun
	}
	body, err := ask(s.URLs()[0])
	require.NoError(t, err)
	assert.Equal(t, "hello", body)
	require.Error(t, <-sent, "the slowest reader had to go")
	require.NoError(t, stop())
}

func TestASlowReaderIsEnded(t *testing.T) {
	s := listen(t, config("127.0.0.1:0"))
	s.limits.write = 50 * time.Millisecond
	h, _, sent := slowly()
	stop := running(t, s, h)
	dial(t, s, largeRequest)
	require.ErrorIs(t, <-sent, os.ErrDeadlineExceeded)
	require.NoError(t, stop())
}

// Resetting an answer of HTTP/2 would itself wait for the slow client.
func TestASlowReaderOfHTTP2IsEnded(t *testing.T) {
	t.Parallel()
	path, roots := webConfig(t, "tls_server_config: {cert_file: cert.pem, key_file: key.pem}")
	c := config("127.0.0.1:0")
	c.WebConfigFile = path
	s := listen(t, c)
	s.limits.write = time.Second // long enough for the handshake
	h, _, sent := slowly()
	stop := running(t, s, h)

	plain := dial(t, s, "")
	require.NoError(t, plain.(*net.TCPConn).SetReadBuffer(4096))
	client := tls.Client(plain, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", NextProtos: []string{"h2"}})
	_, err := io.WriteString(client, http2.ClientPreface)
	require.NoError(t, err)
	frames := http2.NewFramer(client, nil)
	const noLimit = 1<<31 - 1 // let TCP block the server, not HTTP/2
	require.NoError(t, frames.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: noLimit}))
	require.NoError(t, frames.WriteWindowUpdate(0, noLimit-65535))
	var header bytes.Buffer
	encoder := hpack.NewEncoder(&header)
	for _, field := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "ssdprobe"}, {":path", "/large"}} {
		require.NoError(t, encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}))
	}
	require.NoError(t, frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: header.Bytes(), EndStream: true, EndHeaders: true}))
	require.Error(t, <-sent)
	require.NoError(t, stop())
}
