package probe

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPermutationVisitsEveryNumberOnce(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 7, 64, 1000, 4097, 65536} {
		for seed := range uint64(3) {
			p := NewPermutation(n, seed)
			seen := make([]bool, n)
			for range n {
				v := p.Next()
				assert.False(t, seen[v], "n %d seed %d: %d came twice", n, seed, v)
				seen[v] = true
			}
			assert.NotContains(t, seen, false, "n %d seed %d", n, seed)
		}
	}
}

func TestPermutationDependsOnItsSeedAndIsSpread(t *testing.T) {
	const n = 1 << 16
	a, b := NewPermutation(n, 1), NewPermutation(n, 2)
	same, quarters := 0, [4]int{}
	for range 1024 {
		x, y := a.Next(), b.Next()
		if x == y {
			same++
		}
		quarters[x*4/n]++
	}
	assert.Less(t, same, 16, "two seeds give two orders")
	for q, count := range quarters {
		assert.InDelta(t, 256, count, 80, "quarter %d of the range", q)
	}
}
