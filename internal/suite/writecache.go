package suite

import (
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// writeCache measures writes with and without the volatile write cache.
func writeCache() Suite {
	s := Suite{
		Name: "write-cache", Question: "What does the volatile cache hide?", Writes: "8 KiB and 4 KiB blocks all the time",
		Does: "Random writes, one at a time and at depth, with the write cache off and on; the setting is restored.",
		Replaces: "nvme set-feature /dev/nvme0 --feature-id=6 --value=0 && fio --name=cache --filename=/dev/nvme0n1 " +
			"--ioengine=libaio --direct=1 --rw=randwrite --bs=8k --iodepth=32 --time_based --runtime=30",
	}
	runtime := timeKnob(&s, 30*time.Second)
	blocks := declare(&s, "blocks", "block sizes, one step each", []int64{8 << 10, 4 << 10}, list(blockSize()))
	depths := depthsKnob(&s, 1, 32)
	cache := declare(&s, cacheParameter, "states of the cache to measure under", []string{"off", "on"}, list(choice("off", "on", asFound)))
	repeats := repeatsKnob(&s, 3)
	engine := engineKnob(&s)

	s.plan = func(v Values, targets []Target) ([]Step, error) {
		var loads []load
		for _, block := range blocks.of(v) {
			for _, depth := range depths.of(v) {
				loads = append(loads, load{
					kind: fio.RandWrite, blockBytes: block, depth: depth, engine: engine.of(v), runtime: runtime.of(v),
					prefix: fmt.Sprintf("%s-", blockName(block)),
				})
			}
		}
		return steps(with(loads, settings.WriteCache, cache.of(v)), repeats.of(v), targets...)
	}
	return s
}
