package faulttest_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// A daemon requires a password over TLS; one client knows it, others guess. No secret is in what
// the daemon shows or logs, even at the most verbose level.
func TestSecretsAreNotTold(t *testing.T) {
	t.Parallel()
	const password, guess = "correct-horse", "battery-staple"
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	require.NoError(t, err)
	certificate, key := certificate(t)
	web := file(t, "web.yml", "tls_server_config: {cert_file: "+certificate+", key_file: "+key+"}\n"+
		"basic_auth_users: {prometheus: \""+string(hash)+"\"}\n")
	dir := testenv.OnDisk(t)
	p := start(t, nil, "daemon", "--config", file(t, "ssdprobe.yaml", onFiles(t, dir)), "--state-dir", t.TempDir(),
		"--web.listen-address", "127.0.0.1:0", "--web.config.file", web, "--log.level", "debug")
	url := p.Stdout.Find(t, `status +(https://\S+/)`)[1]
	// A common client, with its own implementation of TLS.
	curl := func(path string, more ...string) string {
		t.Helper()
		return outside(t, "curl", append([]string{"-sS", "--cacert", certificate, "-w", "\n%{http_code}", url + path}, more...)...)
	}
	measured := regexp.MustCompile(`(?m)^ssdprobe_probe_rounds_total\{.*outcome="ok".*\} [1-9]`)
	eventually(t, "a round is measured", func() bool {
		return measured.MatchString(curl("metrics", "--user", "prometheus:"+password))
	})

	var told strings.Builder
	for _, path := range []string{"", "metrics", "api/v1/snapshot", "api/v1/devices/" + fileID(dir), "no/such/page"} {
		answer := curl(path, "--user", "prometheus:"+password)
		assert.NotRegexp(t, `\n401$`, answer, path)
		told.WriteString(answer)
		for _, guessing := range [][]string{
			nil, {"--user", "prometheus:" + guess}, {"--user", guess + ":" + password}, {"--header", "Authorization: Bearer " + guess},
		} {
			refused := curl(path, guessing...)
			assert.Regexp(t, `\n401$`, refused, "%s %v", path, guessing)
			assert.NotContains(t, refused, "ssdprobe_", path)
			told.WriteString(refused)
		}
	}
	p.Signal(t, syscall.SIGTERM)
	assert.Zero(t, p.Wait(t))
	told.WriteString(p.Stdout.Text() + p.Stderr.Text())
	for _, secret := range append([]string{
		password, guess, string(hash), base64.StdEncoding.EncodeToString([]byte("prometheus:" + password)),
	}, secretLines(t, key)...) {
		assert.NotContains(t, told.String(), secret)
	}
}

// certificate writes a certificate for 127.0.0.1 and its key.
func certificate(t *testing.T) (path, key string) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	own := server.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	require.NoError(t, err)
	return file(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]}))),
		file(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
}

// secretLines returns the secret lines of a key.
func secretLines(t *testing.T, key string) []string {
	t.Helper()
	text, err := os.ReadFile(key)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Greater(t, len(lines), 3)
	return lines[1 : len(lines)-1]
}
