package schedule

import (
	"context"
	"time"
)

// Pause waits for d or until ctx ends, and reports whether ctx is still alive.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return ctx.Err() == nil
}
