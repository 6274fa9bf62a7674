package probe

import "bytes"

// granule is the unit, in bytes, in which blocks are checked for having been written:
// drives map nothing smaller.
const granule = 4096

// countUniform returns how many granules p has, and how many of them count as never
// written.
func countUniform(p []byte) (checked, uniform int64) {
	for len(p) > 0 {
		n := min(granule, len(p))
		checked++
		if isUniform(p[:n]) {
			uniform++
		}
		p = p[n:]
	}
	return checked, uniform
}

// isUniform reports whether all bytes of p are equal. A deallocated block reads as 00h
// or FFh throughout (NVM Command Set Specification, Identify Namespace, DLFEAT bits
// 2:0), and many drives do not say which. Formatting may fill blocks with another byte.
//
// All bytes are equal if p equals itself shifted by one byte. The comparison ends at
// the first difference, so that written data costs next to nothing.
func isUniform(p []byte) bool { return len(p) < 2 || bytes.Equal(p[1:], p[:len(p)-1]) }
