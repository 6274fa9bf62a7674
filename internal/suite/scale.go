package suite

import (
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// scale runs the same load on each device alone, then on two, until all work at once. Devices may
// differ, by their model or their age, so that only their own rates tell what they lose. The
// caller orders the targets. If they are ordered by PCIe root, one root is complete
// before the next begins.
func scale() Suite {
	s := Suite{
		Name: "scale", Question: "Do drives slow each other down?", Many: true,
		Does:   "The same load on each device alone, and on 2, 3, … all devices at once. Devices are added PCIe root by PCIe root.",
		Writes: "nothing, unless loads names writes",
		Replaces: "fio --name=global --ioengine=libaio --direct=1 --thread --rw=randread --norandommap --random_generator=lfsr " +
			"--bs=4k --iodepth=32 --numjobs=4 --group_reporting --ramp_time=2 --time_based --runtime=10 --name=first " +
			"--filename=/dev/nvme0n1 --name=second --new_group --filename=/dev/nvme1n1",
	}
	known := []string{"random-read", "sequential-read", "random-write", "sequential-write"}
	loads := declare(&s, "loads", "what is run: "+fmt.Sprint(known), known[:2], list(choice(known...)))
	runtime := timeKnob(&s, 10*time.Second)
	ramp := rampKnob(&s, 2*time.Second)
	counts := declare(&s, "counts", "how many devices at once, one step each; auto is every number from 1 to all", nil, automatic(list(count(1, maxJobs))))
	randomBlock := blockKnob(&s, "random-block", "block size of the random I/O", 4<<10)
	sequentialBlock := blockKnob(&s, "sequential-block", "block size of the sequential I/O", 128<<10)
	randomJobs := jobsKnob(&s, "random-jobs", "threads of the random I/O on each device", 4)
	sequentialJobs := jobsKnob(&s, "sequential-jobs", "threads of the sequential I/O on each device", 1)
	depth := depthKnob(&s, 32)
	alone := declare(&s, "alone", "which devices are also measured alone: each of them, or the first, with which the others are then taken to be alike", "each", choice("each", "first"))
	repeats := repeatsKnob(&s, 1)
	memory := memoryKnob(&s)
	engine := engineKnob(&s)

	s.plan = func(v Values, targets []Target) ([]Step, error) {
		numbers := counts.of(v)
		for n := 1; counts.of(v) == nil && n <= len(targets); n++ {
			numbers = append(numbers, n)
		}
		if most := slices.Max(numbers); most > len(targets) {
			return nil, fmt.Errorf("counts: %d devices at once, but there are only %d", most, len(targets))
		}
		devices := atOnce(numbers, targets, alone.of(v) == "each")
		return repeated(repeats.of(v), func(repeat int) ([]Step, error) {
			var all []Step
			for _, name := range loads.of(v) {
				l := load{depth: depth.of(v), engine: engine.of(v), ramp: ramp.of(v), runtime: runtime.of(v), lfsr: true, repeat: repeat}
				switch name {
				case known[0], known[2]:
					l.kind, l.blockBytes, l.jobs = fio.RandRead, randomBlock.of(v), randomJobs.of(v)
				default:
					l.kind, l.blockBytes, l.jobs, l.lfsr = fio.Read, sequentialBlock.of(v), sequentialJobs.of(v), false
				}
				switch name {
				case known[2]:
					l.kind = fio.RandWrite
				case known[3]:
					l.kind = fio.Write
				}
				for _, d := range devices {
					for _, l := range withMemory([]load{l}, memory.of(v), d.targets) {
						l.name = l.prefix + name + "-" + d.name
						if d.alone {
							l.also(d.targets[0].Path + " alone")
						}
						step, err := l.step(d.targets...)
						if err != nil {
							return nil, err
						}
						step.parts = true
						all = append(all, step)
					}
				}
			}
			return all, nil
		})
	}
	return s
}

// devices are those that work at the same time. alone marks one that is not the first: the plan of its step names it.
type devices struct {
	name    string
	targets []Target
	alone   bool
}

// atOnce returns the devices of each step of a load. If each is wanted, the others follow the first one alone.
func atOnce(numbers []int, targets []Target, each bool) (all []devices) {
	for _, n := range numbers {
		all = append(all, devices{name: fmt.Sprintf("%d-devices", n), targets: targets[:n]})
		if n != 1 || !each {
			continue
		}
		for i, t := range targets[1:slices.Max(numbers)] {
			all = append(all, devices{name: fmt.Sprintf("device-%d-alone", i+2), targets: []Target{t}, alone: true})
		}
	}
	return all
}
