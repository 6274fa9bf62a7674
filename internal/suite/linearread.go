package suite

import (
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/units"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// linearRead reads pieces at evenly spaced offsets: an old drive's inner tracks, an
// SSD's worn or remapped regions, a file's fragments show up.
func linearRead() Suite {
	s := Suite{
		Name: "linear-read", Question: "Is the speed the same all over the device?",
		Does: "Sequential reads of a piece at each of many evenly spaced offsets.",
		Replaces: "fio --name=linear --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --rw=read --bs=1m --iodepth=8 " +
			"--offset=0 --size=2g",
	}
	points := declare(&s, "points", "how many offsets", 40, count(2, 10_000))
	piece := declare(&s, "piece", "how much is read at each; less where the device is small", 2<<30, bytes(1<<20))
	block := blockKnob(&s, "block", "block size", 1<<20)
	depth := depthKnob(&s, 8)
	repeats := repeatsKnob(&s, 1)
	engine := engineKnob(&s)

	s.plan = func(v Values, targets []Target) ([]Step, error) {
		t, n, blockBytes := targets[0], int64(points.of(v)), block.of(v)
		each := min(piece.of(v), t.SizeBytes/n) / blockBytes * blockBytes
		if each < blockBytes*int64(depth.of(v)) {
			return nil, fmt.Errorf("target %s: %s is too small for %d pieces of %d blocks of %s",
				t.Path, units.Size(t.SizeBytes), n, depth.of(v), units.Size(blockBytes))
		}
		var loads []load
		for i := range n {
			// Offsets in floating point: n times the size of a large drive may not fit 64 bits.
			at := int64(float64(t.SizeBytes-each) * float64(i) / float64(n-1))
			loads = append(loads, load{
				name: fmt.Sprintf("offset-%0*d", len(fmt.Sprint(n)), i+1), kind: fio.Read, blockBytes: blockBytes, depth: depth.of(v),
				engine: engine.of(v), bytes: each, offset: at / blockBytes * blockBytes,
				condition: fmt.Sprintf("%s from %s on", units.BlockSize(each), units.BlockSize(at/blockBytes*blockBytes)),
			})
		}
		return steps(loads, repeats.of(v), t)
	}
	return s
}
