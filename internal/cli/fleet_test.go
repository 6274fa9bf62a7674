package cli_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// fleetAt is the time at which tests look at the fleet of fleetServer.
var fleetAt = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// fleetServer starts a Prometheus server that knows three drives of two models, the last one being the worst,
// and returns its address.
func fleetServer(t *testing.T) string {
	t.Helper()
	testenv.Installed(t, "promtool")
	var all strings.Builder
	put := func(name, labels string, value float64) {
		fmt.Fprintf(&all, "%s{%s} %g %d\n", name, labels, value, fleetAt.Unix())
	}
	labels := func(i int) string { return fmt.Sprintf(`instance="stor-%d",device="nvme0n1",id="eui.%d"`, i, i) }
	for i, state := range []string{"healthy", "degraded", "severe"} {
		put("ssdprobe_drive_health", labels(i)+fmt.Sprintf(",state=%q", state), 1)
	}
	for i, model := range []string{"PM9A3", "PM9A3", "970 PRO"} {
		put("ssdprobe_device_info", labels(i)+fmt.Sprintf(`,kind="disk",firmware="A",model=%q`, model), 1)
	}
	for name, of := range map[string]func(i float64) float64{
		"ssdprobe_drive_health_slower_ratio":            func(i float64) float64 { return i },
		"ssdprobe_drive_health_slower_ratio_lower":      func(i float64) float64 { return i - 0.1 },
		"ssdprobe_drive_health_slower_ratio_upper":      func(i float64) float64 { return i + 0.2 },
		"ssdprobe_drive_health_since_timestamp_seconds": func(i float64) float64 { return float64(fleetAt.Unix()) - i*24*3600 },
	} {
		for i := range 2 {
			put(name, labels(i+1), of(float64(i+1)))
		}
	}
	return promtest.StartWith(t, all.String()+"# EOF\n").URL
}

func TestFleetThroughPrometheus(t *testing.T) {
	server := fleetServer(t)
	run := func(args ...string) done {
		return in(append([]string{"fleet", "--prometheus", server, "--at", fleetAt.Format(time.RFC3339)}, args...)...)
	}
	text := run()
	require.Equal(t, 0, text.code, text.stderr)
	assert.Contains(t, text.stdout, "3 drives on 3 nodes")
	assert.Contains(t, text.stdout, "2.00× (1.90× to 2.20×)")
	assert.Less(t, strings.Index(text.stdout, "stor-2"), strings.Index(text.stdout, "stor-1"), "the worst first")
	assert.NotContains(t, text.stdout, "stor-0")
	assert.Contains(t, run("--all").stdout, "stor-0")
	recent := run("--since", "36h", "--output", "csv")
	require.Equal(t, 0, recent.code, recent.stderr)
	assert.Equal(t, 2, strings.Count(recent.stdout, "\n"), "the header, and the drive that got slow a day ago: %s", recent.stdout)
	assert.Contains(t, recent.stdout, ",verdict,ratio,ratio_lower,ratio_upper,since,")
	assert.Contains(t, recent.stdout, "stor-1,nvme0n1,eui.1,disk,PM9A3,A,degraded,1,0.9,1.2,")
	assert.Contains(t, run("--output", "json").stdout, `"verdict": "severe"`)

	chosen := run("--model", "970 PRO", "--all")
	require.Equal(t, 0, chosen.code, chosen.stderr)
	assert.Contains(t, chosen.stdout, "1 drive on 1 node at 2026-05-04 12:00:00 +00:00: 1 severe\n")
	assert.NotContains(t, chosen.stdout, "PM9A3", "neither its drives nor the model")
	none := run("--model", "970")
	assert.Equal(t, 0, none.code, none.stderr)
	assert.Contains(t, none.stdout, "No drive matches: without --model and --since, all drives are listed.")

	nothing := in("fleet", "--prometheus", server, "--at", "2026-04-01T00:00:00Z")
	assert.Equal(t, 1, nothing.code)
	assert.Contains(t, nothing.stderr, "no series ssdprobe_drive_health at 2026-04-01 00:00:00 +00:00: does this server scrape ssdprobe?")

	ever := run("--since", "0s")
	assert.Equal(t, 2, ever.code, ever.stdout)
	assert.Contains(t, ever.stderr, `--since: "0s" is too short; want more, e.g. 1d`)
}

// A CSV has no place for the warnings of a server and for nodes that do not answer, and a missing line shows nowhere.
func TestFleetTellsThatACSVIsIncomplete(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		result := ""
		switch query := r.FormValue("query"); {
		case strings.Contains(query, "last_over_time(ssdprobe_build_info[1d])"):
			result = `{"metric": {"instance": "b:1"}, "value": [3600, "1"]}, {"metric": {"instance": "c:1"}, "value": [3600, "1"]}`
		case strings.Contains(query, "(ssdprobe_drive_health) == 1"):
			result = `{"metric": {"instance": "a:1", "device": "nvme0n1", "id": "eui.1", "state": "healthy"}, "value": [3600, "1"]}`
		}
		fmt.Fprintf(w, `{"status": "success", "warnings": ["store b is away"], "data": {"resultType": "vector", "result": [%s]}}`, result)
	}))
	defer server.Close()
	got := in("fleet", "--prometheus", server.URL, "--output", "csv")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Equal(t, 2, strings.Count(got.stdout, "\n"), got.stdout)
	assert.Equal(t, "the answer may be incomplete: store b is away\nno answer now, but a daemon ran within the last day: b:1, c:1\n", got.stderr)
}

// A proxy in front of Prometheus uses TLS with its own certificate and requires a token.
func TestFleetBehindAProxy(t *testing.T) {
	server, err := url.Parse(fleetServer(t))
	require.NoError(t, err)
	behind := httputil.NewSingleHostReverseProxy(server)
	proxy := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer right-token" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		behind.ServeHTTP(w, r)
	}))
	proxy.Config.ErrorLog = log.New(io.Discard, "", 0) // errors of clients that do not trust it
	defer proxy.Close()
	ca := file(t, "ca.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: proxy.Certificate().Raw})))
	client := func(token string) string {
		return file(t, "client.yml", "authorization: {credentials_file: "+file(t, "token", token+"\n")+"}\n")
	}
	right := client("right-token")
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"token and authority":          {[]string{"--ca-file", ca, "--http.config.file", right}, 0, ""},
		"authority in the same file":   {[]string{"--http.config.file", file(t, "all.yml", "authorization: {credentials: right-token}\ntls_config: {ca_file: "+ca+"}\n")}, 0, ""},
		"another token":                {[]string{"--ca-file", ca, "--http.config.file", client("wrong-token")}, 1, "it answers 401 Unauthorized (who are you?); want --http.config.file FILE"},
		"no token":                     {[]string{"--ca-file", ca}, 1, "it answers 401 Unauthorized (who are you?); want --http.config.file FILE"},
		"a path that is none":          {[]string{"--ca-file", ca, "--http.config.file", right, "--prometheus", proxy.URL + "/none"}, 1, "it answers 404 Not Found (404 page not found)"},
		"a proxy that is away":         {[]string{"--ca-file", ca, "--http.config.file", file(t, "proxy.yml", "proxy_url: http://127.0.0.1:1\n")}, 1, "its proxy does not answer: dial tcp 127.0.0.1:1: connect: connection refused; the file of --http.config.file names it"},
		"no authority":                 {[]string{"--http.config.file", right}, 1, "name the certificate of its authority with --ca-file"},
		"an authority that is no file": {[]string{"--ca-file", "/no/such/ca", "--http.config.file", right}, 2, "--ca-file: open /no/such/ca: no such file"},
		"an authority that is none":    {[]string{"--ca-file", right, "--http.config.file", right}, 2, "--ca-file: no certificate in " + right},
	} {
		t.Run(name, func(t *testing.T) {
			got := in(append([]string{"fleet", "--prometheus", proxy.URL, "--at", fleetAt.Format(time.RFC3339)}, c.args...)...)
			assert.Equal(t, c.code, got.code, got.stderr)
			assert.Contains(t, got.stderr, c.says)
			assert.Equal(t, c.code == 0, strings.Contains(got.stdout, "3 drives on 3 nodes"), got.stdout)
			assert.NotContains(t, got.stderr, "-token")
		})
	}
}

func TestFleetRefusesWrongUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"--prometheus: is missing":                     {},
		`"prometheus:9090" is not the URL of a server`: {"--prometheus", "prometheus:9090"},
		`"…@[::1" is not the URL of a server`:          {"--prometheus", "http://me:secret@[::1"},
		"contains a user,":                             {"--prometheus", "http://me:secret@localhost"},
		"--since":                                      {"--prometheus", "http://localhost", "--since", "soon"},
		`--at: "soon" is not a time`:                   {"--prometheus", "http://localhost", "--at", "soon"},
		"unexpected argument":                          {"nvme0n1", "--prometheus", "http://localhost"},
	} {
		refused := in(append([]string{"fleet"}, args...)...)
		assert.Equal(t, 2, refused.code, "%v: %s", args, refused.stderr)
		assert.Contains(t, refused.stderr, want)
		assert.NotContains(t, refused.stderr, "secret")
	}
	away := in("fleet", "--prometheus", "http://127.0.0.1:1")
	assert.Equal(t, 1, away.code)
	assert.Contains(t, away.stderr, "ask for the fleet: http://127.0.0.1:1")
}

// The header of a tenant and a password from a file reach the server.
func TestFleetOfATenant(t *testing.T) {
	var tenant, user atomic.Value
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := r.BasicAuth()
		tenant.Store(r.Header.Get("X-Scope-OrgID"))
		user.Store(name)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer s.Close()
	config := file(t, "client.yml", "basic_auth: {username: storage, password: secret}\nhttp_headers: {X-Scope-OrgID: {values: [nodes]}}\n")
	refused := in("fleet", "--prometheus", s.URL, "--http.config.file", config)
	assert.Equal(t, 1, refused.code)
	assert.NotContains(t, refused.stderr, "secret")
	assert.Equal(t, "nodes", tenant.Load())
	assert.Equal(t, "storage", user.Load())
}
