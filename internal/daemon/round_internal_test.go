package daemon

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// A round that is due while discovery asks the target waits; it does not take the question for a call that hangs.
func TestARoundWaitsForDiscovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watch{access: newAccess(), shared: &shared{slots: make(chan struct{}, 1)}}
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
