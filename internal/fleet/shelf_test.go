package fleet

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssdprobe/ssdprobe/internal/schedule"
)

// errDown is what a connection that is refused comes to.
var errDown = errors.New("connection refused")

// shelf keeps Leases as an API server does, in memory, so that many nodes and days
// of theirs fit into a test. testLeases tells that it does so as a real one.
type shelf struct {
	mu      sync.Mutex
	leases  map[string]*coordination.Lease
	version int
	down    bool // answers nothing: connections are refused
	hangs   bool // answers nothing: requests wait for their deadline
	// luck, when not nil, makes answers slow, and some of them get lost.
	luck *rand.Rand
}

func newShelf() *shelf { return &shelf{leases: map[string]*coordination.Lease{}} }

func (s *shelf) set(change func(*shelf)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// answer does what is asked for, with the troubles that there are.
func (s *shelf) answer(ctx context.Context, do func() (*coordination.Lease, error)) (*coordination.Lease, error) {
	s.mu.Lock()
	way, back, lost := time.Duration(0), time.Duration(0), false
	if s.luck != nil {
		way, back = time.Duration(s.luck.ExpFloat64()*float64(200*time.Millisecond)), time.Duration(s.luck.ExpFloat64()*float64(200*time.Millisecond))
		lost = s.luck.IntN(50) == 0
	}
	s.mu.Unlock()
	schedule.Pause(ctx, way)
	s.mu.Lock()
	down, hangs := s.down, s.hangs
	var lease *coordination.Lease
	err := context.Cause(ctx)
	if err == nil && !down && !hangs {
		lease, err = do()
	}
	s.mu.Unlock()
	switch {
	case down:
		return nil, errDown
	case hangs || lost: // the deed is done, and nobody hears of it
		<-ctx.Done()
		return nil, ctx.Err()
	}
	schedule.Pause(ctx, back)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return lease, err
}

// keep stores a lease as a new version.
func (s *shelf) keep(l *coordination.Lease) *coordination.Lease {
	s.version++
	l = l.DeepCopy()
	l.ResourceVersion = strconv.Itoa(s.version)
	s.leases[l.Name] = l
	return l.DeepCopy()
}

func (s *shelf) Get(ctx context.Context, name string) (*coordination.Lease, error) {
	return s.answer(ctx, func() (*coordination.Lease, error) {
		l, ok := s.leases[name]
		if !ok {
			return nil, apierrors.NewNotFound(coordination.Resource("leases"), name)
		}
		return l.DeepCopy(), nil
	})
}

func (s *shelf) Create(ctx context.Context, l *coordination.Lease) (*coordination.Lease, error) {
	return s.answer(ctx, func() (*coordination.Lease, error) {
		if _, ok := s.leases[l.Name]; ok {
			return nil, apierrors.NewAlreadyExists(coordination.Resource("leases"), l.Name)
		}
		return s.keep(l), nil
	})
}

func (s *shelf) Update(ctx context.Context, l *coordination.Lease) (*coordination.Lease, error) {
	return s.answer(ctx, func() (*coordination.Lease, error) {
		switch old, ok := s.leases[l.Name]; {
		case ok && old.ResourceVersion != l.ResourceVersion:
			return nil, apierrors.NewConflict(coordination.Resource("leases"), l.Name, errors.New("it was modified"))
		}
		return s.keep(l), nil
	})
}

// testLeases tests what the semaphore relies on, of an empty namespace.
func testLeases(t *testing.T, l leases) {
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

func TestShelf(t *testing.T) { testLeases(t, newShelf()) }
