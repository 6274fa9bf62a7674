package measure

import (
	"context"
	"errors"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
)

// sampleTimeout is how long a sample of the target may take.
const sampleTimeout = 30 * time.Second

// Sample reads n blocks anywhere on the target and returns the share (0 to 1) of them
// that has ever been written.
func (s *Session) Sample(ctx context.Context, n int) (float64, error) {
	return guard.Do(ctx, s.options.Guard, sampleTimeout, func(ctx context.Context) (float64, error) {
		if err := s.handle.Acquire(); err != nil {
			return 0, err
		}
		ratio, err := s.prober.Sample(ctx, n)
		return ratio, errors.Join(err, s.handle.Release())
	})
}
