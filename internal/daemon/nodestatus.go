package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/fleet"
	"github.com/ssdprobe/ssdprobe/internal/nodestatus"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// nodeStatus is how it goes to tell Kubernetes of the drives of the node.
type nodeStatus struct {
	*nodestatus.Reporter

	mu   sync.Mutex
	last *record.CollectorStatus // nil while nothing was told yet
}

// toldOf is what a problem with what the cluster was told is reported under.
const toldOf = "told"

// newNodeStatus returns nil when the configuration does not ask for it.
func (d *Daemon) newNodeStatus(c config.Config) (*nodeStatus, error) {
	if !c.Kubernetes.Enabled {
		return nil, nil //nolint:nilnil // nobody is to be told
	}
	stored := d.shared.state
	told, err := through(context.Background(), stored, saveTimeout, func(s state.Dir) (map[string]record.ToldVerdict, error) { return s.Told() })
	if err != nil {
		stored.report(toldOf, err)
	}
	n := &nodeStatus{}
	o := nodestatus.Options{
		Node: c.Node, Namespace: c.Kubernetes.Namespace, Kubeconfig: c.Kubernetes.Kubeconfig, MaxTaints: c.Kubernetes.MaxTaints,
		Snapshot: d.Snapshot, Told: told, Asked: n.asked, Log: d.shared.log,
		Keep: func(told map[string]record.ToldVerdict) {
			stored.report(toldOf, stored.save(context.Background(), saveTimeout, func(s state.Dir) error { return s.SaveTold(told) }))
		},
	}
	if c.Kubernetes.Taint != config.TaintNone {
		o.Taint = c.Kubernetes.Taint
	}
	n.Reporter, err = nodestatus.Connect(o)
	if errors.Is(err, fleet.ErrNoCluster) {
		return nil, fmt.Errorf("%w; mount one (automountServiceAccountToken: true), name a kubeconfig with kubernetes.kubeconfig, or set kubernetes.enabled: false", err)
	}
	return n, err
}

// asked keeps how the cluster was last told.
func (n *nodeStatus) asked(start time.Time, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = new(collected("kubernetes", "", start, err))
}

// collector returns how the cluster was last told; nothing before that, and when nobody is told.
func (n *nodeStatus) collector() []record.CollectorStatus {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == nil {
		return nil
	}
	return []record.CollectorStatus{*n.last}
}
