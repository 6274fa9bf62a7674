package suite

import (
	"time"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// quick is the suite for the first look at a drive: random reads one at a time,
// which is the drive's latency; random reads at depth, which is what it can do at
// once; sequential reads, which is its bandwidth.
func quick() Suite {
	s := Suite{Name: "quick", Question: "Is this drive roughly what it should be?"}
	runtime := declare(&s, "time", "how long each step measures", 10*time.Second, duration(100*time.Millisecond))
	randomBlock := declare(&s, "random-block", "block size of the random reads", 4<<10, blockSize())
	randomDepths := declare(&s, "random-depths", "depths of the random reads, a step each", []int{1, 32}, list(count(1, maxDepth)))
	sequentialBlock := declare(&s, "sequential-block", "block size of the sequential reads", 128<<10, blockSize())
	sequentialDepth := declare(&s, "sequential-depth", "depth of the sequential reads", 8, count(1, maxDepth))
	engine := declare(&s, "engine", "fio's I/O engine", "libaio", choice("libaio", "io_uring"))

	s.plan = func(v Values, t Target) ([]Step, error) {
		var loads []load
		for _, depth := range randomDepths.of(v) {
			loads = append(loads, load{fio.RandRead, randomBlock.of(v), depth, engine.of(v), runtime.of(v)})
		}
		loads = append(loads, load{fio.Read, sequentialBlock.of(v), sequentialDepth.of(v), engine.of(v), runtime.of(v)})
		steps := make([]Step, len(loads))
		for i, l := range loads {
			step, err := l.step(t)
			if err != nil {
				return nil, err
			}
			steps[i] = step
		}
		return steps, nil
	}
	return s
}
