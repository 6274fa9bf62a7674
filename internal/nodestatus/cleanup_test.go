package nodestatus

import (
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

// A right that is missing for one of the two does not keep the other.
func TestCleanSaysWhatItCouldNotRemove(t *testing.T) {
	s := newShelf("storage-1")
	kill(t, s, fleettest.NewShelf(), "storage-1")
	s.denies = errors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "storage-1", errDown)
	done, err := clean(t.Context(), s, "storage-1")
	require.ErrorContains(t, err, "remove the taint ssdprobe/slow-drive of node storage-1: ")
	assert.False(t, done.Taint)
}
