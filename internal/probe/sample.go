package probe

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// Sample reads n blocks anywhere on the target and returns the share (0 to 1) of them
// that has ever been written.
func (b *Prober) Sample(ctx context.Context, n int) (float64, error) {
	s, err := newSearch(b.source, b.area.BlockBytes, 0)
	if err != nil {
		return 0, fmt.Errorf("sample the target: %w", err)
	}
	defer s.release()
	order := NewPermutation(uint64(b.area.Size/granule), rand.Uint64())
	read, written := 0, 0
	if b.area.Size < granule {
		return 0, fmt.Errorf("sample the target: its %d bytes are less than a block", b.area.Size)
	}
	for range min(int64(n), b.area.Size/granule) {
		holds, ok := s.written(b.area.Start + int64(order.Next())*granule)
		if !ok {
			return 0, fmt.Errorf("sample the target: I/O errors: %s", describe(s.errors))
		}
		read++
		if holds {
			written++
		}
	}
	return float64(written) / float64(read), nil
}
