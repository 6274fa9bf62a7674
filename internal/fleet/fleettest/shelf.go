// Package fleettest stores Leases in memory, for tests of code that takes permits.
package fleettest

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ssdprobe/ssdprobe/internal/schedule"
)

// ErrDown is the error of a refused connection.
var ErrDown = errors.New("connection refused")

// Shelf stores Leases like an API server, but in memory, so that days of many nodes fit into a test. A test of
// package fleet verifies that it behaves like a real one.
type Shelf struct {
	mu      sync.Mutex
	Leases  map[string]*coordination.Lease
	version int
	Down    bool // does not answer: connections are refused
	Hangs   bool // does not answer: requests wait for their deadline
	// Luck, if not nil, delays answers at random and loses some of them.
	Luck *rand.Rand
}

// NewShelf returns a Shelf without Leases.
func NewShelf() *Shelf { return &Shelf{Leases: map[string]*coordination.Lease{}} }

// Set calls change with the Shelf locked.
func (s *Shelf) Set(change func(*Shelf)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// answer calls do, subject to the failures that are set.
func (s *Shelf) answer(ctx context.Context, do func() (*coordination.Lease, error)) (*coordination.Lease, error) {
	s.mu.Lock()
	way, back, lost := time.Duration(0), time.Duration(0), false
	if s.Luck != nil {
		way, back = time.Duration(s.Luck.ExpFloat64()*float64(200*time.Millisecond)), time.Duration(s.Luck.ExpFloat64()*float64(200*time.Millisecond))
		lost = s.Luck.IntN(50) == 0
	}
	s.mu.Unlock()
	schedule.Pause(ctx, way)
	s.mu.Lock()
	down, hangs := s.Down, s.Hangs
	var lease *coordination.Lease
	err := context.Cause(ctx)
	if err == nil && !down && !hangs {
		lease, err = do()
	}
	s.mu.Unlock()
	switch {
	case down:
		return nil, ErrDown
	case hangs || lost: // do may have succeeded, but its answer is lost
		<-ctx.Done()
		return nil, ctx.Err()
	}
	schedule.Pause(ctx, back)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return lease, err
}

// Keep stores a Lease with a new version.
func (s *Shelf) Keep(l *coordination.Lease) *coordination.Lease {
	s.version++
	l = l.DeepCopy()
	l.ResourceVersion = strconv.Itoa(s.version)
	s.Leases[l.Name] = l
	return l.DeepCopy()
}

// Get returns the Lease with this name.
func (s *Shelf) Get(ctx context.Context, name string) (*coordination.Lease, error) {
	return s.answer(ctx, func() (*coordination.Lease, error) {
		l, ok := s.Leases[name]
		if !ok {
			return nil, apierrors.NewNotFound(coordination.Resource("leases"), name)
		}
		return l.DeepCopy(), nil
	})
}

// Create creates a Lease; no Lease with the same name may exist.
func (s *Shelf) Create(ctx context.Context, l *coordination.Lease) (*coordination.Lease, error) {
	return s.answer(ctx, func() (*coordination.Lease, error) {
		if _, ok := s.Leases[l.Name]; ok {
			return nil, apierrors.NewAlreadyExists(coordination.Resource("leases"), l.Name)
		}
		return s.Keep(l), nil
	})
}

// Update replaces a Lease, whose version must not have changed.
func (s *Shelf) Update(ctx context.Context, l *coordination.Lease) (*coordination.Lease, error) {
	return s.answer(ctx, func() (*coordination.Lease, error) {
		if old, ok := s.Leases[l.Name]; ok && old.ResourceVersion != l.ResourceVersion {
			return nil, apierrors.NewConflict(coordination.Resource("leases"), l.Name, errors.New("it was modified"))
		}
		return s.Keep(l), nil
	})
}
