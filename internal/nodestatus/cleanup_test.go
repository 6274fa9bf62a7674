package nodestatus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

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
	done, err := Cleaner{s}.Clean(t.Context(), "storage-1")
	require.NoError(t, err)
	assert.Equal(t, "storage-1: removed the condition SlowDrive and the taint ssdprobe/slow-drive", done.String())
	n := s.look("storage-1")
	assert.Nil(t, n.condition())
	assert.Len(t, n.Status.Conditions, 1, "those of others stay")
	assert.Len(t, n.Spec.Taints, 1)

	done, err = Cleaner{s}.Clean(t.Context(), "storage-1")
	require.NoError(t, err)
	assert.Equal(t, "storage-1: nothing to remove", done.String())
	_, err = Cleaner{s}.Clean(t.Context(), "storage-2")
	require.ErrorContains(t, err, "get node storage-2: ")
}

// A node that was deleted since the nodes were listed needs nothing, and the others do not wait for one that
// cannot be changed. What is said has an order: nodes with the taint come first.
func TestCleanAll(t *testing.T) {
	s := newShelf("storage-1", "storage-2", "storage-3", "storage-4", "storage-5")
	kill(t, s, fleettest.NewShelf(), "storage-3")
	for _, name := range []string{"storage-1", "storage-3", "storage-5"} {
		_, err := s.setCondition(t.Context(), s.look(name), condition{Type: ConditionType})
		require.NoError(t, err)
	}
	kill(t, s, fleettest.NewShelf(), "storage-4")
	s.meanwhile = func(s *shelf) { delete(s.stored, "storage-5") }
	done, others, err := Cleaner{s}.CleanAll(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []Cleaned{{"storage-3", true, true}, {"storage-4", false, true}, {"storage-1", true, false}}, done)
	assert.Equal(t, 1, others)

	kill(t, s, fleettest.NewShelf(), "storage-3")
	_, err = s.setCondition(t.Context(), s.look("storage-3"), condition{Type: ConditionType})
	require.NoError(t, err)
	s.deniesTaints = errors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "storage-3", errDown)
	done, others, err = Cleaner{s}.CleanAll(t.Context())
	require.ErrorContains(t, err, "remove the taint ssdprobe/slow-drive of node storage-3: ")
	assert.Equal(t, []Cleaned{{"storage-3", true, false}}, done)
	assert.Equal(t, 3, others)
	done, _, err = Cleaner{s}.CleanAll(t.Context())
	require.Error(t, err)
	assert.Empty(t, done)

	s.down = true
	_, _, err = Cleaner{s}.CleanAll(t.Context())
	require.EqualError(t, err, "list the nodes: connection refused")
}

// The Job of `helm uninstall` has minutes for a cluster of thousands of nodes.
func TestCleanAllIsFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 10_000
		s := newShelf()
		for i := range many {
			var n node
			n.Metadata.Name = fmt.Sprintf("storage-%d", i)
			n.Status.Conditions = []condition{{Type: ConditionType}}
			s.keep(n)
		}
		s.takes = 12 * time.Millisecond
		start := time.Now()
		done, _, err := Cleaner{s}.CleanAll(t.Context())
		require.NoError(t, err)
		assert.Len(t, done, many)
		assert.Less(t, time.Since(start), 10*time.Second)
	})
}

// What is left is said once, not for each node.
func TestCleanAllEndsWithItsContext(t *testing.T) {
	s := newShelf()
	for i := range 100 {
		var n node
		n.Metadata.Name = fmt.Sprintf("storage-%02d", i)
		n.Status.Conditions = []condition{{Type: ConditionType}}
		s.keep(n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.changed = func(*shelf) { cancel() }
	done, _, err := Cleaner{s}.CleanAll(ctx)
	require.ErrorContains(t, err, "of 100 nodes are left as they were: context canceled")
	assert.NotEmpty(t, done)
	assert.NotContains(t, err.Error(), "\n")
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
	cleaner, ok := c.cluster.(*client)
	require.True(t, ok)
	assert.Nil(t, cleaner.rest.GetRateLimiter())
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
	done, err := Cleaner{s}.Clean(t.Context(), "storage-1")
	require.ErrorContains(t, err, "remove the taint ssdprobe/slow-drive of node storage-1: ")
	assert.False(t, done.Taint)
}
