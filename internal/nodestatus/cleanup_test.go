package nodestatus

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssdprobe/ssdprobe/internal/fleet/fleettest"
)

func TestClean(t *testing.T) {
	s := newShelf("storage-1")
	kill(t, s, fleettest.NewShelf(), "storage-1")
	r := newReporter((&daemon{t: t, node: "storage-1"}).options(nil), s)
	_, err := r.setCondition(t.Context(), s.look("storage-1"), condition{Type: ConditionType, Status: isTrue})
	require.NoError(t, err)
	s.meanwhile = func(s *shelf) { s.keep(s.copy("storage-1")) } // a conflict
	done, err := clean(t.Context(), s, "storage-1")
	require.NoError(t, err)
	assert.Equal(t, "storage-1: removed the condition SlowDrive and the taint ssdprobe/slow-drive", done.String())
	n := s.look("storage-1")
	assert.Nil(t, n.condition())
	assert.Len(t, n.Status.Conditions, 1, "those of others stay")
	assert.Len(t, n.Spec.Taints, 1)

	done, err = clean(t.Context(), s, "storage-1")
	require.NoError(t, err)
	assert.Equal(t, "storage-1: nothing to remove", done.String())
	_, err = clean(t.Context(), s, "storage-2")
	require.ErrorContains(t, err, "get node storage-2: ")
	assert.True(t, IsGone(err))
}

// Nodes without anything to remove are not requested, and nodes with the taint come first.
func TestCleanBeginsWithTheTaints(t *testing.T) {
	s := newShelf("storage-1", "storage-2", "storage-3", "storage-4")
	kill(t, s, fleettest.NewShelf(), "storage-3")
	for _, name := range []string{"storage-1", "storage-3"} {
		_, err := s.setCondition(t.Context(), s.look(name), condition{Type: ConditionType})
		require.NoError(t, err)
	}
	kill(t, s, fleettest.NewShelf(), "storage-4")
	assert.Equal(t, []string{"storage-3", "storage-4", "storage-1"},
		toClean([]node{s.look("storage-1"), s.look("storage-2"), s.look("storage-3"), s.look("storage-4")}))
}

// By default, client-go sends five requests a second. 250 nodes would then take longer than the Job of `helm
// uninstall` may run.
func TestCleanerDoesNotWait(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(file, []byte(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`), 0o600))
	c, err := NewCleaner(file)
	require.NoError(t, err)
	assert.Nil(t, c.client.rest.GetRateLimiter())
	r, err := Connect(Options{Node: "storage-1", Kubeconfig: file})
	require.NoError(t, err)
	daemon, ok := r.cluster.(*client)
	require.True(t, ok)
	assert.NotNil(t, daemon.rest.GetRateLimiter(), "daemons are many")
}

// If one of the two rights is missing, the other removal still happens.
func TestCleanSaysWhatItCouldNotRemove(t *testing.T) {
	s := newShelf("storage-1")
	kill(t, s, fleettest.NewShelf(), "storage-1")
	s.denies = errors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "storage-1", errDown)
	done, err := clean(t.Context(), s, "storage-1")
	require.ErrorContains(t, err, "remove the taint ssdprobe/slow-drive of node storage-1: ")
	assert.False(t, done.Taint)
}
