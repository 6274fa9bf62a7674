package nodestatus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssdprobe/ssdprobe/internal/fleet"
	"github.com/ssdprobe/ssdprobe/internal/fleet/fleettest"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// tainting returns a daemon of a node that may have the taint, as at most most nodes may at a time.
func tainting(t *testing.T, s *shelf, l *fleettest.Shelf, name string, most int, v record.DriveVerdict) *daemon {
	d := &daemon{t: t, node: name}
	d.says(v)
	r := newReporter(d.options(func(o *Options) { o.Taint, o.MaxTaints = "PreferNoSchedule", most }), s)
	r.permits = fleet.New(l, r.permitOptions())
	d.run(r)
	return d
}

// tainted returns the names of the nodes that have the taint.
func (s *shelf) tainted() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, n := range s.stored {
		if n.taint() != "" {
			names = append(names, name)
		}
	}
	return names
}

func TestTaintWhileADriveIsSevere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newShelf("storage-1"), fleettest.NewShelf()
		d := tainting(t, s, l, "storage-1", 1, degraded)
		pass(t, time.Hour)
		assert.Empty(t, s.tainted(), "degraded is not severe")
		assert.Empty(t, l.Leases)

		d.says(severe)
		pass(t, soon)
		n := s.look("storage-1")
		assert.Equal(t, "PreferNoSchedule", n.taint())
		assert.JSONEq(t, `{"key":"storage","value":"only","effect":"NoSchedule"}`, string(n.Spec.Taints[0]), "that of others is there still")
		assert.Contains(t, d.logged(), "added the taint to the node: a drive is severe")
		pass(t, time.Hour)
		assert.Equal(t, "PreferNoSchedule", s.look("storage-1").taint())
		assert.Less(t, time.Since(l.Leases["ssdprobe-slow-drive-0"].Spec.RenewTime.Time), leaseDuration/2, "it is renewed")

		s.set(func(s *shelf) { // an administrator removes it
			n := s.copy("storage-1")
			n.Spec.Taints, _ = n.withTaint("")
			s.keep(n)
		})
		pass(t, leaseDuration)
		assert.Equal(t, "PreferNoSchedule", s.look("storage-1").taint(), "it is put back")

		d.says(degraded)
		pass(t, soon)
		assert.Empty(t, s.tainted())
		assert.Nil(t, l.Leases["ssdprobe-slow-drive-0"].Spec.HolderIdentity)
		d.says(severe)
		pass(t, soon)
		assert.Len(t, s.tainted(), 1)
		d.end()
		assert.Empty(t, s.tainted(), "it does not outlive the daemon")
		assert.Nil(t, l.Leases["ssdprobe-slow-drive-0"].Spec.HolderIdentity)
	})
}

// The next daemon takes over what a killed daemon left.
func TestTaintOfADaemonThatWasKilled(t *testing.T) {
	for name, c := range map[string]struct {
		now    record.DriveVerdict
		remain int
	}{"severe still": {severe, 1}, "fine by now": {fine, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := newShelf("storage-1", "storage-2"), fleettest.NewShelf()
				kill(t, s, l, "storage-1")
				other := tainting(t, s, l, "storage-2", 1, severe)
				pass(t, time.Hour)
				assert.Equal(t, []string{"storage-1"}, s.tainted(), "its permit has long run out, and yet is nobody else's")
				assert.Contains(t, other.logged(), "the maximum number of nodes has it\" nodes=[storage-1]")
				assert.Equal(t, 1, strings.Count(other.logged(), "\n"), other.logged())
				assert.True(t, other.works(), "to wait is no failure")

				tainting(t, s, l, "storage-1", 1, c.now)
				pass(t, 5*time.Minute)
				want := "storage-1"
				if c.remain == 0 {
					want = "storage-2"
				}
				assert.Equal(t, []string{want}, s.tainted())
			})
		})
	}
}

// reads counts the Leases that are read.
type reads struct {
	fleet.Leases
	n int
}

func (r *reads) Get(ctx context.Context, name string) (*coordination.Lease, error) {
	r.n++
	return r.Leases.Get(ctx, name)
}

// If thousands of nodes wait for 64 permits, each must not read all of them each time.
func TestANodeThatWaitsReadsFewLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 64
		l := &reads{Leases: fleettest.NewShelf()}
		holders := make([]string, most)
		for i := range holders {
			holders[i] = fmt.Sprintf("storage-%d", i)
		}
		s := newShelf(append(holders, "waiting")...)
		for _, name := range holders {
			r := newReporter((&daemon{t: t, node: name}).options(func(o *Options) { o.Taint, o.MaxTaints = "PreferNoSchedule", most }), s)
			for r.permits = fleet.New(l, r.permitOptions()); r.permit == nil; {
				_, err := r.taintTo(t.Context(), s.look(name), true)
				require.NoError(t, err)
			}
		}
		r := newReporter((&daemon{t: t, node: "waiting"}).options(func(o *Options) { o.Taint, o.MaxTaints = "PreferNoSchedule", most }), s)
		r.permits = fleet.New(l, r.permitOptions())
		for attempt := range 3 {
			l.n = 0
			_, err := r.taintTo(t.Context(), s.look("waiting"), true)
			require.NoError(t, err)
			require.True(t, r.waiting)
			if attempt > 0 { // the first looks for the permit of an earlier process
				assert.LessOrEqual(t, l.n, 4)
			}
		}
	})
}

// kill leaves behind what a daemon does that is killed while its node has the taint.
func kill(t *testing.T, s *shelf, l *fleettest.Shelf, name string) {
	r := newReporter((&daemon{t: t, node: name}).options(func(o *Options) { o.Taint = "PreferNoSchedule" }), s)
	r.permits = fleet.New(l, r.permitOptions())
	_, err := r.taintTo(t.Context(), s.look(name), true)
	require.NoError(t, err)
	require.Contains(t, s.tainted(), name)
}

// A daemon that is stopped before it knows its drives must not leave behind the taint of an earlier one.
func TestADaemonThatEndsEarlyLeavesNoTaint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newShelf("storage-1"), fleettest.NewShelf()
		kill(t, s, l, "storage-1")
		d := tainting(t, s, l, "storage-1", 1, severe)
		d.change(func(s *record.Snapshot) { s.NotReady = "devices are being looked for" })
		pass(t, time.Minute)
		require.Len(t, s.tainted(), 1, "it may be wanted still")
		d.end()
		assert.Empty(t, s.tainted())
		assert.Nil(t, l.Leases["ssdprobe-slow-drive-0"].Spec.HolderIdentity)
		assert.Nil(t, s.look("storage-1").condition())
	})
}

// The taint is removed first: even if the API server answers only one request, the taint is gone.
func TestTheTaintIsTheFirstToGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newShelf("storage-1"), fleettest.NewShelf()
		d := tainting(t, s, l, "storage-1", 1, severe)
		pass(t, soon)
		require.Len(t, s.tainted(), 1)
		d.reporter.cluster = oneChange{s}
		d.end()
		assert.Empty(t, s.tainted())
		assert.Equal(t, DriveSevere, s.look("storage-1").condition().Reason)
		assert.Contains(t, d.logged(), "cannot report to Kubernetes that the daemon stops")
	})
}

// oneChange is a cluster that is down after the first change.
type oneChange struct{ *shelf }

func (c oneChange) setCondition(ctx context.Context, n node, to condition) (node, error) {
	defer c.set(func(s *shelf) { s.down = true })
	return c.shelf.setCondition(ctx, n, to)
}

func (c oneChange) setTaints(ctx context.Context, n node, taints []json.RawMessage) (node, error) {
	defer c.set(func(s *shelf) { s.down = true })
	return c.shelf.setTaints(ctx, n, taints)
}

// A taint that is no longer configured is removed.
func TestTaintThatIsNoLongerAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newShelf("storage-1"), fleettest.NewShelf()
		kill(t, s, l, "storage-1")
		d := started(t, s, severe)
		pass(t, soon)
		assert.Empty(t, s.tainted())
		assert.Len(t, s.look("storage-1").Spec.Taints, 1, "that of others stays")
		assert.True(t, d.works())
	})
}

// The right to remove the taint may have been withdrawn at the same time.
func TestTaintThatIsNoLongerAskedForWithoutTheRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newShelf("storage-1"), fleettest.NewShelf()
		kill(t, s, l, "storage-1")
		s.deniesTaints = apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "storage-1", errors.New("the account cannot patch it"))
		d := started(t, s, severe)
		pass(t, time.Hour)
		assert.True(t, d.works(), "all else is told")
		assert.Equal(t, DriveSevere, s.look("storage-1").condition().Reason)
		assert.Equal(t, 1, strings.Count(d.logged(), "\n"), d.logged())
		assert.Contains(t, d.logged(), "run ssdprobe kubernetes cleanup --all-nodes")
		s.set(func(s *shelf) { s.deniesTaints = nil })
		pass(t, 5*time.Minute)
		assert.Empty(t, s.tainted())
	})
}

// node-problem-detector sets the condition, but does not know the taint.
func TestARivalThatKnowsNoTaint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newShelf("storage-1", "storage-2"), fleettest.NewShelf()
		d := tainting(t, s, l, "storage-1", 1, severe)
		pass(t, soon)
		require.Equal(t, []string{"storage-1"}, s.tainted())
		rival := func() {
			c := condition{Type: ConditionType, Status: isFalse, Reason: NoSlowDrive, Message: "no slow drive"}.at(time.Now(), nil)
			_, err := s.setCondition(t.Context(), s.look("storage-1"), c)
			require.NoError(t, err)
		}
		rival()
		d.says(degraded) // so that there is something to report
		pass(t, time.Minute)
		assert.False(t, d.works())
		assert.Empty(t, s.tainted())
		assert.Contains(t, d.logged(), "removing the taint: another program sets the condition SlowDrive")

		other := tainting(t, s, l, "storage-2", 1, severe)
		pass(t, 10*time.Minute)
		assert.Equal(t, []string{"storage-2"}, s.tainted(), "the permit has run out, of a node that has no taint")
		other.end()

		// A daemon starts and ends while the same rival is there.
		late := tainting(t, s, l, "storage-1", 1, severe)
		pass(t, soon)
		require.Equal(t, []string{"storage-1"}, s.tainted())
		rival()
		late.end()
		assert.Empty(t, s.tainted())
		assert.Equal(t, isFalse, s.look("storage-1").condition().Status, "what the rival says stays")
	})
}

// Of two daemons of a node, the one that prevails keeps the taint, even after the other one has removed it.
func TestARivalPutsTheTaintBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newShelf("storage-1", "storage-2"), fleettest.NewShelf()
		first := tainting(t, s, l, "storage-1", 1, severe)
		pass(t, soon)
		second := tainting(t, s, l, "storage-1", 1, severe)
		tainting(t, s, l, "storage-2", 1, severe)
		pass(t, 10*time.Minute)
		assert.True(t, second.works())
		assert.False(t, first.works())
		assert.Equal(t, []string{"storage-1"}, s.tainted())
		first.end()
		assert.Equal(t, []string{"storage-1"}, s.tainted())
	})
}

// A node that waits for the taint and a node that renews its permit write the condition only for the heartbeat.
func TestWaitingAndRenewingWriteNoCondition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newShelf("storage-1", "storage-2"), fleettest.NewShelf()
		tainting(t, s, l, "storage-1", 1, severe)
		pass(t, soon)
		tainting(t, s, l, "storage-2", 1, severe)
		pass(t, soon)
		before := s.version
		for range 60 {
			pass(t, time.Minute)
			for _, name := range []string{"storage-1", "storage-2"} {
				assert.Less(t, time.Since(s.look(name).condition().LastHeartbeatTime.Time), 5*time.Minute)
			}
		}
		assert.LessOrEqual(t, s.version-before, 2*60/4)
	})
}

func TestANodeThatIsGoneHasNoTaint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newShelf("storage-1", "storage-2"), fleettest.NewShelf()
		kill(t, s, l, "storage-1")
		s.set(func(s *shelf) { delete(s.stored, "storage-1") })
		tainting(t, s, l, "storage-2", 1, severe)
		pass(t, 5*time.Minute)
		assert.Equal(t, []string{"storage-2"}, s.tainted())
	})
}

// If somebody takes a permit by hand, the permit is lost, and the taint with it.
func TestALostPermitEndsTheTaint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newShelf("storage-1"), fleettest.NewShelf()
		d := tainting(t, s, l, "storage-1", 1, severe)
		pass(t, soon)
		l.Set(func(l *fleettest.Shelf) {
			lease, other := l.Leases["ssdprobe-slow-drive-0"].DeepCopy(), "somebody"
			lease.Spec.HolderIdentity = &other
			l.Keep(lease)
		})
		pass(t, leaseDuration/2)
		assert.Empty(t, s.tainted())
		assert.Contains(t, d.logged(), `the lease to run is lost: lease ssdprobe-slow-drive-0 was taken by \"somebody\"`)
	})
}

// While the API server is down, a node keeps its taint, and no other node gets one.
func TestTaintsDuringAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newShelf("storage-1", "storage-2"), fleettest.NewShelf()
		first := tainting(t, s, l, "storage-1", 1, severe)
		pass(t, soon)
		tainting(t, s, l, "storage-2", 1, severe)
		s.set(func(s *shelf) { s.down = true })
		l.Set(func(l *fleettest.Shelf) { l.Down = true })
		pass(t, time.Hour)
		s.set(func(s *shelf) { s.down = false })
		l.Set(func(l *fleettest.Shelf) { l.Down = false })
		pass(t, 5*time.Minute)
		assert.Equal(t, []string{"storage-1"}, s.tainted())
		first.says(fine)
		pass(t, 5*time.Minute)
		assert.Equal(t, []string{"storage-2"}, s.tainted())
	})
}

// Ten nodes want the taint, come and go, are killed, and lose the API server now and then.
func TestNeverMoreTaintsThanMay(t *testing.T) {
	testenv.Long(t)
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { simulate(t, seed, 1+int(seed%3)) })
		})
	}
}

func simulate(t *testing.T, seed uint64, most int) {
	luck := rand.New(rand.NewPCG(seed, 1))
	var names []string
	for i := range 10 {
		names = append(names, fmt.Sprintf("storage-%d", i))
	}
	s, l := newShelf(names...), fleettest.NewShelf()
	s.changed = func(s *shelf) { // at each change
		n := 0
		for _, node := range s.stored {
			if node.taint() != "" {
				n++
			}
		}
		assert.LessOrEqual(t, n, most)
		s.reached = max(s.reached, n)
	}
	daemons := map[string]*daemon{}
	for _, name := range names {
		daemons[name] = tainting(t, s, l, name, most, severe)
	}
	for range 60 {
		pass(t, time.Duration(luck.ExpFloat64()*float64(5*time.Minute)))
		name := names[luck.IntN(len(names))]
		down := false
		switch luck.IntN(6) {
		case 0, 1:
			daemons[name].says(severe)
		case 2:
			daemons[name].says(fine)
		case 3:
			daemons[name].end()
			daemons[name] = tainting(t, s, l, name, most, severe)
		case 4: // killed, without last words
			daemons[name].kill()
			daemons[name] = tainting(t, s, l, name, most, []record.DriveVerdict{fine, severe}[luck.IntN(2)])
		case 5:
			down = true
		}
		s.set(func(s *shelf) { s.down = down })
		l.Set(func(l *fleettest.Shelf) { l.Down = down })
	}
	assert.Equal(t, most, s.reached, "as many as may")
}

// kill ends the daemon without last words.
func (d *daemon) kill() {
	d.reporter.cluster = deaf{}
	d.end()
}

// deaf is a cluster that fails every request.
type deaf struct{}

func (deaf) node(context.Context, string) (node, error)                       { return node{}, errDown }
func (deaf) nodes(context.Context) ([]node, error)                            { return nil, errDown }
func (deaf) setCondition(context.Context, node, condition) (node, error)      { return node{}, errDown }
func (deaf) removeCondition(context.Context, node) (node, error)              { return node{}, errDown }
func (deaf) setTaints(context.Context, node, []json.RawMessage) (node, error) { return node{}, errDown }
func (deaf) createEvent(context.Context, event) error                         { return errDown }
