package nodestatus

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ssdprobe/ssdprobe/internal/fleet"
)

// TaintKey is the key of the taint. It has no value.
const TaintKey = "ssdprobe/slow-drive"

// Lease is the prefix of the names of the Leases that permit nodes to have the taint.
const Lease = "ssdprobe-slow-drive"

// permit is the right of this node to have the taint.
type permit struct {
	*fleet.Permit
	renewed time.Time
}

// due reports whether the permit should be renewed. A missed renewal does no harm: while the node has the
// taint, nobody else takes the permit.
func (p *permit) due(now time.Time, duration time.Duration) bool {
	const quarter = 4
	return p != nil && now.Sub(p.renewed) >= duration/quarter
}

// taintTo adds the taint to the node, or removes it, if necessary. It returns the resulting node.
func (r *Reporter) taintTo(ctx context.Context, n node, wanted bool) (node, error) {
	if r.options.Taint == "" {
		return r.clear(ctx, n)
	}
	if !wanted {
		r.waits(nil)
		return r.untaint(ctx, n)
	}
	switch err := r.hold(ctx, n.taint() != r.options.Taint); {
	case errors.Is(err, fleet.ErrTaken), errors.Is(err, fleet.ErrLost):
		r.waits(err)
		return r.untaint(ctx, n)
	case err != nil:
		r.waiting = false
		return n, err
	}
	r.waits(nil)
	if n.taint() == r.options.Taint {
		return n, nil
	}
	// A permit that ran out may be taken by another node while this one has no taint.
	ctx, cancel := context.WithDeadline(ctx, r.permit.End())
	defer cancel()
	n, err := r.change(ctx, n, r.options.Taint)
	if err == nil {
		r.log.Warn("added the taint to the node: a drive is severe", "taint", TaintKey, "effect", r.options.Taint, "lease", r.permit.Name())
	}
	return n, err
}

// hold takes the permit, or renews it when that is due. It also renews it before the taint is added (putOn),
// because another daemon of the node may have given the permit back.
func (r *Reporter) hold(ctx context.Context, putOn bool) error {
	now := time.Now()
	switch {
	case r.permit == nil:
		var p *fleet.Permit
		var err error
		if !r.waiting { // an earlier process may hold one, or an answer was lost
			p, err = r.permits.Resume(ctx)
		}
		if err == nil && p == nil {
			p, err = r.permits.Try(ctx)
		}
		if err != nil {
			return err
		}
		r.permit = &permit{p, now}
	case putOn, r.permit.due(now, r.options.LeaseDuration):
		if err := r.permit.Renew(ctx); errors.Is(err, fleet.ErrLost) {
			r.permit = nil
			return err
		} else if err != nil {
			return err
		}
		r.permit.renewed = now
	}
	return nil
}

// untaint removes the taint from the node, and then gives the permit back.
func (r *Reporter) untaint(ctx context.Context, n node) (node, error) {
	left := n.taint() != ""
	n, err := r.takeOff(ctx, n)
	if err != nil {
		return n, err
	}
	if r.permit == nil && left {
		p, err := r.permits.Resume(ctx) // held by an earlier process
		if err != nil {
			return n, err
		}
		if p != nil {
			r.permit = &permit{p, time.Now()}
		}
	}
	if r.permit == nil {
		return n, nil
	}
	err = r.permit.Release(ctx)
	if err == nil {
		r.permit = nil
	}
	return n, err
}

// takeOff removes the taint from the node, if it has it.
func (r *Reporter) takeOff(ctx context.Context, n node) (node, error) {
	if n.taint() == "" {
		return n, nil
	}
	n, err := r.change(ctx, n, "")
	if err == nil {
		r.log.Info("removed the taint from the node", "taint", TaintKey)
	}
	return n, err
}

// clear removes a taint that was left from when taints were configured. The right to do so may have been
// withdrawn at the same time.
func (r *Reporter) clear(ctx context.Context, n node) (node, error) {
	cleared, err := r.takeOff(ctx, n)
	forbidden := apierrors.IsForbidden(err)
	if forbidden && !r.stuck {
		r.log.Warn("cannot remove the taint, which kubernetes.taint no longer asks for: no permission",
			"taint", TaintKey, "err", err, "advice", "run ssdprobe kubernetes cleanup --all-nodes --kubeconfig FILE, as an administrator of the cluster")
	}
	if r.stuck = forbidden; forbidden {
		return n, nil
	}
	return cleared, err
}

// yield removes the taint once when a rival appears, because the rival may not know about taints. A rival that
// does adds the taint again within a minute. The Lease is left alone: either the rival holds it, or nobody
// renews it.
func (r *Reporter) yield(ctx context.Context, n node) error {
	if r.options.Taint == "" || r.yielded {
		return nil
	}
	if n.taint() != "" {
		r.log.Warn("removing the taint: another program sets the condition "+ConditionType, "taint", TaintKey)
	}
	_, err := r.takeOff(ctx, n)
	r.yielded = err == nil
	return err
}

// attempts is how often a change is tried on a node that others change at the same time.
const attempts = 4

// change sets this package's taint on the node to an effect, or removes it for "".
func (r *Reporter) change(ctx context.Context, n node, effect string) (node, error) {
	return update(ctx, r.cluster, n, "change the taint "+TaintKey, func(n node) (node, error) {
		if n.taint() == effect {
			return n, nil
		}
		taints, err := n.withTaint(effect)
		if err != nil {
			return n, err
		}
		return r.cluster.setTaints(ctx, n, taints)
	})
}

// update changes a node, and tries again if somebody else changed the node in between.
func update(ctx context.Context, c cluster, n node, what string, change func(node) (node, error)) (node, error) {
	for i := 1; ; i++ {
		changed, err := change(n)
		switch {
		case err == nil:
			return changed, nil
		case !apierrors.IsConflict(err) || i == attempts:
			return n, fmt.Errorf("%s of node %s: %w", what, n.Metadata.Name, err)
		}
		if n, err = c.node(ctx, n.Metadata.Name); err != nil {
			return n, err
		}
	}
}

// waits logs when the node must do without the taint, because other nodes have it, and notes when that is over.
func (r *Reporter) waits(why error) {
	var taken *fleet.TakenError
	switch {
	case why != nil && !r.waiting && errors.As(why, &taken):
		r.log.Warn("a drive is severe, but the node does not get the taint: the maximum number of nodes has it", "nodes", taken.Holders)
	case why != nil && !r.waiting:
		r.log.Warn("a drive is severe, but the node does not get the taint", "err", why)
	}
	r.waiting = why != nil
}
