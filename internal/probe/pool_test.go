package probe_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/probe"
)

const mib = 1 << 20

// pool returns a pool for a device with the given number of blocks, of which the first known are
// written.
func pool(t *testing.T, device, known int64) *probe.Pool {
	t.Helper()
	p, err := probe.NewPool(device*4096, 1)
	require.NoError(t, err)
	for b := range known {
		p.Saw(probe.Candidate{Offset: b * 4096}, true)
	}
	require.EqualValues(t, known, p.Len())
	return p
}

func TestPoolDealsEveryBlockBeforeAnyTwice(t *testing.T) {
	const known = 300
	p := pool(t, 10_000, known)
	last := map[int64]int{}
	for n := range 5 * known {
		off, ok := p.Deal()
		require.True(t, ok)
		if before, again := last[off]; again {
			require.GreaterOrEqual(t, n-before, known, "deal %d", n)
		}
		last[off] = n
	}
	assert.Len(t, last, known)
}

// If blocks are dropped during a pass, every other block is still dealt exactly once in it.
func TestPoolDealsWhileBlocksGo(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		known := 20 + random.Int64N(50)
		p := pool(t, 10_000, known)
		dealt := map[int64]bool{}
		dropped := map[int64]bool{}
		for int64(len(dealt)+len(dropped)) < known {
			off, ok := p.Deal()
			require.True(t, ok)
			require.False(t, dropped[off])
			require.False(t, dealt[off], "twice in a pass")
			dealt[off] = true
			if off := random.Int64N(known) * 4096; random.IntN(3) == 0 {
				p.Drop(off)
				if !dealt[off] {
					dropped[off] = true
				}
			}
		}
	}
}

func TestPoolForgets(t *testing.T) {
	p := pool(t, 100, 2)
	p.Drop(8192) // unknown
	assert.Equal(t, 2, p.Len())
	p.Drop(0)
	off, ok := p.Deal()
	assert.True(t, ok)
	assert.EqualValues(t, 4096, off)
	p.Saw(probe.Candidate{Offset: 4096}, false)
	_, ok = p.Deal()
	assert.False(t, ok)
}

func TestPoolIsEnough(t *testing.T) {
	assert.False(t, pool(t, 1<<30, probe.PoolEnough-1).Enough())
	assert.True(t, pool(t, 1<<30, probe.PoolEnough).Enough())
	assert.False(t, pool(t, 100, 24).Enough())
	assert.True(t, pool(t, 100, 25).Enough(), "a quarter of a small device")
	assert.True(t, pool(t, 1, 1).Enough())
}

func TestPoolStaysSpreadWhenItIsFull(t *testing.T) {
	const device = 1 << 20
	p := pool(t, device, 2*probe.PoolEnough) // full, all within the first blocks
	for b := int64(device / 2); b < device; b += 512 {
		p.Saw(probe.Candidate{Offset: b * 4096}, true)
	}
	far := 0
	for _, b := range p.State().Blocks {
		if b >= device/2 {
			far++
		}
	}
	assert.Equal(t, 1024, far, "what comes later from elsewhere finds room")
	assert.Equal(t, 2*probe.PoolEnough, p.Len())
}

// Every block of a full pool is replaced sooner or later, and its replacement is dealt in turn. The
// pool stays as spread as it was.
func TestAFullPoolTurnsOverCompletely(t *testing.T) {
	const device = 1 << 20
	p := pool(t, device, 0)
	for b := int64(0); b < device; b += device / (2 * probe.PoolEnough) {
		p.Saw(probe.Candidate{Offset: b * 4096}, true)
	}
	require.Equal(t, 2*probe.PoolEnough, p.Len())
	old := map[int64]bool{}
	for _, b := range p.State().Blocks {
		old[b] = true
	}
	order := probe.NewPermutation(device, 7)
	for range 20 * p.Len() {
		p.Saw(probe.Candidate{Offset: int64(order.Next()|1) * 4096, Blind: true}, true) // odd; the old blocks are even
	}
	var regions [256]int
	for _, b := range p.State().Blocks {
		assert.False(t, old[b], "block %d is there from the start", b)
		regions[b*256/device]++
	}
	for _, n := range regions {
		assert.InDelta(t, 32, n, 1)
	}
	dealt := map[int64]bool{}
	for range p.Len() {
		off, ok := p.Deal()
		require.True(t, ok)
		require.False(t, dealt[off])
		dealt[off] = true
	}
}

// A pool that is not full keeps its blocks, as on a nearly empty drive.
func TestAPoolThatIsNotFullKeepsWhatItHas(t *testing.T) {
	p := pool(t, 1<<20, 5000)
	before := p.State().Blocks
	for b := int64(6000); b < 8000; b++ {
		p.Saw(probe.Candidate{Offset: b * 4096, Blind: true}, false)
	}
	for b := int64(10_000); b < 10_500; b++ {
		p.Saw(probe.Candidate{Offset: b * 4096, Blind: true}, true)
	}
	now := p.State().Blocks // sorted, because assert.Subset compares each with each
	slices.Sort(now)
	for _, b := range before {
		_, kept := slices.BinarySearch(now, b)
		require.True(t, kept, b)
	}
	assert.Equal(t, 5500, p.Len())
}

func TestWrittenRatioIsOfBlindSamples(t *testing.T) {
	p := pool(t, 1<<20, 10)
	_, ok := p.WrittenRatio()
	assert.False(t, ok, "nothing was sampled blindly")
	for i := range int64(100) {
		p.Saw(probe.Candidate{Offset: i * 4096, Blind: true}, i < 30)
	}
	ratio, ok := p.WrittenRatio()
	assert.True(t, ok)
	assert.InDelta(t, 0.3, ratio, 1e-9)
	// As a device fills up, old samples fade.
	for i := range int64(40_000) {
		p.Saw(probe.Candidate{Offset: i * 4096, Blind: true}, true)
	}
	ratio, _ = p.WrittenRatio()
	assert.Greater(t, ratio, 0.98)
}

func TestPoolStateSurvives(t *testing.T) {
	p := pool(t, 10_000, 500)
	for i := range int64(10) {
		p.Saw(probe.Candidate{Offset: i * 4096, Blind: true}, i < 4)
	}
	text, err := json.Marshal(p.State())
	require.NoError(t, err)
	var state probe.PoolState
	require.NoError(t, json.Unmarshal(text, &state))
	again, err := probe.NewPool(10_000*4096, 2)
	require.NoError(t, err)
	require.NoError(t, again.Restore(state))
	want, got := p.State(), again.State()
	assert.ElementsMatch(t, want.Blocks, got.Blocks)
	assert.NotEqual(t, want.Blocks, got.Blocks, "another order than before the restart")
	want.Blocks, got.Blocks = nil, nil
	assert.Equal(t, want, got)
}

func TestPoolRefusesStatesThatMakeNoSense(t *testing.T) {
	for text, want := range map[string]string{
		`{"size_bytes":8192,"sampled":0,"written":0,"blocks":[]}`:    "the stored pool is of a device of another size: 8192 bytes, and now 4096000",
		`{"size_bytes":4096000,"sampled":1,"written":2,"blocks":[]}`: "restore a pool: 2 of 1 samples written makes no sense",
		`{"size_bytes":4096000,"sampled":-1,"written":-2}`:           "restore a pool: -2 of -1 samples written makes no sense",
		`{"size_bytes":4096000,"blocks":[1,1000]}`:                   "restore a pool: block 1000 is not on a device of 1000 blocks",
		`{"size_bytes":4096000,"blocks":[1,-1]}`:                     "restore a pool: block -1 is not on a device of 1000 blocks",
	} {
		var state probe.PoolState
		require.NoError(t, json.Unmarshal([]byte(text), &state))
		p := pool(t, 1000, 0)
		require.EqualError(t, p.Restore(state), want)
		assert.Zero(t, p.Len(), "nothing of it is used")
	}
	p := pool(t, 1000, 0)
	require.ErrorIs(t, p.Restore(probe.PoolState{SizeBytes: 4096}), probe.ErrPoolMismatch)
	require.NoError(t, p.Restore(probe.PoolState{SizeBytes: 4096000, Blocks: []int64{5, 5, 5}}))
	assert.Equal(t, 1, p.Len())

	_, err := probe.NewPool(4095, 1)
	require.EqualError(t, err, "pool for a device of 4095 bytes: smaller than one block of 4096")
}

func TestCandidates(t *testing.T) {
	const device = 100_000
	p := pool(t, device, 0)
	seen := map[int64]bool{}
	for _, c := range p.Candidates(1000) {
		assert.True(t, c.Blind, "with nothing known, all is blind")
		assert.False(t, seen[c.Offset])
		seen[c.Offset] = true
	}
	p = pool(t, device, 1)
	blind := 0
	for _, c := range p.Candidates(1000) {
		assert.Zero(t, c.Offset%4096)
		assert.True(t, c.Offset >= 0 && c.Offset < device*4096)
		if c.Blind {
			blind++
		} else {
			assert.LessOrEqual(t, c.Offset, int64(8*mib), "near what is known")
		}
	}
	assert.Equal(t, 500, blind)
}
