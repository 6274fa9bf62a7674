package nodestatus

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Cleaned says what was removed from a node.
type Cleaned struct {
	Node             string
	Condition, Taint bool
}

// String returns a line such as "storage-1: removed the condition SlowDrive and the taint ssdprobe/slow-drive".
func (c Cleaned) String() string {
	var parts []string
	if c.Condition {
		parts = append(parts, "the condition "+ConditionType)
	}
	if c.Taint {
		parts = append(parts, "the taint "+TaintKey)
	}
	if !c.Any() {
		return c.Node + ": nothing to remove"
	}
	return c.Node + ": removed " + strings.Join(parts, " and ")
}

// Any reports whether anything was removed.
func (c Cleaned) Any() bool { return c.Condition || c.Taint }

// Cleaner removes what daemons left behind on nodes.
type Cleaner struct{ cluster cluster }

// NewCleaner returns a Cleaner for the cluster of a kubeconfig, or of the pod for "". It sends no request yet.
// Errors: those of fleet.Access.
func NewCleaner(kubeconfig string) (Cleaner, error) {
	// No rate limit: atOnce requests at a time, each sent after an answer, are little load for the API server.
	c, err := connect(kubeconfig, -1)
	return Cleaner{c}, err
}

// Clean removes the condition and the taint from a node. A daemon that runs on the node sets them again.
func (c Cleaner) Clean(ctx context.Context, name string) (Cleaned, error) {
	n, err := c.cluster.node(ctx, name)
	if err != nil {
		return Cleaned{Node: name}, fmt.Errorf("get node %s: %w", name, err)
	}
	return c.clean(ctx, n)
}

// atOnce is how many nodes are cleaned at the same time. With one after the other, the Job of `helm uninstall`
// would have too little time for thousands of nodes.
const atOnce = 16

// CleanAll is Clean for all nodes of the cluster. It returns what it did for the nodes that had something to
// remove, in order, and the number of the others. It continues after errors, until ctx ends. A node that was
// deleted in between is no error.
func (c Cleaner) CleanAll(ctx context.Context) (cleaned []Cleaned, others int, err error) {
	all, err := c.cluster.nodes(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("list the nodes: %w", err)
	}
	nodes := toClean(all)
	done, problems := make([]Cleaned, len(nodes)), make([]error, len(nodes))
	var workers errgroup.Group
	workers.SetLimit(atOnce)
	begun := 0
	for i, n := range nodes {
		if ctx.Err() != nil {
			break
		}
		begun++
		workers.Go(func() error {
			done[i], problems[i] = c.clean(ctx, n)
			return nil
		})
	}
	_ = workers.Wait() // each node has its own error
	var failed []error
	for i := range begun {
		if problems[i] == nil || done[i].Any() {
			cleaned = append(cleaned, done[i])
		}
		if !apierrors.IsNotFound(problems[i]) {
			failed = append(failed, problems[i])
		}
	}
	if begun < len(nodes) {
		failed = append(failed, fmt.Errorf("%d of %d nodes are left as they were: %w", len(nodes)-begun, len(nodes), ctx.Err()))
	}
	return cleaned, len(all) - len(nodes), errors.Join(failed...)
}

// toClean returns the nodes that have something to remove. Nodes with the taint come first, because it keeps
// pods away and there may not be time for all nodes.
func toClean(all []node) []node {
	var tainted, others []node
	for _, n := range all {
		switch {
		case n.taint() != "":
			tainted = append(tainted, n)
		case n.condition() != nil:
			others = append(others, n)
		}
	}
	return append(tainted, others...)
}

// clean removes the condition and the taint from a node, which is asked for again only if somebody else has
// changed it.
func (c Cleaner) clean(ctx context.Context, n node) (Cleaned, error) {
	done := Cleaned{Node: n.Metadata.Name}
	n, taintErr := update(ctx, c.cluster, n, "remove the taint "+TaintKey, func(n node) (node, error) {
		if n.taint() == "" {
			return n, nil
		}
		taints, err := n.withTaint("")
		if err != nil {
			return n, err
		}
		n, err = c.cluster.setTaints(ctx, n, taints)
		done.Taint = err == nil
		return n, err
	})
	_, conditionErr := update(ctx, c.cluster, n, "remove the condition "+ConditionType, func(n node) (node, error) {
		if n.condition() == nil {
			return n, nil
		}
		n, err := c.cluster.removeCondition(ctx, n)
		done.Condition = err == nil
		return n, err
	})
	return done, errors.Join(taintErr, conditionErr)
}
