package suite

import (
	"time"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// mixed imitates a database: mostly reads, some writes, all random.
func mixed() Suite {
	s := Suite{
		Name: "mixed", Question: "How does it serve a database?", Writes: "4 KiB blocks, three of ten I/Os",
		Does: "Random reads and writes at once, with each I/O engine.",
		Replaces: "fio --name=mixed --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --rw=randrw --rwmixread=70 --bs=4k " +
			"--iodepth=16 --time_based --runtime=120",
	}
	runtime := timeKnob(&s, 120*time.Second)
	block := blockKnob(&s, "block", "block size", 4<<10)
	reads := declare(&s, "reads", "percent of the I/Os that are reads", 70, count(1, 99))
	depth := depthKnob(&s, 16)
	jobs := jobsKnob(&s, "jobs", "threads", 1)
	repeats := repeatsKnob(&s, 1)
	engines := declare(&s, "engines", "fio's I/O engines, one step each", []string{"libaio", "io_uring"}, list(choice("libaio", "io_uring")))

	s.plan = func(v Values, targets []Target) ([]Step, error) {
		var loads []load
		for _, engine := range engines.of(v) {
			loads = append(loads, load{
				kind: fio.RandRW, readPercent: reads.of(v), blockBytes: block.of(v), depth: depth.of(v), jobs: jobs.of(v),
				engine: engine, runtime: runtime.of(v), prefix: engine + "-", condition: engine,
			})
		}
		return steps(loads, repeats.of(v), targets...)
	}
	return s
}
