package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/fleet"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
)

const (
	// fleetCheck is for how long an answer of the API server stands: it is asked again
	// while no run is due, so that what keeps runs from beginning shows before one is.
	fleetCheck = 10 * time.Minute
	// fleetRetry is the same of a failure.
	fleetRetry = time.Minute
)

// errNotPermitted says that a run has to wait for other nodes, or for an answer.
var errNotPermitted = errors.New("not permitted to run now")

// permits keeps the runs of this node apart from those of other nodes. nil permits
// everything: there is no fleet.
type permits struct {
	semaphore *fleet.Semaphore
	log       *slog.Logger

	mu     sync.Mutex
	status record.CollectorStatus // of the last time that the API server was asked anything
	asked  time.Time              // when that was
}

// newPermits returns nil when the configuration does not ask for any.
func newPermits(c config.Config, log *slog.Logger) (*permits, error) {
	if !c.Fleet.Enabled {
		return nil, nil //nolint:nilnil // no fleet is a valid one
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

// pause is how long to wait for a permit before it is asked for again.
func (p *permits) pause() time.Duration { return p.semaphore.Pause() }

// under does what needs a permit. Error: errNotPermitted when there is none now.
// fleet.ErrLost is the cause of the end of ctx when it is lost meanwhile.
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
	p.log.Info("permitted to run", "lease", permit.Name())
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
	// It is given back even when the daemon stops.
	start = time.Now()
	err = permit.Release(context.WithoutCancel(ctx))
	p.note(start, err)
	if err != nil {
		p.log.Warn("the permit to run was not given back; it runs out", "err", err)
	}
	return report, runErr
}

// watch asks the API server when nothing else has for a while, until ctx ends.
func (p *permits) watch(ctx context.Context) error {
	for ctx.Err() == nil {
		if wait := p.fresh(); wait > 0 {
			schedule.Pause(ctx, min(wait, fleetRetry)) // what a run hears may be worse
			continue
		}
		start := time.Now()
		if err := p.semaphore.Check(ctx); ctx.Err() == nil {
			p.note(start, err)
		}
	}
	return nil
}

// fresh is for how much longer what was last heard of the API server stands.
func (p *permits) fresh() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	lasts := fleetRetry
	if p.status.Success {
		lasts = fleetCheck
	}
	return time.Until(p.asked.Add(lasts))
}

// note keeps how the API server was last asked, and logs it when it is news. That
// others run, or have taken the permit, is an answer.
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
		p.log.Warn("the API server cannot be asked for permits to run: none begins, and one that holds a permit ends before that runs out", "err", err)
	case err == nil && !before:
		p.log.Info("the API server can be asked for permits to run again")
	}
}

// collector returns how the API server was last asked; none without a fleet.
func (p *permits) collector() []record.CollectorStatus {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return []record.CollectorStatus{p.status}
}
