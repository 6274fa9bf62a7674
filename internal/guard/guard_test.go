package guard_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/guard"
)

func TestDoReturnsWhatTheCallReturned(t *testing.T) {
	var g guard.Guard
	boom := errors.New("boom")
	n, err := guard.Do(t.Context(), &g, time.Minute, func(context.Context) (int, error) { return 7, boom })
	assert.Equal(t, 7, n)
	require.ErrorIs(t, err, boom)
}

func TestHungCallIsLeftAloneAndNoSecondIsStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g guard.Guard
		release := make(chan struct{})
		hang := func(context.Context) (int, error) { <-release; return 1, nil }

		start := time.Now()
		_, err := guard.Do(t.Context(), &g, 20*time.Second, hang)
		var hung *guard.HungError
		require.ErrorAs(t, err, &hung)
		assert.Equal(t, guard.HungError{Since: start}, *hung)
		assert.Equal(t, start, g.Since(), "the age of the stuck call is known")

		started := false
		_, err = guard.Do(t.Context(), &g, time.Second, func(context.Context) (int, error) { started = true; return 0, nil })
		require.ErrorAs(t, err, &hung)
		assert.True(t, hung.Earlier)
		assert.False(t, started)

		closed := 0
		g.Finally(func() { closed++ })
		g.Finally(func() { closed++ })
		assert.Zero(t, closed, "what the stuck call uses is not taken away from it")
		close(release)
		synctest.Wait()
		assert.Equal(t, 2, closed)
		assert.Zero(t, g.Since())

		n, err := guard.Do(t.Context(), &g, time.Second, func(context.Context) (int, error) { return 2, nil })
		require.NoError(t, err)
		assert.Equal(t, 2, n, "the guard is ready again")
	})
}

func TestCallThatHeedsItsContextKeepsItsResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g guard.Guard
		n, err := guard.Do(t.Context(), &g, time.Second, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 5, ctx.Err()
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 5, n)
	})
}

func TestFinallyRunsAtOnceWhenNothingIsUnderWay(t *testing.T) {
	var g guard.Guard
	ran := false
	g.Finally(func() { ran = true })
	assert.True(t, ran)
}

// A long call is not a standstill of the process. Package faulttest tests that a real standstill is noticed.
func TestStandstillIsNoHang(t *testing.T) {
	var g guard.Guard
	_, err := guard.Do(t.Context(), &g, time.Minute, func(context.Context) (int, error) { return 0, nil })
	require.NoError(t, err)
	assert.Zero(t, g.StoodStill())
	synctest.Test(t, func(t *testing.T) {
		_, err := guard.Do(t.Context(), &g, 20*time.Second, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		require.Error(t, err)
		assert.Zero(t, g.StoodStill(), "a call that hangs does not stop the process")
	})
}

// The result of a call goes either to the caller or to late: never to both, never to neither.
func TestTheResultOfACallHasOneTaker(t *testing.T) {
	for _, takes := range []time.Duration{0, time.Second, 1499 * time.Millisecond, 1500 * time.Millisecond, 1501 * time.Millisecond, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			var g guard.Guard
			var late []int
			n, err := guard.DoLate(t.Context(), &g, time.Second, func(context.Context) (int, error) {
				<-time.After(takes)
				return 7, nil
			}, func(n int, err error) {
				require.NoError(t, err)
				assert.False(t, g.Since().IsZero(), "nothing else is let through before")
				late = append(late, n)
			})
			synctest.Wait()
			<-time.After(2 * time.Hour)
			synctest.Wait()
			if err == nil {
				assert.Equal(t, 7, n)
				assert.Empty(t, late)
			} else {
				var hung *guard.HungError
				require.ErrorAs(t, err, &hung)
				assert.Equal(t, []int{7}, late)
			}
			if takes != 1500*time.Millisecond { // when both happen at once, either is right
				assert.Equal(t, takes < 1500*time.Millisecond, err == nil)
			}
			assert.Zero(t, g.Since())
		})
	}
}
