package daemon

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// ofKubernetes returns options of a daemon that reports to the cluster of the kubeconfig.
func ofKubernetes(t *testing.T, kubeconfig string) Options {
	c := config.Default()
	c.Node, c.StateDir, c.LockDir = "storage-1", t.TempDir(), t.TempDir()
	c.Kubernetes.Enabled, c.Kubernetes.Kubeconfig, c.Kubernetes.Taint = true, kubeconfig, "NoSchedule"
	return Options{Config: c, Log: slog.New(slog.DiscardHandler), Latencies: export.NewLatencies()}
}

func TestADaemonOutsideAClusterSaysWhatToDo(t *testing.T) {
	o := ofKubernetes(t, "")
	_, err := New(o)
	require.ErrorContains(t, err, "no service account of a cluster here")
	require.ErrorContains(t, err, "name a kubeconfig with kubernetes.kubeconfig, or set kubernetes.enabled: false")
	o.Config.Kubernetes.Enabled = false
	d, err := New(o)
	require.NoError(t, err, "the state directory is free again")
	assert.Empty(t, d.status.collector())
	require.NoError(t, d.shared.state.letGo())
}

func TestWhatKubernetesWasToldIsKeptAndShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(path, []byte("{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a}}], clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]}"), 0o600))
	d, err := New(ofKubernetes(t, path))
	require.NoError(t, err)
	of := func(s record.Snapshot) (found []record.CollectorStatus) {
		for _, c := range s.Collectors {
			if c.Collector == "kubernetes" {
				found = append(found, record.CollectorStatus{Collector: c.Collector, Success: c.Success, Error: c.Error})
			}
		}
		return found
	}
	assert.Empty(t, of(d.Snapshot()), "nothing was told yet")
	d.status.asked(time.Now(), errors.New("forbidden"))
	assert.Equal(t, []record.CollectorStatus{{Collector: "kubernetes", Error: "forbidden"}}, of(d.Snapshot()))
	d.status.asked(time.Now(), nil)
	assert.Equal(t, []record.CollectorStatus{{Collector: "kubernetes", Success: true}}, of(d.Snapshot()))

	told := map[string]record.ToldVerdict{"eui.1": {Name: "nvme0n1", Verdict: record.Severe, Since: time.Unix(1e9, 0).UTC()}}
	require.NoError(t, d.shared.state.SaveTold(told))
	kept, err := d.shared.state.Told()
	require.NoError(t, err)
	assert.Equal(t, told, kept)
	require.NoError(t, d.shared.state.letGo())
}
