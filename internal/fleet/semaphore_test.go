package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordination "k8s.io/api/coordination/v1"

	"github.com/ssdprobe/ssdprobe/internal/fleet/fleettest"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

const lasts = 2 * time.Minute

// node returns the semaphore of one process.
func node(l Leases, name string, permits int) *Semaphore {
	return New(l, Options{Permits: permits, Lease: "run", Duration: lasts, Node: name})
}

// try takes a permit, which must be free.
func try(t *testing.T, s *Semaphore) *Permit {
	t.Helper()
	p, err := s.Try(t.Context())
	require.NoError(t, err)
	return p
}

func TestAsManyAsMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fleettest.NewShelf()
		first, second := try(t, node(l, "a", 2)), try(t, node(l, "b", 2))
		assert.ElementsMatch(t, []string{"run-0", "run-1"}, []string{first.Name(), second.Name()})

		c := node(l, "c", 2)
		_, err := c.Try(t.Context())
		require.ErrorIs(t, err, ErrTaken)
		assert.Regexp(t, `^all leases are taken: (a, b|b, a)$`, err.Error())

		require.NoError(t, first.Release(t.Context()))
		assert.Equal(t, first.Name(), try(t, c).Name(), "what is given back can be had at once")
		require.NoError(t, first.Release(t.Context()), "it is somebody else's now")
		_, err = node(l, "d", 2).Try(t.Context())
		assert.ErrorIs(t, err, ErrTaken)
	})
}

// counter counts the Leases that are read.
type counter struct {
	*fleettest.Shelf
	read int
}

func (c *counter) Get(ctx context.Context, name string) (*coordination.Lease, error) {
	c.read++
	return c.Shelf.Get(ctx, name)
}

// However many permits there are, thousands of waiting nodes do not overload the API server.
func TestFewLeasesAreReadAtOnce(t *testing.T) {
	const permits = 64
	l := &counter{Shelf: fleettest.NewShelf()}
	taken := func(s *Semaphore) (p *Permit) {
		for p == nil {
			p, _ = s.Try(t.Context()) // free permits are found sooner or later
		}
		return p
	}
	var one *Permit
	for i := range permits {
		one = taken(node(l, fmt.Sprintf("node-%d", i), permits))
	}
	waits := node(l, "waits", permits)
	l.read = 0
	_, err := waits.Try(t.Context())
	require.ErrorIs(t, err, ErrTaken)
	assert.LessOrEqual(t, l.read, 4)
	assert.Regexp(t, `^all leases are taken: (node-\d+, ){4}and 60 others that this attempt did not read$`, err.Error())
	l.read = 0
	require.NoError(t, waits.Check(t.Context()))
	assert.LessOrEqual(t, l.read, 4)
	require.NoError(t, one.Release(t.Context()))
	assert.Equal(t, one.Name(), taken(waits).Name())
}

func TestPermitOfAKilledNodeRunsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fleettest.NewShelf()
		try(t, node(l, "killed", 1))
		waiting := node(l, "b", 1)
		looked := time.Now()
		for {
			p, err := waiting.Try(t.Context())
			if err == nil {
				assert.Equal(t, int32(1), *p.lease.Spec.LeaseTransitions)
				break
			}
			require.ErrorIs(t, err, ErrTaken)
			schedule.Pause(t.Context(), time.Second)
		}
		assert.Equal(t, lasts, time.Since(looked).Truncate(time.Second), "as long as it was seen unchanged")
	})
}

// A node whose clock is wrong writes times that others must not rely on.
func TestClocksOfOthersAreNotTrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fleettest.NewShelf()
		p := try(t, node(l, "a", 1))
		b := node(l, "b", 1)
		for range 10 {
			require.NoError(t, p.write(t.Context(), time.Unix(0, 0)))
			_, err := b.Try(t.Context())
			require.ErrorIs(t, err, ErrTaken)
			schedule.Pause(t.Context(), lasts-time.Second)
		}
		require.NoError(t, p.write(t.Context(), time.Now().AddDate(10, 0, 0)))
		_, err := b.Try(t.Context())
		require.ErrorIs(t, err, ErrTaken)
		schedule.Pause(t.Context(), lasts)
		try(t, b)
	})
}

// The time of the request counts, because the answer may take long.
func TestPermitLastsFromBeforeItWasAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fleettest.NewShelf()
		l.Luck = rand.New(rand.NewPCG(1, 1))
		p := try(t, node(l, "a", 1))
		begun := time.Now()
		require.NoError(t, p.Renew(t.Context()))
		assert.Positive(t, time.Since(begun))
		assert.Equal(t, begun.Add(lasts*5/6), p.End())
	})
}

// An earlier process of the same node is another holder.
func TestSameNodeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fleettest.NewShelf()
		try(t, node(l, "a", 1))
		_, err := node(l, "a", 1).Try(t.Context())
		assert.ErrorIs(t, err, ErrTaken)
	})
}

// unheard ignores the results of renewals.
func unheard(time.Time, error) {}

// The holder of a permit learns of an outage before the permit is lost, and of its end.
func TestRenewalsAreTold(t *testing.T) {
	for name, outage := range map[string]struct {
		begin, end func(*fleettest.Shelf)
		err        error
	}{
		"down":    {func(s *fleettest.Shelf) { s.Down = true }, func(s *fleettest.Shelf) { s.Down = false }, fleettest.ErrDown},
		"hanging": {func(s *fleettest.Shelf) { s.Hangs = true }, func(s *fleettest.Shelf) { s.Hangs = false }, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := fleettest.NewShelf()
				p := try(t, node(l, "a", 1))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var told []error
				require.NoError(t, p.Keep(ctx, func(start time.Time, err error) {
					assert.False(t, start.After(time.Now()))
					switch told = append(told, err); len(told) {
					case 1:
						l.Set(outage.begin)
					case 2:
						l.Set(outage.end)
					case 3:
						cancel()
					}
				}))
				require.Len(t, told, 3)
				require.NoError(t, told[0])
				require.ErrorIs(t, told[1], outage.err)
				require.NoError(t, told[2])
			})
		})
	}
}

func TestKeepRenews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fleettest.NewShelf()
		p := try(t, node(l, "a", 1))
		b := node(l, "b", 1)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Hour)
		defer cancel()
		kept := make(chan error)
		go func() { kept <- p.Keep(ctx, unheard) }()
		for ctx.Err() == nil {
			_, err := b.Try(ctx)
			require.Error(t, err)
			require.True(t, errors.Is(err, ErrTaken) || ctx.Err() != nil, "%v", err)
			schedule.Pause(ctx, b.Pause())
		}
		assert.NoError(t, <-kept)
	})
}

func TestPermitIsLost(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*fleettest.Shelf)
		says   string
		after  time.Duration
	}{
		"taken by another node": {func(s *fleettest.Shelf) {
			lease, other := s.Leases["run-0"].DeepCopy(), "b_1"
			lease.Spec.HolderIdentity = &other
			s.Keep(lease)
		}, `the lease to run is lost: lease run-0 was taken by "b_1"`, lasts / 4},
		"lost server":  {func(s *fleettest.Shelf) { s.Down = true }, "the lease to run is lost: not renewed since 20", lasts * 5 / 6},
		"hanging":      {func(s *fleettest.Shelf) { s.Hangs = true }, "the lease to run is lost: not renewed since 20", lasts * 5 / 6},
		"made by hand": {func(s *fleettest.Shelf) { delete(s.Leases, "run-0"); s.Keep(named0("run-0")) }, `lease run-0 was taken by ""`, lasts / 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := fleettest.NewShelf()
				p := try(t, node(l, "a", 1))
				l.Set(test.change)
				begun := time.Now()
				err := p.Keep(t.Context(), unheard)
				require.ErrorIs(t, err, ErrLost)
				require.ErrorContains(t, err, test.says)
				assert.Equal(t, test.after, time.Since(begun))
			})
		})
	}
}

func named0(name string) *coordination.Lease {
	l := &coordination.Lease{}
	l.Name = name
	return l
}

func TestPermitSurvives(t *testing.T) {
	for name, change := range map[string]func(*fleettest.Shelf){
		"an annotation by hand": func(s *fleettest.Shelf) {
			lease := s.Leases["run-0"].DeepCopy()
			lease.Annotations = map[string]string{"seen": "yes"}
			s.Keep(lease)
		},
		"a deletion by hand": func(s *fleettest.Shelf) { delete(s.Leases, "run-0") },
		"an outage that is over in time": func(s *fleettest.Shelf) {
			s.Down = true
			time.AfterFunc(lasts/2, func() { s.Set(func(s *fleettest.Shelf) { s.Down = false }) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := fleettest.NewShelf()
				p := try(t, node(l, "a", 1))
				l.Set(change)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				require.NoError(t, p.Keep(ctx, unheard))
				assert.Equal(t, p.semaphore.identity, named(l.Leases["run-0"]))
				require.NoError(t, p.Release(t.Context()))
				assert.Empty(t, named(l.Leases["run-0"]))
			})
		})
	}
}

func TestWithoutAnAnswerThereIsNoPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fleettest.NewShelf()
		l.Down = true
		a := node(l, "a", 3)
		_, err := a.Try(t.Context())
		require.ErrorIs(t, err, fleettest.ErrDown)
		require.ErrorIs(t, a.Check(t.Context()), fleettest.ErrDown)

		l.Down, l.Hangs = false, true
		begun := time.Now()
		_, err = a.Try(t.Context())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, a.patience(), time.Since(begun), "one request is waited for, not three")

		l.Hangs = false
		require.NoError(t, a.Check(t.Context()))
		assert.Empty(t, l.Leases, "a check changes nothing")
		try(t, a)
	})
}

// Many nodes run, are killed and come back for hours, while the API server is slow, loses answers and is down
// at times.
func TestNeverMoreThanMay(t *testing.T) {
	testenv.Long(t)
	for seed := range uint64(6) {
		permits := 1 + int(seed%3)
		t.Run(fmt.Sprintf("seed %d, %d permits", seed, permits), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { simulate(t, seed, permits) })
		})
	}
}

// simulate runs six nodes for so long that each of them runs twenty times on average. Which nodes wait and
// which are chosen differs from run to run, but none may starve. With twenty runs, it is very unlikely (1e-4)
// that chance leaves one out with any seed.
func simulate(t *testing.T, seed uint64, permits int) {
	const nodes = 6
	ctx, cancel := context.WithTimeout(t.Context(), 36*time.Hour/time.Duration(permits))
	defer cancel()
	l := fleettest.NewShelf()
	l.Luck = rand.New(rand.NewPCG(seed, 1))
	run := &tally{t: t, most: permits, runs: make([]int, nodes)}
	var living sync.WaitGroup
	for i := range nodes {
		living.Go(func() { live(ctx, l, run, i, permits, rand.New(rand.NewPCG(seed, uint64(2+i)))) })
	}
	luck := rand.New(rand.NewPCG(seed, 100))
	for ctx.Err() == nil {
		schedule.Pause(ctx, time.Duration(luck.ExpFloat64()*float64(2*time.Hour)))
		hangs := luck.IntN(2) == 0
		l.Set(func(s *fleettest.Shelf) { s.Down, s.Hangs = !hangs, hangs })
		schedule.Pause(ctx, time.Duration(luck.ExpFloat64()*float64(3*time.Minute)))
		l.Set(func(s *fleettest.Shelf) { s.Down, s.Hangs = false, false })
	}
	living.Wait()
	assert.Equal(t, permits, run.reached, "as many as may")
	for i, n := range run.runs {
		assert.Positive(t, n, "node %d never ran", i)
	}
}

// live simulates a node: it waits for a permit, runs and gives the permit back. Now and then it is killed, and
// starts again as another process.
func live(ctx context.Context, l Leases, run *tally, i, permits int, luck *rand.Rand) {
	s := node(l, fmt.Sprintf("node-%d", i), permits)
	for ctx.Err() == nil {
		schedule.Pause(ctx, s.Pause())
		p, err := s.Try(ctx)
		if err != nil {
			continue
		}
		run.begins()
		running, end := context.WithTimeout(ctx, time.Duration(luck.ExpFloat64()*float64(20*time.Minute)))
		_ = p.Keep(running, unheard) // lost, or time is up: the run ends either way
		end()
		run.ends(i)
		if luck.IntN(5) == 0 { // killed
			s = node(l, fmt.Sprintf("node-%d", i), permits)
			continue
		}
		_ = p.Release(ctx) // answers may get lost
	}
}

// tally counts who runs.
type tally struct {
	t            *testing.T
	mu           sync.Mutex
	now, reached int
	most         int
	runs         []int
}

func (r *tally) begins() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now++
	r.reached = max(r.reached, r.now)
	assert.LessOrEqual(r.t, r.now, r.most)
}

func (r *tally) ends(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now--
	r.runs[i]++
}

// ofNode is like node, for permits that outlive a process. Nodes in busy have not ended what their permit is
// for.
func ofNode(l Leases, name string, permits int, busy map[string]bool) *Semaphore {
	return New(l, Options{Permits: permits, Lease: "run", Duration: lasts, Node: name, OfNode: true, Spent: func(_ context.Context, node string) (bool, error) {
		if node == "nobody-knows" {
			return false, fleettest.ErrDown
		}
		return !busy[node], nil
	}})
}

func TestPermitOfANodeOutlivesItsProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fleettest.NewShelf()
		p := try(t, ofNode(l, "a", 2, nil))
		again := ofNode(l, "a", 2, nil)
		resumed, err := again.Resume(t.Context())
		require.NoError(t, err)
		assert.Equal(t, p.Name(), resumed.Name())
		require.NoError(t, resumed.Release(t.Context()))
		resumed, err = again.Resume(t.Context())
		require.NoError(t, err)
		assert.Nil(t, resumed)
		l.Down = true
		_, err = again.Resume(t.Context())
		require.ErrorIs(t, err, fleettest.ErrDown)
	})
}

// A permit that ran out is free only once what it was for has ended.
func TestPermitThatRanOutMayStillBeUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, busy := fleettest.NewShelf(), map[string]bool{"killed": true}
		try(t, ofNode(l, "killed", 1, nil))
		b := ofNode(l, "b", 1, busy)
		_, err := b.Try(t.Context())
		require.ErrorIs(t, err, ErrTaken)
		schedule.Pause(t.Context(), 2*lasts)
		_, err = b.Try(t.Context())
		var taken *TakenError
		require.ErrorAs(t, err, &taken)
		assert.Equal(t, []string{"killed"}, taken.Holders)
		delete(busy, "killed")
		try(t, b)
	})
}

func TestNobodyKnowsWhetherAPermitIsStillUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fleettest.NewShelf()
		try(t, ofNode(l, "nobody-knows", 1, nil))
		b := ofNode(l, "b", 1, nil)
		_, err := b.Try(t.Context())
		require.ErrorIs(t, err, ErrTaken)
		schedule.Pause(t.Context(), lasts)
		_, err = b.Try(t.Context())
		require.ErrorIs(t, err, fleettest.ErrDown)
		require.ErrorContains(t, err, "take lease run-0, which nobody-knows has not renewed: ")
	})
}
