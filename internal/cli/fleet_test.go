package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/promtest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func TestFleetThroughPrometheus(t *testing.T) {
	testenv.Installed(t, "promtool")
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	var health, ratio, since strings.Builder
	for i, state := range []string{"healthy", "degraded", "severe"} {
		labels := fmt.Sprintf(`instance="stor-%d",device="nvme0n1",id="eui.%d"`, i, i)
		fmt.Fprintf(&health, "ssdprobe_drive_health{%s,state=%q} 1 %d\n", labels, state, at.Unix())
		if state != "healthy" {
			fmt.Fprintf(&ratio, "ssdprobe_drive_health_slower_ratio{%s} %d %d\n", labels, i, at.Unix())
			fmt.Fprintf(&since, "ssdprobe_drive_health_since_timestamp_seconds{%s} %d %d\n", labels, at.Add(-time.Duration(i)*24*time.Hour).Unix(), at.Unix())
		}
	}
	s := promtest.StartWith(t, health.String()+ratio.String()+since.String()+"# EOF\n")
	run := func(args ...string) done {
		return in(append([]string{"fleet", "--prometheus", s.URL, "--at", at.Format(time.RFC3339)}, args...)...)
	}
	text := run()
	require.Equal(t, 0, text.code, text.stderr)
	assert.Contains(t, text.stdout, "3 drives on 3 nodes")
	assert.Less(t, strings.Index(text.stdout, "stor-2"), strings.Index(text.stdout, "stor-1"), "the worst first")
	assert.NotContains(t, text.stdout, "stor-0")
	assert.Contains(t, run("--all").stdout, "stor-0")
	recent := run("--since", "36h", "--output", "csv")
	require.Equal(t, 0, recent.code, recent.stderr)
	assert.Equal(t, 2, strings.Count(recent.stdout, "\n"), "the header, and the drive that got slow a day ago: %s", recent.stdout)
	assert.Contains(t, recent.stdout, "stor-1,")
	assert.Contains(t, run("--output", "json").stdout, `"verdict": "severe"`)
	nothing := in("fleet", "--prometheus", s.URL, "--at", "2026-04-01T00:00:00Z")
	assert.Equal(t, 1, nothing.code)
	assert.Contains(t, nothing.stderr, "does this server scrape ssdprobe?")
}

func TestFleetRefusesWrongUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"--prometheus: is missing":                     {},
		`"prometheus:9090" is not the URL of a server`: {"--prometheus", "prometheus:9090"},
		"has a user in it":                             {"--prometheus", "http://me:secret@localhost"},
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

// A tenant's header and a password reach the server, from a file.
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
