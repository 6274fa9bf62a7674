package web

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
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

// webConfig writes a web config file and, next to it, a certificate for 127.0.0.1.
func webConfig(t *testing.T, text string) (path string, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	certificate := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ssdprobe test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, certificate, certificate, &key.PublicKey, key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	write("cert.pem", public)
	write("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
	roots = x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(public))
	return write("web.yml", []byte(text)), roots
}

func TestTLSAndBasicAuth(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	require.NoError(t, err)
	path, roots := webConfig(t, `
tls_server_config: {cert_file: cert.pem, key_file: key.pem}
basic_auth_users: {prometheus: "`+string(hash)+`"}
http_server_config:
  headers: {X-Frame-Options: sameorigin}
`)
	c := config("127.0.0.1:0", "127.0.0.1:0")
	c.WebConfigFile = path
	s := listen(t, c)
	h := handler{Options: Options{Log: c.Log}, pages: newPages()}
	stop := running(t, s, h.secured(http.HandlerFunc(hello)).ServeHTTP)

	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	for _, url := range s.URLs() {
		require.True(t, strings.HasPrefix(url, "https://127.0.0.1:"), url)
		for _, name := range []string{"nobody", ""} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
			require.NoError(t, err)
			r.SetBasicAuth(name, "secret")
			response, err := client.Do(r)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.Equal(t, http.StatusUnauthorized, response.StatusCode, "name %q", name)
		}
		for password, want := range map[string]int{"secret": http.StatusOK, "wrong": http.StatusUnauthorized, "": http.StatusUnauthorized} {
			got := askAs(t, client, url, password)
			assert.Equal(t, want, got.code, "password %q", password)
			assert.Equal(t, "HTTP/2.0", got.proto)
			if want == http.StatusOK {
				assert.Equal(t, "hello", got.body)
				assert.Equal(t, []string{"sameorigin"}, got.header["X-Frame-Options"], "the operator's header stays")
			} else {
				assert.NotContains(t, got.body, "hello")
			}
		}
		plain, err := ask("http" + strings.TrimPrefix(url, "https"))
		require.NoError(t, err)
		assert.Equal(t, "Client sent an HTTP request to an HTTPS server.\n", plain)
	}
	client.CloseIdleConnections()
	require.NoError(t, stop())
}

// For an unknown name, the toolkit compares with a hash of cost 10. With disguise it never sees an unknown name: it
// gets a known one, and compares with that one's hash.
func TestAWrongNameIsAWrongPassword(t *testing.T) {
	path := filepath.Join(t.TempDir(), "web.yml")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	u := newUsers(path)
	asked := func(name, password string) [2]string {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.SetBasicAuth(name, password)
		name, password, _ = u.disguise(r).BasicAuth()
		return [2]string{name, password}
	}
	write("basic_auth_users: {prometheus: x, grafana: y}\n")
	assert.Equal(t, [2]string{"prometheus", "p"}, asked("prometheus", "p"), "what is known is passed on")
	names := map[string]bool{}
	passwords := map[string]bool{}
	for i := range 100 {
		wrong := fmt.Sprintf("nobody-%d", i)
		got := asked(wrong, "p")
		names[got[0]] = true
		passwords[got[1]] = true
		assert.Equal(t, got, asked(wrong, "p"), "the same is remembered as the same")
		other := asked(wrong, "q")
		assert.Equal(t, got[0], other[0], "a name has the cost of one hash")
		assert.NotEqual(t, got[1], other[1])
	}
	assert.Equal(t, map[string]bool{"prometheus": true, "grafana": true}, names)
	assert.Len(t, passwords, 100)
	assert.NotContains(t, passwords, "p")
	assert.NotEqual(t, asked("nobody", "p")[1], func() string { u = newUsers(path); return asked("nobody", "p")[1] }(), "nobody can foresee it")

	seen := ""
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen, _, _ = r.BasicAuth() })}
	beforeToolkit(server, http.HandlerFunc(hello), u)
	server.BaseContext(nil)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
	request.SetBasicAuth("nobody", "p")
	server.Handler.ServeHTTP(httptest.NewRecorder(), request)
	assert.Contains(t, names, seen, "what the toolkit sees")

	write("basic_auth_users: {new: x}\n")
	assert.Equal(t, "new", asked("prometheus", "p")[0], "the file is read again")
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	assert.Same(t, r, u.disguise(r), "no name at all")
	for _, text := range []string{"", "{"} {
		write(text)
		assert.Equal(t, [2]string{"nobody", "p"}, asked("nobody", "p"))
	}
}

// answer is what a client sees.
type answer struct {
	code        int
	proto, body string
	header      http.Header
}

// askAs sends a request with a password, or without authentication if it is "".
func askAs(t *testing.T, client *http.Client, url, password string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	if password != "" {
		r.SetBasicAuth("prometheus", password)
	}
	response, err := client.Do(r)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return answer{code: response.StatusCode, proto: response.Proto, body: string(body), header: response.Header}
}

// The kubelet has no password, and restarts a pod that does not answer it.
func TestHealthAsksForNoPassword(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	require.NoError(t, err)
	for name, encryption := range map[string]string{"plain": "", "TLS": "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n"} {
		t.Run(name, func(t *testing.T) {
			path, roots := webConfig(t, encryption+"basic_auth_users: {prometheus: \""+string(hash)+"\"}\n"+
				"rate_limit: {interval: 1h, burst: 7}\n") // for the requests that are refused
			c := config("127.0.0.1:0")
			c.WebConfigFile = path
			s := listen(t, c)
			stop := running(t, s, Handler(Options{
				Snapshot: recordtest.Snapshot, Metrics: prometheus.NewPedanticRegistry(), Log: c.Log,
				Ready: func() error { return errors.New("devices are being discovered") },
			}).ServeHTTP)
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
			defer client.CloseIdleConnections()
			get := func(path, password string) (int, string) {
				got := askAs(t, client, s.URLs()[0]+path, password)
				return got.code, got.body
			}
			for _, path := range []string{"", "metrics", "api/v1/status", "-/healthy/", "-/ready/../../metrics", "-//healthy", "no/such/page"} {
				status, body := get(path, "")
				assert.Equal(t, http.StatusUnauthorized, status, path)
				assert.Equal(t, "Unauthorized\n", body, path)
			}
			for range 10 { // without a rate limit
				for _, password := range []string{"", "wrong", "secret"} {
					status, body := get("-/healthy", password)
					assert.Equal(t, http.StatusOK, status)
					assert.Equal(t, "healthy\n", body)
				}
			}
			status, body := get("-/ready", "")
			assert.Equal(t, http.StatusServiceUnavailable, status)
			assert.Equal(t, "not ready: devices are being discovered\n", body)
			client.CloseIdleConnections()
			require.NoError(t, stop())
		})
	}
}

func TestABadWebConfigIsRefusedAtStart(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":      {"basic_auth: {}", "field basic_auth not found"},
		"no certificate":   {"tls_server_config: {cert_file: missing.pem, key_file: key.pem}", "missing.pem"},
		"no key":           {"tls_server_config: {cert_file: cert.pem}", "missing one of key or key_file"},
		"a plain password": {"basic_auth_users: {me: secret}", "hashedSecret too short"},
		"not YAML":         {"{", "did not find expected node content"},
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := webConfig(t, c.text)
			bad := config("127.0.0.1:0")
			bad.WebConfigFile = path
			_, err := Listen(t.Context(), bad)
			require.ErrorContains(t, err, c.want)
			assert.ErrorContains(t, err, "web config file "+path+" (--web.config.file): ")
		})
	}
}

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
	entered, leave := make(chan struct{}), make(chan struct{})
	stop := running(t, s, func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-leave
		hello(w, r)
	})
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
	entered, leave := make(chan struct{}), make(chan struct{})
	stop := running(t, s, func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-leave
		hello(w, r)
	})
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
