package suite

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/units"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// cpuSweep runs the same load on more and more CPUs. As long as it gets faster, the CPUs
// are the limit and not the drive.
func cpuSweep() Suite {
	s := Suite{
		Name: "cpus", Question: "How many CPUs does it take?",
		Does: "The same random reads with 1, 2, 4 … all CPUs allowed: physical cores first, those near the drive before others, then the " +
			"other threads of each core.",
		Replaces: "fio --name=cpus --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --rw=randread --bs=4k --iodepth=32 --numjobs=16 " +
			"--group_reporting --cpus_allowed=8-9 --cpus_allowed_policy=split --ramp_time=2 --time_based --runtime=10",
	}
	runtime := timeKnob(&s, 10*time.Second)
	ramp := rampKnob(&s, 2*time.Second)
	block := blockKnob(&s, "block", "block size", 4<<10)
	counts := declare(&s, "counts", "numbers of CPUs that are allowed, one step each; auto is 1, 2, 4 … and all CPUs that this process may use", nil,
		automatic(list(count(1, maxJobs))))
	jobs := declare(&s, "jobs", "threads that read, in every step; 0 is one for each CPU of the largest step", 0, count(0, maxJobs))
	depth := depthKnob(&s, 32)
	repeats := repeatsKnob(&s, 3)
	engine := engineKnob(&s)

	s.plan = func(v Values, targets []Target) ([]Step, error) {
		t := targets[0]
		order := cpuOrder(t.Nodes)
		if len(order) == 0 {
			return nil, errors.New("this machine does not list its CPUs in /sys/devices/system/cpu, so none can be chosen")
		}
		numbers := counts.of(v)
		for n := 1; counts.of(v) == nil; n *= 2 {
			numbers = append(numbers, min(n, len(order)))
			if n >= len(order) {
				break
			}
		}
		slices.Sort(numbers)
		most := numbers[len(numbers)-1]
		if most > len(order) {
			return nil, fmt.Errorf("counts: %d CPUs, but this process may use only %d", most, len(order))
		}
		threads := jobs.of(v)
		if threads == 0 {
			threads = most
		}
		if threads < most { // fio gives each thread one CPU
			return nil, fmt.Errorf("jobs: %d cannot use %d CPUs; want %[2]d or more, or counts up to %[1]d", threads, most)
		}
		var loads []load
		for _, n := range numbers {
			l := load{
				kind: fio.RandRead, blockBytes: block.of(v), depth: depth.of(v), jobs: threads, engine: engine.of(v), ramp: ramp.of(v),
				runtime: runtime.of(v), prefix: fmt.Sprintf("cpus%d-", n),
			}
			l.place(order[:n])
			loads = append(loads, l)
		}
		return steps(loads, repeats.of(v), t)
	}
	return s
}

// place binds a load to CPUs, and names them in its plan.
func (l *load) place(cpus []cpu) {
	var nodes []string
	for _, c := range cpus {
		l.cpus = append(l.cpus, c.number)
		if !c.sibling {
			l.cores++
		}
		if !slices.Contains(l.nodes, c.node) {
			l.nodes = append(l.nodes, c.node)
			nodes = append(nodes, fmt.Sprint(c.node))
		}
	}
	l.condition = "on " + units.Plural(l.cores, "core")
	if siblings := len(cpus) - l.cores; siblings > 0 {
		l.condition += " and " + units.Plural(siblings, "SMT sibling")
	}
	switch {
	case len(nodes) > 1:
		l.condition += " of NUMA nodes " + strings.Join(nodes, " and ")
	case l.nodes[0] >= 0:
		l.condition += " of NUMA node " + nodes[0]
	}
	l.condition += " (CPU " + cpuText(l.cpus) + ")"
}

// cpu is a hardware thread.
type cpu struct {
	number, node int
	sibling      bool // another thread of a core that is already represented
}

// cpuOrder returns the order in which CPUs are used: one thread of each core, node by node,
// then the others, so that a sibling never comes before an idle core.
func cpuOrder(nodes []device.NodeCPUs) []cpu {
	var cores, siblings []cpu
	for _, n := range nodes {
		for i, number := range n.CPUs {
			if i < n.Cores {
				cores = append(cores, cpu{number, n.Node, false})
			} else {
				siblings = append(siblings, cpu{number, n.Node, true})
			}
		}
	}
	return append(cores, siblings...)
}
