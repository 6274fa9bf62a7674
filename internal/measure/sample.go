package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
)

// sampleTimeout is how long a sample of the target may take.
const sampleTimeout = 30 * time.Second

// Search looks for written blocks of a raw device until enough are known for rounds that count, as far as there are any. It
// does nothing on a file, which is written all over.
func (s *Session) Search(ctx context.Context) error {
	if s.Pool == nil || s.Pool.Enough() {
		return nil
	}
	defer s.HadRun() // its reads are not those of others
	_, err := guard.Do(ctx, s.options.Guard, sampleTimeout, func(ctx context.Context) (struct{}, error) {
		if err := s.handle.Acquire(); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, errors.Join(s.prober.Search(ctx), s.handle.Release())
	})
	if err != nil {
		return fmt.Errorf("search for written blocks: %w", err)
	}
	return nil
}

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
