package web_test

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	neturl "net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/web"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to make it")
	assert.Equal(t, string(want), got)
}

// options returns options that show the fixture; a test may change them.
func options() web.Options {
	return web.Options{
		Snapshot: recordtest.Snapshot, Metrics: prometheus.NewPedanticRegistry(), Version: "1.2.3", Log: slog.New(slog.DiscardHandler),
	}
}

func serve(t *testing.T, o web.Options) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(web.Handler(o))
	t.Cleanup(server.Close)
	return server
}

// answer is a response that has been read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

func request(t *testing.T, client *http.Client, method, url string, header http.Header) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	require.NoError(t, err)
	r.Header = header
	response, err := client.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return answer{response.StatusCode, response.Header, string(body)}
}

func get(t *testing.T, url string) answer {
	t.Helper()
	return request(t, http.DefaultClient, http.MethodGet, url, nil)
}

// pages returns the status page and the pages of all targets.
func pages(t *testing.T, url string) string {
	t.Helper()
	all := get(t, url+"/").body
	for _, target := range decode[record.Snapshot](t, get(t, url+"/api/v1/snapshot")).Targets {
		all += devicePage(t, url, target.ID)
	}
	return all
}

// devicePage returns the page of a target.
func devicePage(t *testing.T, url, id string, query ...string) string {
	t.Helper()
	got := get(t, url+"/devices/"+escaped(id)+strings.Join(query, ""))
	require.Equal(t, http.StatusOK, got.status, got.body)
	return got.body
}

func escaped(id string) string { return (&neturl.URL{Path: id}).EscapedPath() }

func decode[T any](t *testing.T, a answer) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal([]byte(a.body), &v), a.body)
	return v
}

func routes() map[string]string {
	return map[string]string{
		"/":                                    "text/html; charset=utf-8",
		"/devices/" + recordtest.FileID:        "text/html; charset=utf-8",
		"/metrics":                             "text/plain; version=0.0.4; charset=utf-8; escaping=underscores",
		"/-/healthy":                           "text/plain; charset=utf-8",
		"/-/ready":                             "text/plain; charset=utf-8",
		"/api/v1/status":                       "application/json",
		"/api/v1/devices":                      "application/json",
		"/api/v1/drift":                        "application/json",
		"/api/v1/baselines":                    "application/json",
		"/api/v1/snapshot":                     "application/json",
		"/api/v1/devices/" + recordtest.FileID: "application/json",
		"/api/v1/devices/" + recordtest.HealthyID: "application/json",
	}
}

func TestEveryRoute(t *testing.T) {
	server := serve(t, options())
	for path, contentType := range routes() {
		t.Run(path, func(t *testing.T) {
			got := get(t, server.URL+path)
			assert.Equal(t, http.StatusOK, got.status)
			assert.Equal(t, contentType, got.header.Get("Content-Type"))
			assert.NotEmpty(t, got.body)
			assert.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
			assert.Equal(t, "no-referrer", got.header.Get("Referrer-Policy"))
			assert.Equal(t, "no-store", got.header.Get("Cache-Control"))
			policy := got.header.Get("Content-Security-Policy")
			assert.Contains(t, policy, "default-src 'none'; style-src 'sha256-")
			assert.Contains(t, policy, "frame-ancestors 'none'")

			head := request(t, http.DefaultClient, http.MethodHead, server.URL+path, nil)
			assert.Equal(t, http.StatusOK, head.status)
			assert.Equal(t, contentType, head.header.Get("Content-Type"))
			assert.Empty(t, head.body)
		})
	}
}

func TestErrorsAreJSON(t *testing.T) {
	server := serve(t, options())
	nothing := map[string]any{"status": 404.0, "error": "nothing is here; / is the status page, and JSON is at /api/v1/ plus status, health (the verdicts), " +
		"devices, drift, baselines, recordings, snapshot, devices/ID, explain/ID, history/ID or recordings/ID"}
	noTarget := map[string]any{"status": 404.0, "error": "no target has this id; /api/v1/devices lists them"}
	readOnly := map[string]any{"status": 405.0, "error": "only GET and HEAD: nothing can be changed or started over HTTP"}
	for _, c := range []struct {
		method, path string
		want         map[string]any
	}{
		{http.MethodGet, "/favicon.ico", nothing},
		{http.MethodGet, "/metrics/", nothing},
		{http.MethodGet, "/api/v1/", nothing},
		{http.MethodGet, "/api/v2/status", nothing},
		{http.MethodGet, "/%3Cscript%3Ealert(1)%3C/script%3E", nothing},
		{http.MethodGet, "/api/v1/devices/", noTarget},
		{http.MethodGet, "/api/v1/devices/nvme9n9", noTarget},
		{http.MethodGet, "/api/v1/devices/%22%3E%3Cscript%3E", noTarget},
		{http.MethodPost, "/", readOnly},
		{http.MethodPost, "/metrics", readOnly},
		{http.MethodPut, "/api/v1/status", readOnly},
		{http.MethodDelete, "/api/v1/baselines", readOnly},
		{http.MethodOptions, "/api/v1/status", readOnly},
		{http.MethodTrace, "/nowhere", readOnly},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			got := request(t, http.DefaultClient, c.method, server.URL+c.path, nil)
			assert.Equal(t, c.want, decode[map[string]any](t, got))
			assert.EqualValues(t, c.want["status"], got.status)
			assert.Equal(t, "application/json", got.header.Get("Content-Type"))
			if got.status == http.StatusMethodNotAllowed {
				assert.Equal(t, "GET, HEAD", got.header.Get("Allow"))
			}
		})
	}
}

func TestReadiness(t *testing.T) {
	o := options()
	var notReady error
	o.Ready = func() error { return notReady }
	o.Snapshot = func() record.Snapshot {
		s := recordtest.Snapshot()
		if notReady != nil {
			s.NotReady = notReady.Error()
		}
		return s
	}
	server := serve(t, o)

	notReady = errors.New("devices are being discovered")
	got := get(t, server.URL+"/-/ready")
	assert.Equal(t, http.StatusServiceUnavailable, got.status)
	assert.Equal(t, "not ready: devices are being discovered\n", got.body)
	assert.Equal(t, http.StatusOK, get(t, server.URL+"/-/healthy").status, "alive all the same")
	shows(t, get(t, server.URL+"/").body, "not ready: devices are being discovered")
	assert.Contains(t, get(t, server.URL+"/api/v1/status").body, `"ready": false`)

	notReady = nil
	got = get(t, server.URL+"/-/ready")
	assert.Equal(t, http.StatusOK, got.status)
	assert.Equal(t, "ready\n", got.body)
	assert.Contains(t, get(t, server.URL+"/api/v1/status").body, `"ready": true`)
}

func TestAnAnswerThatCannotBeMadeIsAnError(t *testing.T) {
	o := options()
	o.Snapshot = func() record.Snapshot {
		s := recordtest.Snapshot()
		s.Time = s.Time.AddDate(10000, 0, 0) // RFC 3339 has four digits for a year
		return s
	}
	got := get(t, serve(t, o).URL+"/api/v1/drift")
	assert.Equal(t, http.StatusInternalServerError, got.status)
	assert.JSONEq(t, `{"status": 500, "error": "ssdprobe could not make this answer; its log says why"}`, got.body)
}
