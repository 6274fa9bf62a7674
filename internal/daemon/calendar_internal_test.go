package daemon

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/guard"
)

// A time with a monotonic reading is compared by that reading, and would never seem to be before one from before the
// clock was set back.
func TestTheCalendarGoesByTheWallClock(t *testing.T) {
	now := wallClock()
	assert.Equal(t, now.Round(0), now)
}

// A run on a target that hangs must wait without starting, because it would delay all later runs.
func TestARunOnATargetThatHangsWaits(t *testing.T) {
	c, w := &calendar{}, &watch{access: newAccess()}
	require.True(t, w.access.hangs(&guard.HungError{Since: time.Now()}))
	_, err := c.attempt(t.Context(), w, config.Run{Suite: "quick"})
	require.ErrorIs(t, err, errHangs)
	assert.Equal(t, busyRetry, c.waitAfter(err))
}

// A task that hangs in the kernel does not keep the daemon from ending.
func TestATaskThatDoesNotEndIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		release := make(chan struct{})
		defer close(release)
		stop()
		err := within(ctx, endTimeout, func() error { <-release; return nil })
		require.ErrorContains(t, err, "a task has not ended within 20s")
		require.ErrorIs(t, within(ctx, endTimeout, func() error { return assert.AnError }), assert.AnError)
	})
}
