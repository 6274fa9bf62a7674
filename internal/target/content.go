package target

import (
	"encoding/binary"
	"math/rand/v2"
)

// contentBlock is the unit in which the content of a probe file is made.
const contentBlock = 4096

// content makes the data of a probe file: random, so that no drive can compress
// or deduplicate it, and a function of seed and place, so that a block that is
// written again holds what it held before and any block can be verified.
type content struct{ seed uint64 }

// Content fills p with what belongs at off. Both are multiples of 512 bytes.
func (c content) Content(p []byte, off int64) {
	var block [contentBlock]byte
	for len(p) > 0 {
		within := off % contentBlock
		n := int64(min(len(p), int(contentBlock-within)))
		if n == contentBlock {
			c.block(p[:n], off/contentBlock)
		} else {
			c.block(block[:], off/contentBlock)
			copy(p, block[within:within+n])
		}
		p = p[n:]
		off += n
	}
}

// block takes a PCG and not a ChaCha8, which would be allocated for every block
// that a write probe writes.
func (c content) block(p []byte, number int64) {
	var stream rand.PCG
	stream.Seed(c.seed, uint64(number))
	for ; len(p) >= 8; p = p[8:] {
		binary.LittleEndian.PutUint64(p, stream.Uint64())
	}
}
