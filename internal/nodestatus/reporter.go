package nodestatus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ssdprobe/ssdprobe/internal/check"
	"github.com/ssdprobe/ssdprobe/internal/fleet"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
)

// Options configure a Reporter.
type Options struct {
	// Node is the name of the Node.
	Node string
	// Namespace is that of the Leases. Namespace and Kubeconfig are as in fleet.Options.
	Namespace, Kubeconfig string
	// Taint is the effect of the taint on a node with a severe drive; empty for no taint.
	Taint string
	// MaxTaints is how many nodes may have the taint at a time, 1 or more.
	MaxTaints int
	// LeaseDuration is how long a permit lasts without renewal, 1 s or more; 0 for 2 min.
	LeaseDuration time.Duration
	// Snapshot returns what is currently known.
	Snapshot func() record.Snapshot
	// Told holds the verdicts for which events were created earlier. Keep stores them.
	Told map[string]record.ToldVerdict
	Keep func(map[string]record.ToldVerdict)
	// Asked is called with the result of each attempt to write to the cluster.
	Asked func(start time.Time, err error)
	Log   *slog.Logger
}

const (
	// look is how often the verdict is compared with what the cluster was last told.
	look = 10 * time.Second
	// heartbeat, plus a random part of heartbeatSpread, is the time between two writes of an unchanged
	// condition. Including look and the time for an answer, writes are less than 5 min apart.
	heartbeat, heartbeatSpread = 4 * time.Minute, 30 * time.Second
	// retry is about how long to wait after a failure before the next attempt.
	retry = 30 * time.Second
	// taintWait is about how long a node that has no permit for the taint waits before it asks again.
	taintWait = 30 * time.Second
	// rivalSilence is how long the condition of another daemon must stay unchanged before that daemon counts as
	// gone.
	rivalSilence = 10 * time.Minute
	// leaseDuration is the default of Options.LeaseDuration.
	leaseDuration = 2 * time.Minute
	// endPatience is how long the last words may take: several requests with late answers. The daemon has 20 s
	// to stop.
	endPatience = 12 * time.Second
	// remembered is how many conditions are recognised whose answers were lost.
	remembered = 8
)

// ErrRival says that another program writes the condition of the node.
var ErrRival = errors.New("another program sets the condition " + ConditionType + " of this node")

// Reporter reports what is known about one node to the cluster. Create one with Connect and run it once.
type Reporter struct {
	options Options
	cluster cluster
	permits *fleet.Semaphore
	log     *slog.Logger

	told    map[string]record.ToldVerdict
	permit  *permit
	waiting bool // for a permit: no Lease names this node
	stuck   bool // the node has a taint that is not configured, and there is no right to remove it
	// wrote is the last condition that was written. tried holds those written since then without an answer.
	wrote   *condition
	tried   []condition
	next    time.Time // when to write although nothing has changed
	rival   *sighting
	yielded bool // the taint was removed because of the rival
	failed  bool
}

// sighting is a condition written by somebody else, and when it was first seen.
type sighting struct {
	condition
	at time.Time
}

// Connect returns the Reporter of a node. It sends no request yet. Errors: those of fleet.Access.
func Connect(o Options) (*Reporter, error) {
	c, err := connect(o.Kubeconfig, 0)
	if err != nil {
		return nil, err
	}
	r := newReporter(o, c)
	if o.Taint != "" {
		r.permits, err = fleet.Connect(r.permitOptions())
	}
	return r, err
}

// connect returns a client that sends at most qps requests a second. 0 means client-go's default, and a
// negative value no limit.
func connect(kubeconfig string, qps float32) (*client, error) {
	access, _, err := fleet.Access(kubeconfig, "default") // nodes are in no namespace
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	access.QPS = qps
	c, err := newClient(access)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	return c, nil
}

func newReporter(o Options, c cluster) *Reporter {
	if o.LeaseDuration == 0 {
		o.LeaseDuration = leaseDuration
	}
	r := &Reporter{options: o, cluster: c, log: o.Log, told: map[string]record.ToldVerdict{}}
	maps.Copy(r.told, o.Told)
	return r
}

// permitOptions returns the options of the permits for the taint.
func (r *Reporter) permitOptions() fleet.Options {
	return fleet.Options{
		Permits: r.options.MaxTaints, Lease: Lease, Namespace: r.options.Namespace, Kubeconfig: r.options.Kubeconfig,
		Duration: r.options.LeaseDuration, Node: r.options.Node, OfNode: true, Spent: r.spent,
	}
}

// spent reports whether a node does not have the taint, or is gone.
func (r *Reporter) spent(ctx context.Context, name string) (bool, error) {
	n, err := r.cluster.node(ctx, name)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return err == nil && n.taint() == "", err
}

// Run reports what is known until ctx ends, and then that nobody watches the drives any more.
func (r *Reporter) Run(ctx context.Context) error {
	for schedule.Pause(ctx, look) {
		r.tellNow(ctx)
	}
	r.end(ctx)
	return nil
}

// tellNow reports what has changed or is due.
func (r *Reporter) tellNow(ctx context.Context) {
	s := r.options.Snapshot()
	if s.NotReady != "" { // after a restart, a drive that is not found yet is not gone
		return
	}
	result := check.Of(s, nil)
	wanted, all := conditionOf(result), newsOf(r.told, s)
	now := time.Now()
	changed := r.wrote == nil || r.wrote.Status != wanted.Status || r.wrote.Reason != wanted.Reason || len(all) > 0
	if now.Before(r.next) && (r.failed || !changed && !r.permit.due(now, r.options.LeaseDuration)) {
		return
	}
	err := r.write(ctx, wanted, all, r.options.Taint != "" && wanted.Reason == DriveSevere)
	if ctx.Err() != nil {
		return
	}
	r.noted(now, err)
}

// write writes the wanted state. It tries each part even if another one fails.
func (r *Reporter) write(ctx context.Context, wanted condition, all []news, taint bool) error {
	n, err := r.cluster.node(ctx, r.options.Node)
	if err != nil {
		return fmt.Errorf("get node %s: %w", r.options.Node, err)
	}
	conditionErr := r.alone(n)
	if conditionErr == nil {
		n, conditionErr = r.setCondition(ctx, n, wanted)
	}
	if errors.Is(conditionErr, ErrRival) {
		return errors.Join(conditionErr, r.yield(ctx, n))
	}
	eventErr := r.tellNews(ctx, n, all)
	_, taintErr := r.taintTo(ctx, n, taint)
	return errors.Join(conditionErr, eventErr, taintErr)
}

// setCondition writes the condition, unless the same condition was written recently.
func (r *Reporter) setCondition(ctx context.Context, n node, wanted condition) (node, error) {
	return update(ctx, r.cluster, n, "set the condition "+ConditionType, func(n node) (node, error) {
		if err := r.alone(n); err != nil {
			return n, err
		}
		before := n.condition()
		if before != nil && r.wrote != nil && before.equal(*r.wrote) && before.says(wanted) && time.Since(before.LastHeartbeatTime.Time) < heartbeat {
			return n, nil
		}
		c := wanted.at(time.Now(), before)
		r.tried = append(r.tried[max(0, len(r.tried)+1-remembered):], c)
		n, err := r.cluster.setCondition(ctx, n, c)
		if err == nil {
			r.wrote, r.tried = &c, nil
		}
		return n, err
	})
}

// alone returns ErrRival if somebody else has written the condition since this process did, and still does so.
func (r *Reporter) alone(n node) error {
	c := n.condition()
	if c != nil && slices.ContainsFunc(r.tried, c.equal) { // it was written, but the answer was lost
		r.wrote = c
	}
	switch {
	case c == nil, r.wrote == nil, c.equal(*r.wrote), c.Reason == DaemonStopped:
		r.rival, r.yielded = nil, false
		return nil
	case r.rival == nil || !r.rival.equal(*c):
		r.rival = &sighting{*c, time.Now()}
		r.permit, r.waiting = nil, false // the daemon that owns the condition also owns the taint and its permit
	case time.Since(r.rival.at) >= rivalSilence: // the rival is gone, so this process owns its condition now
		r.rival, r.wrote, r.yielded = nil, c, false
		return nil
	}
	return fmt.Errorf("%w: it says %q, with a heartbeat at %s; run one daemon for each node, with its own name (--node), and no other program that sets this condition",
		ErrRival, c.Message, c.LastHeartbeatTime.UTC().Format(time.RFC3339))
}

// noted reports the result of an attempt, and schedules the next one.
func (r *Reporter) noted(start time.Time, err error) {
	r.options.Asked(start, err)
	switch {
	case err != nil:
		r.next = start.Add(retry/2 + rand.N(retry))
	case r.waiting:
		r.next = start.Add(taintWait/2 + rand.N(taintWait))
	default: // counted from the last heartbeat, because not every attempt writes the condition
		r.next = r.wrote.LastHeartbeatTime.Add(heartbeat + rand.N(heartbeatSpread))
	}
	switch {
	case err != nil && !r.failed:
		log := r.log
		if text := advice(err); text != "" {
			log = log.With("advice", text)
		}
		log.Warn("cannot report the drives of this node to Kubernetes", "err", err)
	case err == nil && r.failed:
		r.log.Info("the drives of this node are reported to Kubernetes again")
	}
	r.failed = err != nil
}

// advice returns what to do about an error; empty when that is not known.
func advice(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return "the service account of the pods lacks a permission; apply the manifests again, with the component or the values that enable this"
	case apierrors.IsNotFound(err):
		return "set node in the configuration to the name that kubectl get nodes shows"
	}
	return ""
}

// end removes the taint and reports that nobody watches the drives any more, unless another daemon has taken
// over.
func (r *Reporter) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	if err := r.lastWords(ctx); err != nil {
		r.log.Warn("cannot report to Kubernetes that the daemon stops", "err", err)
	}
}

// lastWords removes the taint first, because it keeps pods away, whereas the condition ages. It also removes a
// taint that an earlier process left, but it leaves a condition alone that this process has not written.
func (r *Reporter) lastWords(ctx context.Context) error {
	n, err := r.cluster.node(ctx, r.options.Node)
	if err != nil {
		return fmt.Errorf("get node %s: %w", r.options.Node, err)
	}
	if r.alone(n) != nil {
		return r.yield(ctx, n)
	}
	n, taintErr := r.taintTo(ctx, n, false)
	if r.wrote == nil && r.tried == nil {
		return taintErr
	}
	_, conditionErr := r.setCondition(ctx, n, condition{Type: ConditionType, Status: isUnknown, Reason: DaemonStopped, Message: stopped})
	if errors.Is(conditionErr, ErrRival) {
		conditionErr = nil
	}
	return errors.Join(taintErr, conditionErr)
}
