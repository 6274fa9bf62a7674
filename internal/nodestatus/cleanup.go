package nodestatus

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	if len(parts) == 0 {
		return c.Node + ": nothing to remove"
	}
	return c.Node + ": removed " + strings.Join(parts, " and ")
}

// Cleaner removes what daemons left behind on nodes.
type Cleaner struct{ client *client }

// NewCleaner returns a Cleaner for the cluster of a kubeconfig, or of the pod for "". It sends no request yet.
// Errors: those of fleet.Access.
func NewCleaner(kubeconfig string) (Cleaner, error) {
	// No rate limit: one request at a time, each sent after the last answer, is no load for the API server.
	c, err := connect(kubeconfig, -1)
	return Cleaner{c}, err
}

// Nodes returns the names of the nodes of the cluster that have something to remove, and how many others there are.
func (c Cleaner) Nodes(ctx context.Context) (names []string, others int, err error) {
	all, err := c.client.nodes(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("list the nodes: %w", err)
	}
	names = toClean(all)
	return names, len(all) - len(names), nil
}

// toClean returns the names of the nodes that have something to remove. Nodes with the taint come first,
// because it keeps pods away and there may not be time for all nodes.
func toClean(all []node) []string {
	var tainted, others []string
	for _, n := range all {
		switch {
		case n.taint() != "":
			tainted = append(tainted, n.Metadata.Name)
		case n.condition() != nil:
			others = append(others, n.Metadata.Name)
		}
	}
	return append(tainted, others...)
}

// Clean removes the condition and the taint from a node. A daemon that runs on the node sets them again.
func (c Cleaner) Clean(ctx context.Context, name string) (Cleaned, error) {
	return clean(ctx, c.client, name)
}

func clean(ctx context.Context, c cluster, name string) (Cleaned, error) {
	done := Cleaned{Node: name}
	n, err := c.node(ctx, name)
	if err != nil {
		return done, fmt.Errorf("get node %s: %w", name, err)
	}
	n, taintErr := update(ctx, c, n, "remove the taint "+TaintKey, func(n node) (node, error) {
		if n.taint() == "" {
			return n, nil
		}
		taints, err := n.withTaint("")
		if err != nil {
			return n, err
		}
		n, err = c.setTaints(ctx, n, taints)
		done.Taint = err == nil
		return n, err
	})
	_, conditionErr := update(ctx, c, n, "remove the condition "+ConditionType, func(n node) (node, error) {
		if n.condition() == nil {
			return n, nil
		}
		n, err := c.removeCondition(ctx, n)
		done.Condition = err == nil
		return n, err
	})
	return done, errors.Join(taintErr, conditionErr)
}

// IsGone reports whether an error of Clean says that the node does not exist, for example because it was
// deleted in between.
func IsGone(err error) bool { return apierrors.IsNotFound(err) }
