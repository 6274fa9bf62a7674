package probe

import "math/bits"

// Permutation visits every number below n once before it visits any number twice, in an
// order that looks random and depends on the seed. It needs no memory: it is a
// four-round Feistel network over the smallest even number of bits that holds n, applied
// repeatedly until the result is below n.
type Permutation struct {
	n        uint64
	half     uint // bits in each half
	keys     [4]uint64
	position uint64
}

// NewPermutation returns the order that seed gives to the numbers below n. n must be
// positive.
func NewPermutation(n, seed uint64) *Permutation {
	width := bits.Len64(n - 1)
	p := &Permutation{n: n, half: uint(max(1, (width+1)/2))}
	for i := range p.keys {
		seed = mix(seed + 0x9e3779b97f4a7c15)
		p.keys[i] = seed
	}
	return p
}

// Next returns the next number.
func (p *Permutation) Next() uint64 {
	v := p.position
	p.position = (p.position + 1) % p.n
	for {
		v = p.encrypt(v)
		if v < p.n {
			return v
		}
	}
}

func (p *Permutation) encrypt(v uint64) uint64 {
	mask := uint64(1)<<p.half - 1
	left, right := v>>p.half, v&mask
	for _, key := range p.keys {
		left, right = right, left^(mix(right+key)&mask)
	}
	return left<<p.half | right
}

// mix is the finaliser of SplitMix64: every input bit reaches every output bit.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
