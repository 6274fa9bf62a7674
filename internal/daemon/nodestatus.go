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

// nodeStatus reports the drives of the node to Kubernetes.
type nodeStatus struct {
	*nodestatus.Reporter

	mu   sync.Mutex
	last *record.CollectorStatus // nil until the first report
}

// toldOf is the id under which problems with the stored reports to Kubernetes are reported.
const toldOf = "told"

// newNodeStatus returns nil when the configuration does not enable it.
func (d *Daemon) newNodeStatus(c config.Config) (*nodeStatus, error) {
	if !c.Kubernetes.Enabled {
		return nil, nil //nolint:nilnil // not reporting is valid
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
			stored.keep(context.Background(), toldOf, 1, func(s state.Dir) error { return s.SaveTold(told) })
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

// asked records the result of the last request to the API server.
func (n *nodeStatus) asked(start time.Time, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = new(collected("kubernetes", "", start, err))
}

// collector returns the status of the last request to the API server; nothing before the first one, and when nothing
// is reported.
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
