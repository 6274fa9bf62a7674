package suite

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// sequentialVsRandom compares both access orders at depth 1, where read-ahead and the
// write cache matter, and at depth.
func sequentialVsRandom() Suite {
	s := Suite{
		Name: "sequential-vs-random", Question: "Does access order still matter?", Writes: "8 KiB blocks for half of its time",
		Does: "Sequential and random reads and writes, one at a time and at depth.",
		Replaces: "fio --name=order --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --rw=randwrite --bs=8k --iodepth=32 " +
			"--time_based --runtime=150",
	}
	runtime := timeKnob(&s, 150*time.Second)
	block := blockKnob(&s, "block", "block size", 8<<10)
	depths := depthsKnob(&s, 1, 32)
	repeats := repeatsKnob(&s, 4)
	cache := declare(&s, "cache", "states of the volatile write cache to measure under", []string{asFound}, list(choice(asFound, "off", "on")))
	writes := writesKnob(&s)
	engine := engineKnob(&s)

	s.plan = func(v Values, targets []Target) ([]Step, error) {
		kinds := []fio.RW{fio.Read, fio.RandRead, fio.Write, fio.RandWrite}
		if writes.of(v) == no {
			kinds = kinds[:2]
		}
		var loads []load
		for _, depth := range depths.of(v) {
			for _, kind := range kinds {
				loads = append(loads, load{kind: kind, blockBytes: block.of(v), depth: depth, engine: engine.of(v), runtime: runtime.of(v)})
			}
		}
		return steps(with(loads, settings.WriteCache, cache.of(v)), repeats.of(v), targets...)
	}
	return s
}
