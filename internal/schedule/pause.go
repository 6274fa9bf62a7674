package schedule

import (
	"context"
	"time"
)

// Pause waits for d or until ctx ends, and reports whether ctx is still alive.
func Pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	return ctx.Err() == nil
}
