package fleet

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssdprobe/ssdprobe/internal/fleet/fleettest"
)

// testLeases tests what the semaphore relies on, in an empty namespace.
func testLeases(t *testing.T, l Leases) {
	ctx := t.Context()
	_, err := l.Get(ctx, "absent")
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	_, err = l.Update(ctx, &coordination.Lease{ObjectMeta: metav1.ObjectMeta{Name: "deleted", ResourceVersion: "1"}})
	require.NoError(t, err, "a lease is made by its update")
	_, err = l.Get(ctx, "deleted")
	require.NoError(t, err)

	first, err := l.Create(ctx, &coordination.Lease{ObjectMeta: metav1.ObjectMeta{Name: "one"}})
	require.NoError(t, err)
	assert.NotEmpty(t, first.ResourceVersion)
	_, err = l.Create(ctx, &coordination.Lease{ObjectMeta: metav1.ObjectMeta{Name: "one"}})
	assert.True(t, apierrors.IsAlreadyExists(err), "%v", err)

	who, lasts, now := "storage-1_x", int32(7), metav1.NowMicro()
	first.Spec = coordination.LeaseSpec{HolderIdentity: &who, LeaseDurationSeconds: &lasts, RenewTime: &now}
	second, err := l.Update(ctx, first)
	require.NoError(t, err)
	assert.NotEqual(t, first.ResourceVersion, second.ResourceVersion)
	_, err = l.Update(ctx, first)
	assert.True(t, apierrors.IsConflict(err), "an update of an old version: %v", err)

	got, err := l.Get(ctx, "one")
	require.NoError(t, err)
	assert.Equal(t, second.ResourceVersion, got.ResourceVersion)
	assert.Equal(t, who, *got.Spec.HolderIdentity)
	assert.Equal(t, lasts, *got.Spec.LeaseDurationSeconds)

	got.Spec.HolderIdentity = nil
	got, err = l.Update(ctx, got)
	require.NoError(t, err)
	assert.Nil(t, got.Spec.HolderIdentity)
}

func TestShelf(t *testing.T) { testLeases(t, fleettest.NewShelf()) }
