package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain also acts as the program that TestSystemdSocket starts.
func TestMain(m *testing.M) {
	if os.Getenv("SSDPROBE_TEST_SOCKET") != "" {
		os.Exit(serveSystemdSocket())
	}
	time.Local = time.FixedZone("", 2*60*60) // the pages show UTC, and golden files must not depend on the machine's zone
	os.Exit(m.Run())
}

func hello(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }

// held returns a handler that answers one request, once leave is closed. It closes entered when it has the request.
func held() (h http.HandlerFunc, entered, leave chan struct{}) {
	entered, leave = make(chan struct{}), make(chan struct{})
	return func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-leave
		hello(w, r)
	}, entered, leave
}

func config(listen ...string) Config {
	return Config{Listen: listen, Log: slog.New(slog.DiscardHandler)}
}

func listen(t *testing.T, c Config) *Server {
	t.Helper()
	s, err := Listen(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// running serves until stop is called. stop waits for the end and returns the error of Serve.
func running(t *testing.T, s *Server, h http.HandlerFunc) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, h) }()
	t.Cleanup(cancel)
	return func() error {
		cancel()
		return <-served
	}
}

// ask sends a request on a connection of its own.
func ask(url string) (string, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

func TestServe(t *testing.T) {
	s := listen(t, config("127.0.0.1:0", "127.0.0.1:0"))
	stop := running(t, s, hello)
	require.Len(t, s.URLs(), 2)
	for i, url := range s.URLs() {
		assert.Equal(t, "http://"+s.Addrs()[i].String()+"/", url)
		body, err := ask(url)
		require.NoError(t, err)
		assert.Equal(t, "hello", body)
	}
	require.NoError(t, stop())
	for _, url := range s.URLs() {
		_, err := ask(url)
		assert.ErrorIs(t, err, syscall.ECONNREFUSED)
	}
}

func TestURLs(t *testing.T) {
	s := listen(t, config(":0"))
	_, port, err := net.SplitHostPort(s.Addrs()[0].String())
	require.NoError(t, err)
	assert.Equal(t, []string{"http://localhost:" + port + "/"}, s.URLs())
}

func TestListenRefuses(t *testing.T) {
	taken := listen(t, config("127.0.0.1:0")).Addrs()[0].String()
	for name, c := range map[string]struct {
		config Config
		want   string
	}{
		"no address": {config(), `no address to listen on: name one with --web.listen-address, ":10040" for example`},
		"a port in use": {
			config("127.0.0.1:0", taken),
			"listen on " + taken + ": address already in use; " +
				"another program, or another of these addresses, has this port: stop it or choose another port",
		},
		"an address of another machine": {
			config("192.0.2.1:0"),
			"listen on 192.0.2.1:0: cannot assign requested address; this machine does not have that address",
		},
		"no port": {config("localhost"), "listen on localhost: address localhost: missing port in address"},
		"no systemd": {
			Config{SystemdSocket: true, Log: slog.New(slog.DiscardHandler)},
			"--web.systemd-socket: systemd passed no socket; start ssdprobe by its .socket unit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Listen(t.Context(), c.config)
			assert.EqualError(t, err, c.want)
		})
	}
}

// Listeners that were opened before the failure are closed.
func TestListenOpensAllOrNone(t *testing.T) {
	first := listen(t, config("127.0.0.1:0"))
	address := first.Addrs()[0].String()
	require.NoError(t, first.Close())
	_, err := Listen(t.Context(), config(address, "192.0.2.1:0"))
	require.ErrorIs(t, err, syscall.EADDRNOTAVAIL)
	listen(t, config(address))
}

func TestShutdownWhileClientsHang(t *testing.T) {
	s := listen(t, config("127.0.0.1:0"))
	s.limits.grace, s.limits.write = 50*time.Millisecond, time.Hour
	h, begun, sent := slowly()
	stop := running(t, s, h)
	half := dial(t, s, halfARequest)
	dial(t, s, largeRequest)
	<-begun
	require.NoError(t, stop(), "it returns, though both would hang for long")
	require.Error(t, <-sent)
	ended(t, half)
}

func TestShutdownLetsAnAnswerEnd(t *testing.T) {
	s := listen(t, config("127.0.0.1:0"))
	s.limits.grace = time.Hour
	h, entered, leave := held()
	stop := running(t, s, h)
	c := dial(t, s, "GET / HTTP/1.1\r\nHost: ssdprobe\r\n\r\n")
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	// Once connections are refused, the server is stopping.
	require.Eventually(t, func() bool {
		probe, err := net.Dial("tcp", s.Addrs()[0].String())
		if err == nil {
			probe.Close()
		}
		return err != nil
	}, time.Minute, time.Millisecond)
	close(leave)
	body, err := io.ReadAll(c)
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(string(body), "hello"), string(body))
	require.NoError(t, <-stopped)
}

// When one listener fails, the others stop as well.
func TestServeFailsAsAWhole(t *testing.T) {
	s := listen(t, config("127.0.0.1:0", "127.0.0.1:0"))
	require.NoError(t, s.listeners[1].Close())
	err := s.Serve(t.Context(), http.HandlerFunc(hello))
	require.ErrorIs(t, err, net.ErrClosed)
	assert.ErrorContains(t, err, "serve HTTP on "+s.Addrs()[1].String())
}

func serveSystemdSocket() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := Listen(ctx, Config{SystemdSocket: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test closes it
		cancel()
	}()
	if err := s.Serve(ctx, http.HandlerFunc(hello)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// socketActivated runs this test program as systemd would, with descriptor as its first socket.
func socketActivated(t *testing.T, descriptor *os.File) (c *exec.Cmd, stdin io.Closer, stderr *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	// LISTEN_PID must be the pid of the program itself.
	c = exec.CommandContext(t.Context(), "sh", "-c", `LISTEN_PID=$$ exec "$0"`, self)
	c.Env = append(os.Environ(), "SSDPROBE_TEST_SOCKET=1", "LISTEN_FDS=1")
	c.ExtraFiles = []*os.File{descriptor}
	stderr = &bytes.Buffer{}
	c.Stderr = stderr
	stdin, err = c.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	return c, stdin, stderr
}

func TestSystemdSocket(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	file, err := l.(*net.TCPListener).File()
	require.NoError(t, err)
	c, stdin, stderr := socketActivated(t, file)
	// From now on, only the child accepts.
	require.NoError(t, file.Close())
	require.NoError(t, l.Close())
	body, err := ask("http://" + l.Addr().String())
	require.NoError(t, err)
	assert.Equal(t, "hello", body)
	require.NoError(t, stdin.Close())
	require.NoError(t, c.Wait(), stderr)
}

func TestSystemdSocketOfTheWrongKind(t *testing.T) {
	file, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer file.Close()
	c, stdin, stderr := socketActivated(t, file)
	defer stdin.Close()
	require.Error(t, c.Wait())
	assert.Equal(t, "--web.systemd-socket: socket 1 of 1 is not a stream socket\n", stderr.String())
}
