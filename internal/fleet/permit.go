package fleet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssdprobe/ssdprobe/internal/schedule"
)

// ErrLost says that a permit is no longer held.
var ErrLost = errors.New("the lease to run is lost")

// Permit is the right of this node to run. It lasts as long as Keep renews it.
type Permit struct {
	semaphore *Semaphore
	lease     *coordination.Lease // as last read or written
	renewed   time.Time           // when the last successful renewal was sent
}

// Name returns the name of the permit's Lease.
func (p *Permit) Name() string { return p.lease.Name }

// End returns when the holder must have stopped. Others may begin a sixth of the duration later.
func (p *Permit) End() time.Time {
	return p.renewed.Add(p.semaphore.duration - p.semaphore.duration/6)
}

// Keep renews the permit until ctx ends, and then returns nil. It returns ErrLost when somebody else is named
// in the Lease, and when the permit reaches its End without a renewal. A Lease that was deleted is created
// again. renewed is called after each renewal with the time it was sent and why it failed; err is nil if it
// succeeded.
func (p *Permit) Keep(ctx context.Context, renewed func(start time.Time, err error)) error {
	const quarter, twelfth = 4, 12
	wait := p.semaphore.duration / quarter
	for {
		if !schedule.Pause(ctx, min(wait, time.Until(p.End()))) {
			return nil
		}
		// A renewal that is not complete by then must not count.
		renewing, cancel := context.WithDeadline(ctx, p.End())
		start := time.Now()
		err := p.Renew(renewing)
		cancel()
		if ctx.Err() == nil {
			renewed(start, err)
		}
		wait = p.semaphore.duration / quarter
		switch {
		case err == nil, ctx.Err() != nil:
		case errors.Is(err, ErrLost):
			return err
		case !time.Now().Before(p.End()):
			return fmt.Errorf("%w: not renewed since %s: %w", ErrLost, p.renewed.Format(time.RFC3339), err)
		default:
			wait = p.semaphore.duration / twelfth
		}
	}
}

// Renew renews the permit once. It returns ErrLost when somebody else is named in the Lease.
func (p *Permit) Renew(ctx context.Context) error {
	name := p.lease.Name
	err := p.write(ctx, time.Now())
	if apierrors.IsConflict(err) {
		// Somebody else changed it, or an answer to an earlier renewal was lost.
		lease, getErr := p.semaphore.get(ctx, name)
		switch {
		case getErr != nil:
			return getErr
		case named(lease) != p.semaphore.identity:
			return fmt.Errorf("%w: lease %s was taken by %q", ErrLost, name, named(lease))
		}
		p.lease = lease
		err = p.write(ctx, time.Now())
	}
	if err != nil {
		return fmt.Errorf("renew lease %s: %w", name, err)
	}
	return nil
}

// write names this holder in the Lease for the permit's duration, beginning at now.
func (p *Permit) write(ctx context.Context, now time.Time) error {
	lease := p.lease.DeepCopy()
	renewed, lasts := metav1.NewMicroTime(now), int32(math.Ceil(p.semaphore.duration.Seconds()))
	lease.Spec.HolderIdentity = &p.semaphore.identity
	lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds = &renewed, &lasts
	lease, err := p.semaphore.put(ctx, lease)
	if err != nil {
		return err
	}
	p.lease, p.renewed = lease, now
	return nil
}

// Release gives the permit back, so that others need not wait until it runs out. A lost permit stays with its
// new holder.
func (p *Permit) Release(ctx context.Context) error {
	const attempts = 2 // the known version may be outdated
	lease := p.lease.DeepCopy()
	for i := 1; ; i++ {
		lease.Spec.HolderIdentity = nil
		_, err := p.semaphore.put(ctx, lease)
		switch {
		case err == nil:
			return nil
		case !apierrors.IsConflict(err) || i == attempts:
			return fmt.Errorf("release lease %s: %w", p.lease.Name, err)
		}
		if lease, err = p.semaphore.get(ctx, p.lease.Name); err != nil {
			return err
		}
		if named(lease) != p.semaphore.identity {
			return nil
		}
	}
}
