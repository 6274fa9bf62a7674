package probe

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
)

const (
	// PoolEnough is how many written blocks a raw device must offer before its
	// rounds are worth a baseline: fewer come from too small a part of it.
	PoolEnough = 4096
	// poolCapacity is how many are kept; beyond it a block gives way for each that is found.
	poolCapacity = 2 * PoolEnough
	// poolRegions is into how many parts the device is divided to keep the pool spread.
	poolRegions = 256
	// sampleMemory is how many blind samples the written ratio looks back on, roughly.
	sampleMemory = 16384
	// neighbourhood is how far from a known block a search looks for more: file
	// systems and drives keep what was written together, together.
	neighbourhood = 8 << 20 / granule
)

// Pool keeps blocks of a raw device that are known to have been written. Most
// blocks of a lightly used drive never were; reading one measures the drive's
// mapping table and not its flash.
//
// Blocks are dealt like a deck of cards: none comes a second time before all
// others came once. A full pool turns over: each block that the search of a round
// finds takes the place of another, so that a drive which is written in full is not
// read in the same places for ever. At the default probes that takes hours. On a
// nearly empty drive the search finds little, and the pool keeps what it has.
//
// The zero value is not ready; see NewPool. It is safe for
// concurrent use: a round that hangs may still have it when its state is saved.
type Pool struct {
	mu      sync.Mutex
	device  int64         // blocks on the device
	blocks  []int64       // block numbers (of granule bytes); the deck
	at      map[int64]int // block number → index in blocks
	crowd   [poolRegions]int
	next    int // of blocks, to be dealt
	sampled int64
	written int64
	random  *rand.Rand
	blind   *Permutation
}

// PoolState is the stored form of a pool.
type PoolState struct {
	SizeBytes int64 `json:"size_bytes"`
	// Sampled and Written count blind samples and those that were written.
	Sampled int64 `json:"sampled"`
	Written int64 `json:"written"`
	// Blocks are numbers of 4 KiB blocks.
	Blocks []int64 `json:"blocks"`
}

// Candidate is an offset to look at in search of written blocks.
type Candidate struct {
	Offset int64 // bytes
	// Blind is true when it was drawn from the whole device, so that it counts
	// for the share of it that is written.
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

// ErrPoolMismatch says that a stored pool belongs to a device of another size.
var ErrPoolMismatch = errors.New("the stored pool is of a device of another size")

// Restore puts back what State returned.
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
	// Shuffled, so that what comes first is not what was read before the restart.
	for _, i := range p.random.Perm(len(s.Blocks)) {
		p.add(s.Blocks[i])
	}
	return nil
}

// State returns what Restore takes.
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

// Enough reports whether rounds from this pool are worth a baseline. A device
// that has fewer blocks than that in all needs a quarter of them.
func (p *Pool) Enough() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.enough()
}

func (p *Pool) enough() bool { return int64(len(p.blocks)) >= p.wanted() }

// wanted is how many blocks are enough.
func (p *Pool) wanted() int64 { return min(PoolEnough, max(1, p.device/4)) }

// WrittenRatio returns the share (0 to 1) of the device that reads as written,
// and false before anything was sampled.
func (p *Pool) WrittenRatio() (float64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sampled == 0 {
		return 0, false
	}
	return float64(p.written) / float64(p.sampled), true
}

// Candidates returns n places to look at: half of them anywhere, so that the
// pool spreads and the written ratio is known, half of them near known blocks,
// since what is written lies together.
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

// Saw tells the pool what a candidate turned out to be.
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

// Deal returns the offset of the next known block, in bytes, and false when
// none is known.
func (p *Pool) Deal() (int64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.blocks) == 0 {
		return 0, false
	}
	if p.next >= len(p.blocks) {
		p.next = 0 // the same order again: shuffled, the last could be the first
	}
	b := p.blocks[p.next]
	p.next++
	return b * granule, true
}

// Drop forgets the block at off: it reads as never written now.
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
	if i < p.next { // the gap moves to the end of the dealt part, so that no other block changes sides
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

// makeRoom drops a block for one of the given region: of the most crowded region, so
// that the pool stays spread, and of that region itself when none is more crowded.
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
