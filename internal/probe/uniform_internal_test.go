package probe

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUniform(t *testing.T) {
	for _, size := range []int{0, 1, 512, granule} {
		for _, fill := range []byte{0x00, 0xff, 0x5a} {
			p := bytes.Repeat([]byte{fill}, size)
			assert.True(t, isUniform(p), "%d bytes of %#x", size, fill)
			for i := range p {
				if size < 2 {
					break
				}
				p[i]++
				assert.False(t, isUniform(p), "byte %d of %d differs from %#x", i, size, fill)
				p[i]--
			}
		}
	}
	alternating := bytes.Repeat([]byte{0x00, 0xff}, granule/2)
	assert.False(t, isUniform(alternating))
	assert.False(t, isUniform(bytes.Repeat([]byte("deadbeef"), granule/8)), "a pattern of eight bytes is data")
}

func TestUniformAllocatesNothing(t *testing.T) {
	p := make([]byte, 128<<10)
	assert.Zero(t, testing.AllocsPerRun(100, func() { countUniform(p) }))
}

func BenchmarkUniform(b *testing.B) {
	written := make([]byte, granule)
	for i := range written {
		written[i] = byte(i * 31)
	}
	for name, p := range map[string][]byte{"unwritten": make([]byte, granule), "written": written} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(granule)
			b.ReportAllocs()
			for b.Loop() {
				isUniform(p)
			}
		})
	}
}
