package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/fleet"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
)

const (
	// fleetCheck is how long an answer of the API server remains valid. The server is asked again even while no run
	// is due, so that a problem shows before it keeps a run from beginning.
	fleetCheck = 10 * time.Minute
	// fleetRetry is the same for a failed request.
	fleetRetry = time.Minute
	// fleetSpread is the longest time by which a run begins later, so that not all nodes ask at the same moment. It is
	// below the shortest window of a run.
	fleetSpread = 30 * time.Second
)

// errNotPermitted means that a run has to wait for other nodes, or for an answer of the API server.
var errNotPermitted = errors.New("no lease to run now")

// permits coordinates the runs of this node with those of other nodes. A nil permits always permits, because there is
// no fleet.
type permits struct {
	semaphore *fleet.Semaphore
	log       *slog.Logger

	mu     sync.Mutex
	status record.CollectorStatus // of the last request to the API server
	asked  time.Time              // the time of that request
}

// newPermits returns nil when the configuration does not enable a fleet.
func newPermits(c config.Config, log *slog.Logger) (*permits, error) {
	if !c.Fleet.Enabled {
		return nil, nil //nolint:nilnil // having no fleet is valid
	}
	s, err := fleet.Connect(fleet.Options{
		Permits: c.Fleet.MaxRuns, Lease: c.Fleet.Lease, Namespace: c.Fleet.Namespace, Kubeconfig: c.Fleet.Kubeconfig,
		Duration: c.Fleet.LeaseDuration, Node: c.Node,
	})
	if errors.Is(err, fleet.ErrNoCluster) {
		return nil, fmt.Errorf("%w; mount one (automountServiceAccountToken: true), name a kubeconfig with fleet.kubeconfig, or set fleet.enabled: false", err)
	} else if err != nil {
		return nil, err
	}
	return &permits{semaphore: s, log: log, status: record.CollectorStatus{Collector: "fleet", Success: true}}, nil
}

// first returns how long to wait before asking for a permit for a run that has become due: a random time, because it
// becomes due on all nodes of the fleet at the same moment.
func (p *permits) first() time.Duration {
	if p == nil {
		return 0
	}
	return rand.N(min(p.pause(), fleetSpread))
}

// pause returns how long to wait before asking for a permit again.
func (p *permits) pause() time.Duration { return p.semaphore.Pause() }

// under calls do with a permit. It returns errNotPermitted when there is none now. When the permit is lost meanwhile,
// the context of do ends with the cause fleet.ErrLost.
func (p *permits) under(ctx context.Context, do func(context.Context) (record.RunReport, error)) (record.RunReport, error) {
	if p == nil {
		return do(ctx)
	}
	start := time.Now()
	permit, err := p.semaphore.Try(ctx)
	if ctx.Err() == nil {
		p.note(start, err)
	}
	if err != nil {
		return record.RunReport{}, fmt.Errorf("%w: %w", errNotPermitted, err)
	}
	p.log.Info("took a lease to run", "lease", permit.Name())
	running, end := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := permit.Keep(running, p.note); err != nil {
			end(err)
		}
	}()
	report, runErr := do(running)
	end(nil)
	<-ended
	// The permit is returned even when the daemon stops.
	start = time.Now()
	err = permit.Release(context.WithoutCancel(ctx))
	p.note(start, err)
	if err != nil {
		p.log.Warn("could not release the lease to run; it expires by itself", "err", err)
	}
	return report, runErr
}

// watch asks the API server when there was no other request for a while, until ctx ends.
func (p *permits) watch(ctx context.Context) error {
	for ctx.Err() == nil {
		if wait := p.fresh(); wait > 0 {
			schedule.Pause(ctx, min(wait, fleetRetry)) // a run's own request may fail meanwhile
			continue
		}
		start := time.Now()
		if err := p.semaphore.Check(ctx); ctx.Err() == nil {
			p.note(start, err)
		}
	}
	return nil
}

// fresh returns how much longer the last answer of the API server remains valid.
func (p *permits) fresh() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	lasts := fleetRetry
	if p.status.Success {
		lasts = fleetCheck
	}
	return time.Until(p.asked.Add(lasts))
}

// note records the result of the last request to the API server, and logs a change. That other nodes run or have
// taken the permit is not a failure.
func (p *permits) note(start time.Time, err error) {
	if errors.Is(err, fleet.ErrTaken) || errors.Is(err, fleet.ErrLost) {
		err = nil
	}
	p.mu.Lock()
	before := p.status.Success
	p.status, p.asked = collected("fleet", "", start, err), time.Now()
	p.mu.Unlock()
	switch {
	case err != nil && before:
		p.log.Warn("cannot ask the API server for leases to run: no run begins, and a run that holds a lease ends before it expires", "err", err)
	case err == nil && !before:
		p.log.Info("the API server can be asked for leases to run again")
	}
}

// collector returns the status of the last request to the API server; nothing without a fleet.
func (p *permits) collector() []record.CollectorStatus {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return []record.CollectorStatus{p.status}
}
