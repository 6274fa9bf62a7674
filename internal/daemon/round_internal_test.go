package daemon

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// A round that is due while discovery uses the target waits. It does not mistake that for a call that hangs.
func TestARoundWaitsForDiscovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watch{target: target{access: newAccess(), shared: &shared{slots: make(turn, 1)}}}
		answer, asked := make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := w.access.ask(t.Context(), func(ctx context.Context, g *guard.Guard) (wanted, error) {
				return guard.Do(ctx, g, time.Hour, func(context.Context) (wanted, error) { <-answer; return wanted{}, nil })
			})
			asked <- err
		}()
		synctest.Wait()
		require.False(t, w.access.guard.Since().IsZero(), "discovery asks")

		ctx, cancel := context.WithCancel(t.Context())
		p := &probeState{probe: record.Probe{Direction: record.Read}}
		measured := make(chan bool, 1)
		go func() {
			_, ok := w.round(ctx, p)
			measured <- ok
		}()
		synctest.Wait()
		assert.Empty(t, measured, "it waits")
		assert.True(t, p.status.InflightSince.IsZero())
		cancel()
		assert.False(t, <-measured)
		close(answer)
		require.NoError(t, <-asked)
	})
}

// Targets on the same device must not measure each other, however many rounds may run at once.
func TestTheTargetsOfADeviceTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := &shared{slots: make(turn, 3)}
		on := func(lockID string) *target {
			return &target{access: newAccess(), shared: node, spec: spec{LockID: lockID}}
		}
		first, second, other := on("s1"), on("s1"), on("s2")
		require.True(t, first.takeTurn(t.Context()))

		ctx, cancel := context.WithCancel(t.Context())
		taken := make(chan bool, 1)
		go func() { taken <- second.takeTurn(ctx) }()
		synctest.Wait()
		assert.Empty(t, taken, "it waits for the other target of its device")
		assert.True(t, other.takeTurn(t.Context()))
		cancel()
		assert.False(t, <-taken)

		go func() { taken <- second.takeTurn(t.Context()) }()
		first.endTurn()
		assert.True(t, <-taken)
		second.endTurn()
		other.endTurn()
		assert.Empty(t, node.slots)
	})
}

// It is not a problem of the target when another run holds the lock of the device. It is one when the lock cannot be
// taken at all, until it can.
func TestADeviceThatCannotBeLocked(t *testing.T) {
	dir, log := t.TempDir(), &logbook{}
	o := &opener{target: &target{
		access: newAccess(), log: log.timeless(), spec: spec{LockID: "s1"},
		shared: &shared{slots: make(turn, 1), locks: &locks{dir: dir}},
	}}
	require.NoError(t, os.Chmod(dir, 0o777))
	for range 2 {
		_, err := o.lock()
		require.ErrorContains(t, err, "another user could change")
		assert.Equal(t, err.Error(), o.problem())
	}
	assert.Equal(t, 1, log.count("rounds cannot lock the device"), "said when it is news")

	require.NoError(t, os.Chmod(dir, 0o700))
	other, err := store.TakeLock(dir, "s1")
	require.NoError(t, err)
	_, err = o.lock()
	require.ErrorIs(t, err, store.ErrLocked)
	assert.Empty(t, o.problem())
	assert.Equal(t, 1, log.count("rounds can lock the device again"))
	require.NoError(t, other.Release())
	release, err := o.lock()
	require.NoError(t, err)
	release()
}

// A good round shows that the target answers, even before discovery asks again.
func TestAGoodRoundIsAnAnswer(t *testing.T) {
	log := &logbook{}
	at := &target{access: newAccess(), log: log.timeless()}
	o, r := &opener{target: at}, &rounds{target: at}
	at.access.hangs(&guard.HungError{Since: time.Now()})
	require.NotEmpty(t, o.problem())
	r.tell(&probeState{}, record.Measurement{Outcome: record.OutcomeBusy})
	require.NotEmpty(t, o.problem(), "nothing was read")
	r.tell(&probeState{}, record.Measurement{Outcome: record.OutcomeOK})
	assert.Empty(t, o.problem())
	assert.Equal(t, 1, log.count("the target answers again"))
}
