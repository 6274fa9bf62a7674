package probe

import "bytes"

// granule is the unit in which blocks are checked for being written: drives
// map nothing smaller.
const granule = 4096

// countUniform returns how many granules p has, and how many of them count as
// never written.
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

// isUniform reports whether all bytes of p are equal. A deallocated block reads as
// 00h or as FFh throughout (NVM Command Set Specification, Identify Namespace, DLFEAT
// bits 2:0), and many drives do not say which. Formatting fills with other bytes.
//
// All bytes are equal if p is equal to itself shifted by one. The comparison ends at
// the first bytes that differ, so that written data costs next to nothing.
func isUniform(p []byte) bool { return len(p) < 2 || bytes.Equal(p[1:], p[:len(p)-1]) }
