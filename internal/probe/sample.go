package probe

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	// mostSearched is how many blocks Search reads at most. On a nearly empty device more would find few.
	mostSearched = 4 * PoolEnough
	// longestSearch is how long it takes at most: a hard disk reads a hundred blocks a second.
	longestSearch = 10 * time.Second
	// searchedAtOnce is how many blocks are drawn before it is looked whether enough are known.
	searchedAtOnce = 64
)

// Search looks for written blocks of a raw device until enough are known, or as many as can be found in reasonable time.
// What goes wrong in it goes wrong in the rounds that follow.
func (b *Prober) Search(ctx context.Context) error {
	s, err := newSearch(b.source, b.area.BlockBytes, 0)
	if err != nil {
		return err
	}
	defer s.release()
	s.deadline = time.Now().Add(longestSearch)
	for read := 0; read < mostSearched && !b.pool.Enough(); read += searchedAtOnce {
		for _, c := range b.pool.Candidates(searchedAtOnce) {
			if s.over(ctx) {
				return nil
			}
			if written, ok := s.written(c.Offset); ok {
				b.pool.Saw(c, written)
			}
		}
	}
	return nil
}

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
