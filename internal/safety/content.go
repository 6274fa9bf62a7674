package safety

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Which blocks of a device are sampled: all blocks of its two ends, and one block at a random
// position in each of many equal parts between them. Data on a hundredth of the device is
// missed once in thirty thousand checks.
const (
	endBytes    = 1 << 20
	blockBytes  = 4 << 10
	parts       = 1024
	sectorBytes = 512
)

// contentPatience limits the time to sample a device's content: a hard disk takes ten seconds.
const contentPatience = time.Minute

// content is the kind of data in a sector.
type content string

const (
	blank      content = ""                    // zeros, or ones as on erased flash
	random     content = "random data"         // or encrypted or compressed data
	text       content = "text"                // readable characters
	pattern    content = "a repeated pattern"  // a few bytes repeated throughout
	structured content = "data with structure" // anything else
)

// unknown summarises the sampled data that is neither blank nor random.
type unknown struct {
	sampled, blocks int   // how many blocks were sampled, and how many of them hold such data
	first           int64 // offset of the first sector with such data
	kind            content
}

// sample looks for data that is neither blank nor random. Suites leave random data behind; it
// cannot be distinguished from somebody's encrypted volume.
func sample(ctx context.Context, r io.ReaderAt, sizeBytes int64) (unknown, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, contentPatience, fmt.Errorf("it took more than %v", contentPatience))
	defer cancel()
	var u unknown
	block := make([]byte, blockBytes)
	for _, at := range samples(sizeBytes) {
		if ctx.Err() != nil {
			return u, fmt.Errorf("look at what is on it: %w", context.Cause(ctx))
		}
		p := block[:min(blockBytes, sizeBytes-at)]
		if err := readFull(r, p, at); err != nil {
			return u, err
		}
		u.add(at, p)
	}
	return u, nil
}

// samples returns the offsets of the blocks to sample, in ascending order.
func samples(sizeBytes int64) []int64 {
	var all []int64
	blocks := (sizeBytes + blockBytes - 1) / blockBytes
	const end = endBytes / blockBytes
	if blocks <= 2*end+parts {
		for b := range blocks {
			all = append(all, b*blockBytes)
		}
		return all
	}
	for b := range int64(end) {
		all = append(all, b*blockBytes)
	}
	inner := blocks - 2*end
	for p := range int64(parts) {
		from, to := inner*p/parts, inner*(p+1)/parts
		all = append(all, (end+from+rand.Int64N(to-from))*blockBytes)
	}
	for b := blocks - end; b < blocks; b++ {
		all = append(all, b*blockBytes)
	}
	return all
}

func (u *unknown) add(at int64, block []byte) {
	u.sampled++
	for i := 0; i < len(block); i += sectorBytes {
		kind := contentOf(block[i:min(i+sectorBytes, len(block))], at+int64(i))
		if kind == blank || kind == random {
			continue
		}
		if u.blocks == 0 {
			u.first, u.kind = at+int64(i), kind
		}
		u.blocks++
		return
	}
}

// contentOf returns the kind of data in the sector at offset.
func contentOf(sector []byte, offset int64) content {
	switch {
	case isBlank(sector):
		return blank
	case isRandom(sector) || isFromFio(sector, offset):
		return random
	case repeats(sector):
		return pattern
	case isText(sector):
		return text
	}
	return structured
}

// isRandom applies the chi-square test to the frequencies of bytes. For random data the
// statistic is 255 ± 23: a random sector above the limit is rarer than 10⁻¹⁵. The statistic is
// 600 to 2000 for sound and for tables of numbers, 1500 for base 64, and thousands for text
// and machine code.
func isRandom(sector []byte) bool {
	const limit = 500
	var counts [256]float64
	for _, b := range sector {
		counts[b]++
	}
	sum := 0.0
	for _, c := range counts[:] {
		sum += c * c
	}
	n := float64(len(sector))
	return sum*256/n-n < limit
}

func isBlank(data []byte) bool {
	return bytes.Count(data, []byte{0}) == len(data) || bytes.Count(data, []byte{0xff}) == len(data)
}

// lineBytes is the size of the part of a sector that fio stamps at once.
const lineBytes = 64

// isFromFio recognises what fio writes by default. fio fills its buffers once, with a
// generator of its own, and stamps each sector of each write (scramble_buffers,
// small_content_scramble in its io_u.c). It writes the sector's offset to the beginning of one
// of the lines of 64 bytes (after several writes, of all of them), and the time to the end of
// the first line. If fio also reads, a buffer holds what it last read.
func isFromFio(sector []byte, offset int64) bool {
	if len(sector) != sectorBytes {
		return false
	}
	return isGenerated(sector) || isStamped(sector, offset)
}

// isGenerated recognises fio's generator: of four words, the second, third and fourth are two,
// three and five times the first (__fill_random_buf in its lib/rand.c). In such data, some
// bytes are too frequent for isRandom.
func isGenerated(sector []byte) bool {
	for line := range sectorBytes / lineBytes {
		var w [8]uint64
		for i := range w {
			w[i] = binary.LittleEndian.Uint64(sector[line*lineBytes+i*8:])
		}
		first, second := w[2]-w[1], w[4] // the first word itself may be a stamp
		if first == 0 || w[1] != 2*first || w[3] != 5*first || second == 0 || w[5] != 2*second {
			return false
		}
		if stamped := line == 0; !stamped && (w[6] != 3*second || w[7] != 5*second) {
			return false
		}
	}
	return true
}

// isStamped recognises a blank or random sector that fio has read and written back, by the
// stamp of the sector's own offset.
func isStamped(sector []byte, offset int64) bool {
	const stamp = 8 // bytes of an offset; a time takes twice as many
	own := false
	var between []byte
	for line := range sectorBytes / lineBytes {
		p := sector[line*lineBytes:][:lineBytes]
		own = own || binary.NativeEndian.Uint64(p) == uint64(offset)
		p = p[stamp:]
		if line == 0 {
			p = p[:len(p)-2*stamp]
		}
		between = append(between, p...)
	}
	return own && (isBlank(between) || isRandom(between))
}

// repeats reports whether the whole sector repeats the same few bytes.
func repeats(sector []byte) bool {
	for period := 1; period <= min(16, len(sector)-1); period++ {
		if bytes.Equal(sector[period:], sector[:len(sector)-period]) {
			return true
		}
	}
	return false
}

// isText reports whether the sector consists of readable ASCII characters and otherwise zeros.
func isText(sector []byte) bool {
	written := bytes.Trim(sector, "\x00")
	readable := 0
	for _, b := range written {
		if b >= ' ' && b <= '~' || b == '\n' || b == '\r' || b == '\t' {
			readable++
		}
	}
	return readable*10 >= len(written)*9
}

// finding describes what was found without quoting it, because it may be a secret.
func (u unknown) finding() []Finding {
	if u.blocks == 0 {
		return nil
	}
	return []Finding{{Kind: KindUnknownData, Text: fmt.Sprintf(
		"it has data of no known format: %s of %s sampled blocks are neither blank nor random, the first of them (%s) at byte %d",
		units.Count(u.blocks), units.Count(u.sampled), u.kind, u.first)}}
}
