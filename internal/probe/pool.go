package probe

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
)

const (
	// PoolEnough is how many written blocks of a raw device must be known before its rounds
	// may form a baseline: fewer cover too small a part of the device.
	PoolEnough = 4096
	// poolCapacity is the most blocks that a pool keeps. In a full pool, every new block
	// replaces another.
	poolCapacity = 2 * PoolEnough
	// poolRegions is the number of regions into which the device is divided to keep the pool
	// spread.
	poolRegions = 256
	// sampleMemory is roughly how many of the latest blind samples the written ratio is
	// based on.
	sampleMemory = 16384
	// neighbourhood is how far from a known block, in blocks, a search looks for more: file
	// systems and drives store data that was written together close together.
	neighbourhood = 8 << 20 / granule
)

// Pool keeps blocks of a raw device that are known to have been written. Most blocks of a
// lightly used drive never were; reading one of them measures the drive's mapping table
// instead of its flash.
//
// Blocks are dealt like a deck of cards: no block is dealt a second time before every other
// one has been dealt. In a full pool, each block that a search finds replaces another one. A
// fully written drive is therefore not read in the same places for ever. With the default
// probes, replacing all of them takes hours. On a nearly empty drive the search finds few
// blocks, and the pool keeps those it has.
//
// The zero value is not usable; see NewPool. A Pool is safe for concurrent use, because a
// round that hangs may still be using it when its state is saved.
type Pool struct {
	mu      sync.Mutex
	device  int64         // blocks on the device
	blocks  []int64       // block numbers (of granule bytes); the deck
	at      map[int64]int // block number → index in blocks
	crowd   [poolRegions]int
	next    int // index in blocks of the next block to deal
	sampled int64
	written int64
	random  *rand.Rand
	blind   *Permutation
}

// PoolState is the stored form of a pool.
type PoolState struct {
	SizeBytes int64 `json:"size_bytes"`
	// Sampled counts the blind samples, and Written those of them that were written.
	Sampled int64 `json:"sampled"`
	Written int64 `json:"written"`
	// Blocks are the numbers of 4 KiB blocks.
	Blocks []int64 `json:"blocks"`
}

// Candidate is an offset to check for a written block.
type Candidate struct {
	Offset int64 // bytes
	// Blind is true if the offset was drawn from the whole device, so that it counts towards
	// the written ratio.
	Blind bool
}

// NewPool returns an empty pool for a device of sizeBytes.
func NewPool(sizeBytes int64, seed uint64) (*Pool, error) {
	if sizeBytes < granule {
		return nil, fmt.Errorf("pool for a device of %d bytes: smaller than one block of %d", sizeBytes, granule)
	}
	n := sizeBytes / granule
	return &Pool{
		device: n, at: map[int64]int{}, random: rand.New(rand.NewPCG(seed, uint64(n))),
		blind: NewPermutation(uint64(n), seed),
	}, nil
}

// ErrPoolMismatch is returned when a stored pool belongs to a device of another size.
var ErrPoolMismatch = errors.New("the stored pool is of a device of another size")

// Restore restores a state that State returned.
func (p *Pool) Restore(s PoolState) error {
	if s.SizeBytes/granule != p.device {
		return fmt.Errorf("%w: %d bytes, and now %d", ErrPoolMismatch, s.SizeBytes, p.device*granule)
	}
	if s.Written < 0 || s.Sampled < s.Written {
		return fmt.Errorf("restore a pool: %d of %d samples written makes no sense", s.Written, s.Sampled)
	}
	for _, b := range s.Blocks {
		if b < 0 || b >= p.device {
			return fmt.Errorf("restore a pool: block %d is not on a device of %d blocks", b, p.device)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sampled, p.written = s.Sampled, s.Written
	// Shuffled, so that the first blocks dealt are not those that were read just before the
	// restart.
	for _, i := range p.random.Perm(len(s.Blocks)) {
		p.add(s.Blocks[i])
	}
	return nil
}

// State returns the state that Restore restores.
func (p *Pool) State() PoolState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return PoolState{
		SizeBytes: p.device * granule, Sampled: p.sampled, Written: p.written,
		Blocks: append([]int64{}, p.blocks...),
	}
}

// Len returns how many written blocks are known.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.blocks)
}

// Enough reports whether the pool has enough blocks for a baseline: PoolEnough, or a quarter
// of the blocks of a device if that is less.
func (p *Pool) Enough() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.enough()
}

func (p *Pool) enough() bool { return int64(len(p.blocks)) >= p.wanted() }

// wanted is how many blocks are enough.
func (p *Pool) wanted() int64 { return min(PoolEnough, max(1, p.device/4)) }

// WrittenRatio returns the share (0 to 1) of the device that reads as written, and false if
// nothing has been sampled yet.
func (p *Pool) WrittenRatio() (float64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sampled == 0 {
		return 0, false
	}
	return float64(p.written) / float64(p.sampled), true
}

// Sampled returns how many blind samples are remembered.
func (p *Pool) Sampled() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int(p.sampled)
}

// Candidates returns n offsets to check. While few blocks are known, every second one is
// near a known block, because written data lies together. All others are drawn from the
// whole device, which spreads the pool and measures the written ratio.
func (p *Pool) Candidates(n int) []Candidate {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]Candidate, n)
	for i := range list {
		if i%2 == 0 || len(p.blocks) == 0 || p.enough() {
			list[i] = Candidate{Offset: int64(p.blind.Next()) * granule, Blind: true}
			continue
		}
		b := p.blocks[p.random.IntN(len(p.blocks))] + p.random.Int64N(2*neighbourhood+1) - neighbourhood
		list[i] = Candidate{Offset: min(max(b, 0), p.device-1) * granule}
	}
	return list
}

// Saw records whether a candidate turned out to be written.
func (p *Pool) Saw(c Candidate, written bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.Blind {
		p.sampled++
		if written {
			p.written++
		}
		if p.sampled >= sampleMemory { // forget the older half
			p.sampled /= 2
			p.written /= 2
		}
	}
	if written {
		p.add(c.Offset / granule)
		return
	}
	p.drop(c.Offset / granule)
}

// Deal returns the offset of the next known block, in bytes, and false if no block is known.
func (p *Pool) Deal() (int64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.blocks) == 0 {
		return 0, false
	}
	if p.next >= len(p.blocks) {
		p.next = 0 // in the same order again: after a shuffle, the last block dealt could be the next
	}
	b := p.blocks[p.next]
	p.next++
	return b * granule, true
}

// Drop removes the block at off, which now reads as never written.
func (p *Pool) Drop(off int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(off / granule)
}

func (p *Pool) drop(block int64) {
	i, ok := p.at[block]
	if !ok {
		return
	}
	p.crowd[p.region(block)]--
	delete(p.at, block)
	if i < p.next { // move the gap to the end of the dealt part, so that no block passes from one part to the other
		p.next--
		p.move(p.next, i)
		i = p.next
	}
	last := len(p.blocks) - 1
	p.move(last, i)
	p.blocks = p.blocks[:last]
}

func (p *Pool) move(from, to int) {
	if from != to {
		p.blocks[to] = p.blocks[from]
		p.at[p.blocks[to]] = to
	}
}

func (p *Pool) add(block int64) {
	if _, known := p.at[block]; known {
		return
	}
	if len(p.blocks) >= poolCapacity {
		p.makeRoom(p.region(block))
	}
	p.at[block] = len(p.blocks)
	p.blocks = append(p.blocks, block)
	p.crowd[p.region(block)]++
}

// makeRoom drops a block to make room for one of the given region. It takes it from the most
// crowded region, so that the pool stays spread, or from the given region if none is more
// crowded.
func (p *Pool) makeRoom(region int) {
	from := region
	for r, n := range &p.crowd {
		if n > p.crowd[from] && n > p.crowd[region]+1 {
			from = r
		}
	}
	start := p.random.IntN(len(p.blocks))
	for i := range p.blocks {
		if b := p.blocks[(start+i)%len(p.blocks)]; p.region(b) == from {
			p.drop(b)
			return
		}
	}
}

func (p *Pool) region(block int64) int { return int(block * poolRegions / p.device) }
