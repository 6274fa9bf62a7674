package cli_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/testenv"
)

// lostCluster is a kubeconfig of an API server that is not there.
func lostCluster(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return file(t, "kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: lost
contexts: [{name: lost, context: {cluster: lost, namespace: ssdprobe, user: nobody}}]
clusters: [{name: lost, cluster: {server: "http://%s"}}]
users: [{name: nobody, user: {}}]
`, l.Addr()))
}

// What the API server has to do with it is tested by `make test-kubernetes`.
func TestNoRunBeginsWithoutTheAPIServer(t *testing.T) {
	t.Parallel()
	state, dir := testenv.OnDisk(t), testenv.OnDisk(t)
	p, url := startDaemon(t, state, file(t, "c.yaml", onFile(dir)+everyMinute+
		fmt.Sprintf("fleet: {enabled: true, kubeconfig: %s, lease_duration: 10s}\n", lostCluster(t))))
	p.Stderr.Find(t, "no permit to run can be asked for: no run begins.*connection refused")
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
