package nodestatus

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/fleet"
	"github.com/ssdprobe/ssdprobe/internal/fleet/fleettest"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// tainting is a daemon of a node that may have the taint, and so many nodes at a time.
func tainting(t *testing.T, s *shelf, l *fleettest.Shelf, name string, most int, v record.DriveVerdict) *daemon {
	d := &daemon{t: t, node: name}
	d.says(v)
	r := newReporter(d.options(func(o *Options) { o.Taint, o.MaxTaints = "PreferNoSchedule", most }), s)
	r.permits = fleet.New(l, r.permitOptions())
	d.run(r)
	return d
}

// tainted are the nodes that have the taint.
func (s *shelf) tainted() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, n := range s.nodes {
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
		assert.Contains(t, d.logged(), "the node has the taint: a drive is severe")
		pass(t, time.Hour)
		assert.Equal(t, "PreferNoSchedule", s.look("storage-1").taint())
		assert.Less(t, time.Since(l.Leases["ssdprobe-slow-drive-0"].Spec.RenewTime.Time), leaseDuration/2, "it is renewed")

		s.set(func(s *shelf) { // by hand
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

// What a daemon that was killed left is the next one's.
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
				assert.Contains(t, other.logged(), "as many nodes as may have it do\" nodes=[storage-1]")
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

// kill leaves what a daemon leaves that is killed while its node has the taint.
func kill(t *testing.T, s *shelf, l *fleettest.Shelf, name string) {
	r := newReporter((&daemon{t: t, node: name}).options(func(o *Options) { o.Taint = "PreferNoSchedule" }), s)
	r.permits = fleet.New(l, r.permitOptions())
	_, err := r.taintTo(t.Context(), s.look(name), true)
	require.NoError(t, err)
	require.Contains(t, s.tainted(), name)
}

func TestANodeThatIsGoneHasNoTaint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newShelf("storage-1", "storage-2"), fleettest.NewShelf()
		kill(t, s, l, "storage-1")
		s.set(func(s *shelf) { delete(s.nodes, "storage-1") })
		tainting(t, s, l, "storage-2", 1, severe)
		pass(t, 5*time.Minute)
		assert.Equal(t, []string{"storage-2"}, s.tainted())
	})
}

// A permit that somebody has taken by hand is lost, and the taint with it.
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
		assert.Contains(t, d.logged(), `the permit to run is lost: lease ssdprobe-slow-drive-0 was taken by \"somebody\"`)
	})
}

// While the API server is away, a node keeps the taint that it has, and no other gets one.
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
		for _, node := range s.nodes {
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
		case 4: // killed: it says nothing at its end
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

// deaf is a cluster that hears nothing.
type deaf struct{}

func (deaf) node(context.Context, string) (node, error)                       { return node{}, errDown }
func (deaf) setCondition(context.Context, node, condition) (node, error)      { return node{}, errDown }
func (deaf) removeCondition(context.Context, node) (node, error)              { return node{}, errDown }
func (deaf) setTaints(context.Context, node, []json.RawMessage) (node, error) { return node{}, errDown }
func (deaf) createEvent(context.Context, event) error                         { return errDown }
