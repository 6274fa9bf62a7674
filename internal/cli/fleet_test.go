package cli_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// lostCluster is a kubeconfig of an API server that is not there.
func lostCluster(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return kubeconfig(t, "http://"+l.Addr().String())
}

// kubeconfig is that of a cluster whose API server is at a URL.
func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	return file(t, "kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: lost
contexts: [{name: lost, context: {cluster: lost, namespace: ssdprobe, user: nobody}}]
clusters: [{name: lost, cluster: {server: %q}}]
users: [{name: nobody, user: {}}]
`, url))
}

// lease is what an API server is asked for, as far as it matters to one.
type lease struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Spec       map[string]any `json:"spec"`
}

// leases answers as an API server does that has one client, as long as it is up.
type leases struct {
	mu   sync.Mutex
	kept map[string]lease
	down bool
	// diesWhen a Lease is written that says so; never when it is nil.
	diesWhen func(holder string) bool
}

func (l *leases) set(change func(*leases)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l)
}

func (l *leases) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		panic(http.ErrAbortHandler) // the connection breaks
	}
	name := path.Base(r.URL.Path)
	if r.Method != http.MethodGet {
		var written lease
		if err := json.NewDecoder(r.Body).Decode(&written); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		holder, _ := written.Spec["holderIdentity"].(string)
		if l.diesWhen != nil && l.diesWhen(holder) {
			l.down = true
			panic(http.ErrAbortHandler)
		}
		name, _ = written.Metadata["name"].(string)
		written.Metadata["resourceVersion"] = "1"
		l.kept[name] = written
	}
	kept, found := l.kept[name]
	if !found {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(kept) // a client that has gone asks again
}

// A dead API server shows while a permit is held and when it is given back, long before
// anything else asks: the next check is ten minutes away.
func TestHoldersOfAPermitTellThatTheAPIServerIsDead(t *testing.T) {
	t.Parallel()
	api := &leases{kept: map[string]lease{}}
	server := httptest.NewServer(api)
	defer server.Close()
	dir := testenv.OnDisk(t)
	p, url := startDaemon(t, t.TempDir(), file(t, "c.yaml", onFile(dir)+`
runs: [{suite: quick, schedule: "* * * * *", set: [time=5s], window: 1h, max_cpu_pressure: 1, max_others: 1}]
`+fmt.Sprintf("fleet: {enabled: true, kubeconfig: %s, lease_duration: 12s}\n", kubeconfig(t, server.URL))))
	reached := func() bool {
		ok, found := value(scrape(t, url), "ssdprobe_collector_success", map[string]string{"collector": "fleet"})
		require.True(t, found)
		return ok == 1
	}
	runs := func() bool {
		n, _ := value(scrape(t, url), "ssdprobe_run_in_progress", map[string]string{"suite": "quick"})
		return n == 1
	}
	eventually(t, "a run", runs)
	require.True(t, reached())

	api.set(func(l *leases) { l.down = true })
	eventually(t, "the permit cannot be renewed", func() bool { return !reached() })
	assert.True(t, runs(), "which shows before it is lost")
	p.Stderr.Find(t, "the API server cannot be asked for permits to run.*renew lease ssdprobe-run-0")
	api.set(func(l *leases) { l.down = false })
	eventually(t, "it is renewed again", reached)

	api.set(func(l *leases) { l.diesWhen = func(holder string) bool { return holder == "" } })
	eventually(t, "the permit cannot be given back", func() bool { return !reached() })
	p.Stderr.Find(t, "the API server cannot be asked for permits to run.*release lease ssdprobe-run-0")
}

// What the API server has to do with it is tested by `make test-kubernetes`.
func TestNoRunBeginsWithoutTheAPIServer(t *testing.T) {
	t.Parallel()
	state, dir := testenv.OnDisk(t), testenv.OnDisk(t)
	p, url := startDaemon(t, state, file(t, "c.yaml", onFile(dir)+everyMinute+
		fmt.Sprintf("fleet: {enabled: true, kubeconfig: %s, lease_duration: 10s}\n", lostCluster(t))))
	p.Stderr.Find(t, "the API server cannot be asked for permits to run.*connection refused")
	eventually(t, "the run that is due waits", func() bool {
		_, devices := get(t, url+"api/v1/devices")
		return strings.Contains(devices, `"waits": "not permitted to run now: get lease ssdprobe-run-0: `)
	})
	families := scrape(t, url)
	ok, found := value(families, "ssdprobe_collector_success", map[string]string{"collector": "fleet"})
	assert.True(t, found)
	assert.Zero(t, ok)
	running, found := value(families, "ssdprobe_run_in_progress", map[string]string{"suite": "quick"})
	assert.True(t, found)
	assert.Zero(t, running)
	rounds, _ := value(families, "ssdprobe_probe_rounds_total", good("read-4k"))
	awaitRounds(t, url, "read-4k", rounds+2) // the probes go on
}

func TestFleetNeedsACluster(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	got := ssdprobe(t, "daemon", "--config", file(t, "c.yaml", "fleet: {enabled: true}\n"), "--state-dir", testenv.OnDisk(t), "--web.listen-address", "127.0.0.1:0")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "no service account of a cluster here")
	assert.Contains(t, got.stderr, "fleet.enabled")
}
