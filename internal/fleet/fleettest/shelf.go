// Package fleettest keeps Leases in memory, for tests of what takes permits.
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

// ErrDown is what a connection that is refused comes to.
var ErrDown = errors.New("connection refused")

// Shelf keeps Leases as an API server does, in memory, so that many nodes and days
// of theirs fit into a test. A test of package fleet tells that it does so as a real one.
type Shelf struct {
	mu      sync.Mutex
	Leases  map[string]*coordination.Lease
	version int
	Down    bool // answers nothing: connections are refused
	Hangs   bool // answers nothing: requests wait for their deadline
	// Luck, when not nil, makes answers slow, and some of them get lost.
	Luck *rand.Rand
}

// NewShelf returns one without Leases.
func NewShelf() *Shelf { return &Shelf{Leases: map[string]*coordination.Lease{}} }

// Set changes it.
func (s *Shelf) Set(change func(*Shelf)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// answer does what is asked for, with the troubles that there are.
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

// Keep stores a lease as a new version.
func (s *Shelf) Keep(l *coordination.Lease) *coordination.Lease {
	s.version++
	l = l.DeepCopy()
	l.ResourceVersion = strconv.Itoa(s.version)
	s.Leases[l.Name] = l
	return l.DeepCopy()
}

// Get returns the Lease of this name.
func (s *Shelf) Get(ctx context.Context, name string) (*coordination.Lease, error) {
	return s.answer(ctx, func() (*coordination.Lease, error) {
		l, ok := s.Leases[name]
		if !ok {
			return nil, apierrors.NewNotFound(coordination.Resource("leases"), name)
		}
		return l.DeepCopy(), nil
	})
}

// Create makes a Lease; one of the same name must not exist.
func (s *Shelf) Create(ctx context.Context, l *coordination.Lease) (*coordination.Lease, error) {
	return s.answer(ctx, func() (*coordination.Lease, error) {
		if _, ok := s.Leases[l.Name]; ok {
			return nil, apierrors.NewAlreadyExists(coordination.Resource("leases"), l.Name)
		}
		return s.Keep(l), nil
	})
}

// Update replaces a Lease, which must be of the same version still.
func (s *Shelf) Update(ctx context.Context, l *coordination.Lease) (*coordination.Lease, error) {
	return s.answer(ctx, func() (*coordination.Lease, error) {
		if old, ok := s.Leases[l.Name]; ok && old.ResourceVersion != l.ResourceVersion {
			return nil, apierrors.NewConflict(coordination.Resource("leases"), l.Name, errors.New("it was modified"))
		}
		return s.Keep(l), nil
	})
}
