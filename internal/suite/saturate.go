package suite

import (
	"time"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// saturate drives a device like its manufacturer does for the data sheet: deep queues,
// as many jobs as necessary, cheap random numbers.
func saturate() Suite {
	s := Suite{
		Name: "saturate", Question: "Does it reach its data sheet?", Writes: "4 KiB and 128 KiB blocks for half of its time",
		Does: "Random reads, then writes, by 1 to 16 jobs; sequential reads, then writes. Name the data sheet with --spec.",
		Replaces: "fio --name=saturate --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --thread --rw=randread " +
			"--norandommap --random_generator=lfsr --bs=4k --iodepth=128 --numjobs=16 --group_reporting --ramp_time=10 " +
			"--time_based --runtime=60",
	}
	runtime := timeKnob(&s, 60*time.Second)
	ramp := rampKnob(&s, 10*time.Second)
	randomBlock := blockKnob(&s, "random-block", "block size of the random I/O", 4<<10)
	randomJobs := declare(&s, "random-jobs", "threads of the random I/O, one step each", []int{1, 4, 8, 16}, list(count(1, maxJobs)))
	sequentialBlock := blockKnob(&s, "sequential-block", "block size of the sequential I/O", 128<<10)
	sequentialJobs := jobsKnob(&s, "sequential-jobs", "threads of the sequential I/O", 1)
	depth := depthKnob(&s, 128)
	repeats := repeatsKnob(&s, 1)
	writes := writesKnob(&s)
	memory := memoryKnob(&s)
	engine := engineKnob(&s)

	s.plan = func(v Values, targets []Target) ([]Step, error) {
		base := load{depth: depth.of(v), engine: engine.of(v), ramp: ramp.of(v), runtime: runtime.of(v), lfsr: true}
		var loads []load
		for _, kind := range []fio.RW{fio.RandRead, fio.RandWrite, fio.Read, fio.Write} {
			l := base
			l.kind = kind
			switch {
			case writes.of(v) == no && !l.reads():
			case l.random():
				l.blockBytes = randomBlock.of(v)
				for _, l.jobs = range randomJobs.of(v) {
					loads = append(loads, l)
				}
			default:
				l.blockBytes, l.jobs, l.lfsr = sequentialBlock.of(v), sequentialJobs.of(v), false
				loads = append(loads, l)
			}
		}
		return steps(withMemory(loads, memory.of(v), targets), repeats.of(v), targets...)
	}
	return s
}
