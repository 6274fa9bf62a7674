package suite

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// model measures the six coefficients of the kernel's linear cost model with the method of the kernel's
// tools/cgroup/iocost_coef_gen.py. It measures bandwidth with one I/O of 128 MiB in flight, and I/Os per second with 64
// of 4 KiB, for two minutes each, and reads before it writes. The tool measures once; repeats show how reliable that
// is.
func model() Suite {
	s := Suite{
		Name: "model", Question: "What does an I/O cost?", Writes: "a file for half of its time; a raw device only with --destroy",
		Does: "Measures the coefficients of the kernel's io.cost as its iocost_coef_gen.py does, and prints the lines for io.cost.model and io.cost.qos. " +
			"If a coefficient is missing, it says why; the exit code is 0 all the same.",
		Replaces: "fio --name=coef --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --rw=randread --bs=4096 --iodepth=64 " +
			"--time_based --runtime=120",
	}
	runtime := timeKnob(&s, 2*time.Minute)
	sequentialBlock := declare(&s, "sequential-block", "block size for the bandwidth", int64(128<<20), bytes(4<<10))
	sequentialDepth := declare(&s, "sequential-depth", "sequential I/Os of 4 KiB in flight per job", 64, count(1, maxDepth))
	randomDepth := declare(&s, "random-depth", "random I/Os of 4 KiB in flight per job", 64, count(1, maxDepth))
	jobs := jobsKnob(&s, "jobs", "threads; a fast drive needs several to be saturated", 1)
	percentile := declare(&s, "percentile", "percentile of the latencies in the line for io.cost.qos", 95, count(50, 99))
	repeats := repeatsKnob(&s, 3)
	writes := declare(&s, "writes", "whether to write as well; auto: on files, and on a raw device that --destroy names", automaticWrites, choice(automaticWrites, yes, no))
	engine := engineKnob(&s)

	s.doubts = otherMethod
	s.costs = func(v Values, t Target) analysis.CostOptions {
		return analysis.CostOptions{
			Device: t.Device.Number, Stack: t.Conditions.Stack, Percentile: percentile.of(v), Read: !writesTo(writes.of(v), t),
		}
	}
	s.plan = func(v Values, targets []Target) ([]Step, error) {
		t := targets[0]
		if t.Queue.Known && !t.Queue.Requests {
			return nil, fmt.Errorf("io.cost does not work on this device: %s hands I/Os on to other devices and queues none itself; name a drive that it is made of",
				cmp.Or(t.Device.Name, t.Path))
		}
		const page = 4 << 10
		var loads []load
		for _, direction := range []struct {
			prefix             string
			sequential, random fio.RW
		}{{"r", fio.Read, fio.RandRead}, {"w", fio.Write, fio.RandWrite}} {
			if direction.sequential == fio.Write && !writesTo(writes.of(v), t) {
				break
			}
			loads = append(loads,
				load{name: direction.prefix + "bps", kind: direction.sequential, blockBytes: sequentialBlock.of(v), depth: 1},
				load{name: direction.prefix + "seqiops", kind: direction.sequential, blockBytes: page, depth: sequentialDepth.of(v)},
				load{name: direction.prefix + "randiops", kind: direction.random, blockBytes: page, depth: randomDepth.of(v)})
		}
		for i := range loads {
			loads[i].jobs, loads[i].engine, loads[i].runtime = jobs.of(v), engine.of(v), runtime.of(v)
		}
		return steps(loads, repeats.of(v), targets...)
	}
	return s
}

// automaticWrites writes wherever no further consent is needed.
const automaticWrites = "auto"

// writesTo reports whether the choice (auto, yes or no) means that the target is written to.
func writesTo(choice string, t Target) bool {
	return choice == yes || choice == automaticWrites && (!t.Raw || t.Destroy)
}

// toolFileBytes is the size of the file that the kernel's tool measures on.
const toolFileBytes = 16 << 30

// otherMethod returns warnings about differences from the kernel's tool, which disables the scheduler and merging and
// measures on a large file. Without a scheduler, I/Os that fio submits one by one are not merged.
func otherMethod(t Target) []record.Warning {
	var all []record.Warning
	warn := func(format string, args ...any) {
		all = append(all, record.Warning{Code: record.WarnMethod, Text: fmt.Sprintf(format, args...)})
	}
	if scheduler := t.Conditions.Scheduler; scheduler != "" && scheduler != "none" {
		warn("The I/O scheduler of %s is %s; the kernel's own tool measures without one and without merges: to measure as it does, write none to "+
			"/sys/block/%s/queue/scheduler and 1 to nomerges beside it, and repeat.", t.Device.Name, scheduler, t.Device.Name)
	}
	if t.Queue.CostControlled {
		warn("io.cost is on for %s and may have held I/Os back: write \"%s enable=0\" to /sys/fs/cgroup/io.cost.qos and repeat.",
			t.Device.Name, t.Device.Number)
	}
	if bytes := t.OffsetBytes + t.SizeBytes; !t.Raw && bytes < toolFileBytes {
		warn("The file has %s; the kernel's own tool uses 16 GiB, because a drive is faster on a small part of itself: --size 16GiB makes such a file.",
			units.Size(bytes))
	}
	return all
}
