package suite

import (
	"time"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// depthSweep finds the knee: the depth beyond which only the latency grows.
func depthSweep() Suite {
	s := Suite{
		Name: "depth-sweep", Question: "Where is the knee?",
		Does: "4 KiB random reads at rising depth: IOPS and latency at each.",
		Replaces: "fio --name=depth --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --rw=randread --bs=4k --iodepth=32 " +
			"--time_based --runtime=30",
	}
	runtime := timeKnob(&s, 30*time.Second)
	block := blockKnob(&s, "block", "block size", 4<<10)
	depths := declare(&s, "depths",
		"I/Os in flight, one step each; auto is powers of two up to 1024 on NVMe, else every depth up to that of the device (32 if unknown)",
		nil, automatic(list(count(1, maxDepth))))
	repeats := repeatsKnob(&s, 1)
	engine := engineKnob(&s)

	s.plan = func(v Values, targets []Target) ([]Step, error) {
		all := depths.of(v)
		if all == nil {
			all = usualDepths(targets[0])
		}
		var loads []load
		for _, depth := range all {
			loads = append(loads, load{kind: fio.RandRead, blockBytes: block.of(v), depth: depth, engine: engine.of(v), runtime: runtime.of(v)})
		}
		return steps(loads, repeats.of(v), targets...)
	}
	return s
}

// usualDepths returns the depths to sweep for this kind of device.
func usualDepths(t Target) []int {
	const most, fallback = 1024, 32
	var depths []int
	if t.isNVMe() {
		for depth := 1; depth <= most; depth *= 2 {
			depths = append(depths, depth)
		}
		return depths
	}
	deepest := t.QueueDepth
	if deepest == 0 {
		deepest = fallback
	}
	for depth := 1; depth <= min(deepest, most); depth++ {
		depths = append(depths, depth)
	}
	return depths
}
