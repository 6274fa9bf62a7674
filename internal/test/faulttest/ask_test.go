package faulttest_test

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// locked is a daemon with TLS, for 127.0.0.1 and example.com.
type locked struct {
	dir, state, url, certificate, key string
}

// startLocked starts a daemon with a web configuration, in which CERT and KEY stand for files.
func startLocked(t *testing.T, web string) locked {
	t.Helper()
	d := locked{dir: testenv.OnDisk(t), state: t.TempDir()}
	d.certificate, d.key = certificate(t)
	web = strings.NewReplacer("CERT", d.certificate, "KEY", d.key).Replace(web)
	p := start(t, nil, "daemon", "--config", file(t, "ssdprobe.yaml", onFiles(t, d.dir)), "--state-dir", d.state,
		"--web.listen-address", "127.0.0.1:0", "--web.config.file", file(t, "web.yml", web))
	d.url = p.Stdout.Find(t, `status +(https://\S+)/`)[1]
	return d
}

// Every command that asks a daemon over TLS with a password, with correct and with all kinds of
// wrong settings. The error says which flag to give.
func TestCommandsAskADaemonOverTLSWithAPassword(t *testing.T) {
	t.Parallel()
	const password, guess = "correct-horse", "battery-staple"
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	require.NoError(t, err)
	d := startLocked(t, "tls_server_config: {cert_file: CERT, key_file: KEY}\nbasic_auth_users: {me: \""+string(hash)+"\"}\n")
	basic := func(password string) string {
		return "basic_auth: {username: me, password_file: " + file(t, "password", password+"\n") + "}\n"
	}
	right := file(t, "right.yml", basic(password))
	wrong := file(t, "wrong.yml", basic(guess))
	whole := file(t, "whole.yml", basic(password)+"tls_config: {ca_file: "+d.certificate+"}\n")
	named := file(t, "named.yml", basic(password)+"tls_config: {ca_file: "+d.certificate+", server_name: example.com}\n")
	noFile := file(t, "nofile.yml", "basic_auth: {username: me, password_file: /no/such/password}\n")
	badFile := file(t, "bad.yml", "basic_aut: {username: me}\n")
	elsewhere := strings.Replace(d.url, "127.0.0.1", "localhost", 1)
	plain := strings.Replace(d.url, "https://", "http://", 1)
	withUser := strings.Replace(d.url, "https://", "https://me:"+password+"@", 1)

	for name, c := range map[string]struct {
		flags []string
		code  int
		says  string
	}{
		"both":                {[]string{"--ca-file", d.certificate, "--http.config.file", right}, 0, ""},
		"both in a file":      {[]string{"--http.config.file", whole}, 0, ""},
		"by URL":              {[]string{"--http.config.file", whole, "--url", d.url + "/"}, 0, ""},
		"by another name":     {[]string{"--http.config.file", named, "--url", elsewhere}, 0, ""},
		"a wrong password":    {[]string{"--ca-file", d.certificate, "--http.config.file", wrong}, 1, "it answers 401 Unauthorized; it refuses the user or the password, or was given none: want --http.config.file"},
		"no password":         {[]string{"--ca-file", d.certificate}, 1, "want --http.config.file FILE with basic_auth"},
		"no authority":        {[]string{"--http.config.file", right}, 1, "name the certificate of its authority with --ca-file"},
		"a name not its own":  {[]string{"--http.config.file", whole, "--url", elsewhere}, 1, "or server_name under tls_config"},
		"without TLS":         {[]string{"--http.config.file", right, "--url", plain}, 1, "it speaks TLS alone: want --url https://"},
		"no authority's file": {[]string{"--ca-file", "/no/such/ca"}, 2, "/no/such/ca: no such file"},
		"no password's file":  {[]string{"--ca-file", d.certificate, "--http.config.file", noFile}, 1, "/no/such/password: no such file"},
		"no client's file":    {[]string{"--http.config.file", "/no/such/file"}, 2, "--http.config.file /no/such/file: "},
		"a typo in it":        {[]string{"--http.config.file", badFile}, 2, "field basic_aut not found"},
		"a password in sight": {[]string{"--ca-file", d.certificate, "--url", withUser}, 2, "--url: contains a user"},
		"no URL":              {[]string{"--url", "stor-07:10040"}, 2, `"stor-07:10040" is not the URL of a daemon; want one like http://stor-07:10040`},
	} {
		for _, command := range [][]string{{"drift"}, {"drift", "explain", d.dir}, {"ready"}} {
			got := ssdprobe(t, nil, append(append(command, "--state-dir", d.state), c.flags...)...)
			text := name + ": " + strings.Join(command, " ") + "\n" + got.stdout + got.stderr
			if command[0] == "ready" && strings.Contains(name, "password") && c.code == 1 && name != "no password's file" {
				assert.Zero(t, got.code, "%s\nit needs no password", text)
				continue
			}
			assert.Equal(t, c.code, got.code, text)
			assert.Contains(t, got.stderr, c.says, text)
			assert.NotContains(t, got.stdout+got.stderr, password, text)
			assert.NotContains(t, got.stdout+got.stderr, guess, text)
			if c.code == 0 {
				assert.NotEmpty(t, got.stdout, text)
				assert.NotContains(t, got.stderr, "no daemon answers", text)
			}
		}
	}
}

// A daemon that refuses is not taken for one that does not run. The devices are shown all the same.
func TestDevicesSaysThatTheDaemonRefuses(t *testing.T) {
	t.Parallel()
	hash, err := bcrypt.GenerateFromPassword([]byte("correct-horse"), bcrypt.MinCost)
	require.NoError(t, err)
	d := startLocked(t, "tls_server_config: {cert_file: CERT, key_file: KEY}\nbasic_auth_users: {me: \""+string(hash)+"\"}\n")
	devices := func(more ...string) (done, string) {
		got := ssdprobe(t, nil, append([]string{"devices", "--state-dir", d.state}, more...)...)
		return got, strings.Join(strings.Fields(got.stdout), " ")
	}
	for says, flags := range map[string][]string{
		"it answers 401 Unauthorized; it refuses the user or the password, or was given none: want --http.config.file FILE": {"--ca-file", d.certificate},
		"name the certificate of its authority with --ca-file":                                                              nil,
	} {
		got, text := devices(flags...)
		assert.Equal(t, 0, got.code, got.stderr)
		assert.Contains(t, text, "Not from the daemon: ask the daemon at "+d.url)
		assert.Contains(t, text, says)
		assert.Contains(t, text, "the daemon does not say what it watches; one with this configuration would watch")
		assert.NotContains(t, text, "no daemon answers")
		assert.Empty(t, got.stderr)
		document, _ := devices(append(flags, "--output", "json")...)
		assert.Contains(t, document.stdout, `"daemon_problem": "ask the daemon at `)
	}
	wrong, _ := devices("--http.config.file", "/no/such/file")
	assert.Equal(t, 2, wrong.code)
	assert.Empty(t, wrong.stdout)
}

func TestCommandsShowACertificateOfTheirOwn(t *testing.T) {
	t.Parallel()
	d := startLocked(t, "tls_server_config: {cert_file: CERT, key_file: KEY, client_auth_type: RequireAnyClientCert}\n")
	got := ssdprobe(t, nil, "drift", "--state-dir", d.state, "--ca-file", d.certificate)
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "it may want a client certificate: cert_file and key_file under tls_config")
	shown := file(t, "client.yml", "tls_config: {ca_file: "+d.certificate+", cert_file: "+d.certificate+", key_file: "+d.key+"}\n")
	got = ssdprobe(t, nil, "drift", "--state-dir", d.state, "--http.config.file", shown)
	assert.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, d.dir)
}

func TestReadySaysWhenNobodyAnswers(t *testing.T) {
	t.Parallel()
	got := ssdprobe(t, nil, "ready", "--url", "http://127.0.0.1:1")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "connection refused")
	got = ssdprobe(t, nil, "ready", "--url", "http://127.0.0.1:1", "--wait", "600ms")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "connection refused; ")
	assert.Contains(t, got.stderr, "; waited for 600ms")
	got = ssdprobe(t, nil, "ready", "--wait", "soon")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, `--wait: "soon" is not a duration`)
	// An IPv6 address in the form of a Kubernetes variable.
	got = ssdprobe(t, nil, "ready", "--url", "http://::1:1")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "ask the daemon at http://[::1]:1: ")
}

// As after an installation: the command runs before the daemon is up.
func TestReadyWaits(t *testing.T) {
	t.Parallel()
	dir, state := testenv.OnDisk(t), t.TempDir()
	free, err := net.Listen("tcp", "127.0.0.2:0") // where no other program looks for a free port meanwhile
	require.NoError(t, err)
	address := free.Addr().String()
	require.NoError(t, free.Close())
	asking := start(t, nil, "ready", "--url", "http://"+address, "--wait", "2m")
	start(t, nil, "daemon", "--config", file(t, "ssdprobe.yaml", onFiles(t, dir)), "--state-dir", state, "--web.listen-address", address)
	assert.Zero(t, asking.Wait(t), asking.Stderr.Text())
	assert.Contains(t, asking.Stdout.Text(), "http://"+address+": ")
}

// In a pod, a variable set by the DaemonSet names the node, and kubectl exec passes it on. The host
// name is that of the pod.
func TestVariablesOfAPod(t *testing.T) {
	t.Parallel()
	dir := testenv.OnDisk(t)
	named := file(t, "ssdprobe.yaml", "lock_dir: "+t.TempDir()+"\nnode: from-file\nadmission: {max_cpu_wait: 1, max_io_pressure: 1, max_utilisation: 1}\n")
	run := func(environment []string, more ...string) string {
		t.Helper()
		got := ssdprobe(t, environment, append([]string{
			"run", "--config", named, "--state-dir", t.TempDir(), "--target", dir, "--size", "16MiB", "--rounds", "1", "--probe", "read-4k", "--output", "json", "--even-if-busy",
		}, more...)...)
		require.Zero(t, got.code, got.stderr)
		return got.stdout
	}
	assert.Contains(t, run(nil), `"node": "from-file"`)
	assert.Contains(t, run([]string{"SSDPROBE_NODE=stor-07"}), `"node": "stor-07"`)
	assert.Contains(t, run([]string{"SSDPROBE_NODE=stor-07"}, "--node", "by-flag"), `"node": "by-flag"`)
	got := ssdprobe(t, []string{"SSDPROBE_CONFIG=" + named}, "config", "show")
	assert.Contains(t, got.stdout, "node: from-file\n", got.stderr)
	got = ssdprobe(t, []string{"SSDPROBE_CONFIG=" + named}, "config", "show", "--config", file(t, "other.yaml", "node: by-flag\n"))
	assert.Contains(t, got.stdout, "node: by-flag\n", got.stderr)
	got = ssdprobe(t, []string{"SSDPROBE_NODE=a\nb"}, "config", "show")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, `SSDPROBE_NODE: node: "a\nb" has characters that cannot be printed`)
}
