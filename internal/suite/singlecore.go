package suite

import (
	"time"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// singleCore binds the load to one physical core: first to one of its threads, then to
// all.
func singleCore() Suite {
	s := Suite{
		Name: "single-core", Question: "How much can one core drive?",
		Does: "Sequential and random reads by one job on one core, and by a job on each of the core's hardware threads.",
		Replaces: "fio --name=1c1t --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --rw=read --bs=128k --iodepth=32 " +
			"--cpus_allowed=1 --time_based --runtime=30",
	}
	runtime := timeKnob(&s, 30*time.Second)
	depth := depthKnob(&s, 32)
	randomBlock := blockKnob(&s, "random-block", "block size of the random reads", 4<<10)
	sequentialBlock := blockKnob(&s, "sequential-block", "block size of the sequential reads", 128<<10)
	repeats := repeatsKnob(&s, 1)
	engine := engineKnob(&s)

	s.plan = func(v Values, targets []Target) ([]Step, error) {
		core := targets[0].Core
		if len(core) == 0 {
			core = []int{0}
		}
		var loads []load
		for _, l := range []load{{kind: fio.Read, blockBytes: sequentialBlock.of(v)}, {kind: fio.RandRead, blockBytes: randomBlock.of(v)}} {
			l.depth, l.engine, l.runtime = depth.of(v), engine.of(v), runtime.of(v)
			l.jobs, l.cpus, l.prefix, l.condition = 1, core[:1], "1c1t-", "one core, one thread"
			loads = append(loads, l)
			if len(core) > 1 {
				l.jobs, l.cpus, l.prefix, l.condition = len(core), core, "1c2t-", "one core, all its threads"
				loads = append(loads, l)
			}
		}
		return steps(loads, repeats.of(v), targets...)
	}
	return s
}
