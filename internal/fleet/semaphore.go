package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// readAtOnce is how many Leases an attempt reads at most. If thousands of nodes wait, reading all of them would make as many
// requests as there are nodes, times the permits.
const readAtOnce = 4

// ErrTaken says that other nodes hold all permits that were looked at.
var ErrTaken = errors.New("all leases are taken")

// TakenError is ErrTaken with the names of the nodes that hold the permits.
type TakenError struct {
	Holders []string
	Others  int // permits that were not looked at
}

func (e *TakenError) Error() string {
	text := ErrTaken.Error() + ": " + strings.Join(e.Holders, ", ")
	if e.Others > 0 {
		text += fmt.Sprintf(", and %d others that this attempt did not read", e.Others)
	}
	return text
}

// Unwrap returns ErrTaken.
func (e *TakenError) Unwrap() error { return ErrTaken }

// Leases accesses the Leases of one namespace of an API server.
type Leases interface {
	Get(ctx context.Context, name string) (*coordination.Lease, error)
	Create(ctx context.Context, l *coordination.Lease) (*coordination.Lease, error)
	Update(ctx context.Context, l *coordination.Lease) (*coordination.Lease, error)
}

// Semaphore gives permits to this process, one at a time.
type Semaphore struct {
	leases   Leases
	names    []string
	identity string
	duration time.Duration
	spent    func(ctx context.Context, node string) (bool, error)

	mu   sync.Mutex
	seen map[string]sighting
}

// sighting is a version of a Lease, and when this process first saw it.
type sighting struct {
	version string
	at      time.Time
}

// New returns the semaphore of these Leases.
func New(l Leases, o Options) *Semaphore {
	s := &Semaphore{
		leases: l, names: Names(o.Lease, o.Permits), duration: o.Duration, seen: map[string]sighting{},
		identity: o.Node, spent: o.Spent,
	}
	if !o.OfNode {
		// A node may come back as another process while its old process is still named in a Lease.
		s.identity += "_" + strconv.FormatUint(rand.Uint64(), 36)
	}
	return s
}

// Names returns the names of the Leases for n permits.
func Names(lease string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = lease + "-" + strconv.Itoa(i)
	}
	return names
}

// patience is how long the API server may take to answer.
func (s *Semaphore) patience() time.Duration { return min(s.duration/6, 5*time.Second) }

// Pause returns how long to wait before Try is called again: about a quarter of the duration of a permit. It is
// random, so that nodes do not ask at the same time.
func (s *Semaphore) Pause() time.Duration {
	return s.duration/8 + rand.N(s.duration/4)
}

// some returns the names of a few Leases, chosen at random.
func (s *Semaphore) some() []string {
	names := slices.Clone(s.names)
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:min(readAtOnce, len(names))]
}

// Check reads a few Leases and changes none. It returns why one cannot be read; a Lease that does not exist yet
// is not an error.
func (s *Semaphore) Check(ctx context.Context) error {
	for _, name := range s.some() {
		lease, err := s.get(ctx, name)
		if err != nil {
			return err
		}
		s.holder(lease)
	}
	return nil
}

// Try takes a permit if one of a few, chosen at random, is free now. Errors: a *TakenError that names the holders, or why the API server
// did not answer or refused.
func (s *Semaphore) Try(ctx context.Context) (*Permit, error) {
	var holders []string
	var refused []error
	for _, name := range s.some() {
		permit, holder, err := s.take(ctx, name)
		switch {
		case permit != nil:
			return permit, nil
		case err == nil:
			holders = append(holders, holder)
		case !answered(err): // the next one would take as long and fail, too
			return nil, err
		default:
			refused = append(refused, err)
		}
	}
	if len(refused) > 0 {
		return nil, errors.Join(refused...)
	}
	return nil, &TakenError{holders, len(s.names) - len(holders)}
}

// Resume renews and returns the permit that already names this holder; nil when there is none. With OfNode, the
// permit may come from an earlier process of the node.
func (s *Semaphore) Resume(ctx context.Context) (*Permit, error) {
	for _, name := range s.names {
		lease, err := s.get(ctx, name)
		if err != nil {
			return nil, err
		}
		if named(lease) != s.identity {
			continue
		}
		p := &Permit{semaphore: s, lease: lease}
		switch err := p.Renew(ctx); {
		case errors.Is(err, ErrLost): // it was lost just now
		case err != nil:
			return nil, err
		default:
			return p, nil
		}
	}
	return nil, nil //nolint:nilnil // nil is a valid answer
}

// answered reports whether the API server returned the error, rather than failing to answer.
func answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

// take takes one Lease, or returns the node that holds it.
func (s *Semaphore) take(ctx context.Context, name string) (p *Permit, holder string, err error) {
	lease, err := s.get(ctx, name)
	if err != nil {
		return nil, "", err
	}
	if holder := s.holder(lease); holder != "" {
		return nil, holder, nil
	}
	if last := named(lease); s.spent != nil && last != "" && last != s.identity {
		switch spent, err := s.spent(ctx, nodeOf(last)); {
		case err != nil:
			return nil, "", fmt.Errorf("take lease %s, which %s has not renewed: %w", name, nodeOf(last), err)
		case !spent:
			return nil, nodeOf(last), nil
		}
	}
	begun := time.Now()
	transitions := int32(0)
	if n := lease.Spec.LeaseTransitions; n != nil {
		transitions = *n + 1
	}
	acquired := metav1.NewMicroTime(begun)
	lease.Spec.AcquireTime, lease.Spec.LeaseTransitions = &acquired, &transitions
	p = &Permit{semaphore: s, lease: lease}
	switch err := p.write(ctx, begun); {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return nil, "a node that was faster", nil
	case err != nil:
		return nil, "", fmt.Errorf("take lease %s: %w", name, err)
	}
	return p, "", nil
}

// get returns a Lease. A Lease that does not exist is returned without a version.
func (s *Semaphore) get(ctx context.Context, name string) (*coordination.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience())
	defer cancel()
	lease, err := s.leases.Get(ctx, name)
	if apierrors.IsNotFound(err) {
		return &coordination.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get lease %s: %w", name, err)
	}
	return lease, nil
}

// put creates a Lease without a version, and updates others if their version is unchanged.
func (s *Semaphore) put(ctx context.Context, l *coordination.Lease) (*coordination.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience())
	defer cancel()
	if l.ResourceVersion == "" {
		return s.leases.Create(ctx, l)
	}
	return s.leases.Update(ctx, l)
}

// holder returns the node that holds a Lease; "" when nobody is named in it, this process is, or the named
// holder has not renewed it in time.
func (s *Semaphore) holder(l *coordination.Lease) string {
	named := named(l)
	if named == "" || named == s.identity {
		return ""
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	first, ok := s.seen[l.Name]
	if !ok || first.version != l.ResourceVersion {
		first = sighting{l.ResourceVersion, now}
		s.seen[l.Name] = first
	}
	lasts := s.duration
	if n := l.Spec.LeaseDurationSeconds; n != nil {
		lasts = time.Duration(*n) * time.Second
	}
	if now.Sub(first.at) >= lasts {
		return ""
	}
	return nodeOf(named)
}

// nodeOf returns the node of a holder. Names of nodes contain no _.
func nodeOf(holder string) string {
	if i := strings.LastIndexByte(holder, '_'); i > 0 {
		return holder[:i]
	}
	return holder
}

// named returns who is named in a Lease; "" for nobody.
func named(l *coordination.Lease) string {
	if l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}
