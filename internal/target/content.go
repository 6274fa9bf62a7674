package target

import (
	"encoding/binary"
	"math/rand/v2"
)

// contentBlock is the size, in bytes, of the blocks in which the content of a probe
// file is generated.
const contentBlock = 4096

// content generates the data of a probe file. The data is random, so that no drive can
// compress or deduplicate it. It depends only on the seed and the offset, so that
// rewriting a block restores what it held before, and any block can be verified.
type content struct{ seed uint64 }

// Content fills p with the content that belongs at off. Both len(p) and off are
// multiples of 512 bytes.
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

// block uses a PCG because a ChaCha8 would be allocated for every block that a write
// probe writes.
func (c content) block(p []byte, number int64) {
	var stream rand.PCG
	stream.Seed(c.seed, uint64(number))
	for ; len(p) >= 8; p = p[8:] {
		binary.LittleEndian.PutUint64(p, stream.Uint64())
	}
}
