package web

import (
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
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

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
	for name, c := range map[string]struct {
		text, want string
		later      bool // whether it may be well later, without a change of the file
	}{
		"unknown key":       {"basic_auth: {}", "field basic_auth not found", false},
		"no certificate":    {"tls_server_config: {cert_file: missing.pem, key_file: key.pem}", "missing.pem", true},
		"no client CA":      {"tls_server_config: {cert_file: cert.pem, key_file: key.pem, client_ca_file: missing.pem}", "missing.pem", true},
		"not a key":         {"tls_server_config: {cert_file: cert.pem, key_file: cert.pem}", "key", true},
		"not a key, inline": {"tls_server_config: {cert_file: cert.pem, key: missing.pem}", "X509KeyPair", false},
		"no key":            {"tls_server_config: {cert_file: cert.pem}", "missing one of key or key_file", false},
		"a plain password":  {"basic_auth_users: {me: secret}", "hashedSecret too short", false},
		"not YAML":          {"{", "did not find expected node content", false},
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := webConfig(t, c.text)
			bad := config("127.0.0.1:0")
			bad.WebConfigFile = path
			_, err := Listen(t.Context(), bad)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "web config file "+path+" (--web.config.file): ")
			assert.Equal(t, c.later, !errors.As(err, new(*ConfigError)))
		})
	}
}
