package suite

import (
	"time"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// quick is the suite for a first look at a drive. Random reads one at a time show its
// latency, random reads at depth show its parallelism, and sequential reads show its
// bandwidth.
func quick() Suite {
	s := Suite{
		Name: "quick", Question: "Is this drive roughly what it should be?",
		Does: "Random reads one at a time and at depth, and sequential reads.",
		Replaces: "fio --name=quick --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --rw=randread --bs=4k --iodepth=32 " +
			"--time_based --runtime=10",
	}
	runtime := timeKnob(&s, 10*time.Second)
	randomBlock := blockKnob(&s, "random-block", "block size of the random reads", 4<<10)
	randomDepths := declare(&s, "random-depths", "depths of the random reads, one step each", []int{1, 32}, list(count(1, maxDepth)))
	sequentialBlock := blockKnob(&s, "sequential-block", "block size of the sequential reads", 128<<10)
	sequentialDepth := declare(&s, "sequential-depth", "depth of the sequential reads", 8, count(1, maxDepth))
	engine := engineKnob(&s)
	repeats := repeatsKnob(&s, 1)

	s.plan = func(v Values, targets []Target) ([]Step, error) {
		var loads []load
		for _, depth := range randomDepths.of(v) {
			loads = append(loads, load{kind: fio.RandRead, blockBytes: randomBlock.of(v), depth: depth, engine: engine.of(v), runtime: runtime.of(v)})
		}
		loads = append(loads, load{
			kind: fio.Read, blockBytes: sequentialBlock.of(v), depth: sequentialDepth.of(v), engine: engine.of(v), runtime: runtime.of(v),
		})
		return steps(loads, repeats.of(v), targets...)
	}
	return s
}
