package suite

import (
	"errors"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// interrupts compares fewer interrupts with the latency that they add.
func interrupts() Suite {
	s := Suite{
		Name: "interrupts", Question: "What do coalescing and polling buy?",
		Does: "Random reads with interrupt coalescing off and on, and with polled queues where the driver has them; settings are restored.",
		Replaces: "nvme set-feature /dev/nvme0 --feature-id=8 --value=0x109 && fio --name=coalescing --filename=/dev/nvme0n1 " +
			"--ioengine=libaio --direct=1 --rw=randread --bs=4k --iodepth=128 --time_based --runtime=30",
	}
	runtime := timeKnob(&s, 30*time.Second)
	block := blockKnob(&s, "block", "block size", 4<<10)
	depths := depthsKnob(&s, 1, 16, 128)
	coalescing := declare(&s, coalescingParameter, "coalescing settings, one step each: completions/time, off, or as-found; NVMe only",
		[]string{"off", "10/100µs"}, list(word(func(text string) (string, error) {
			if text == asFound {
				return text, nil
			}
			return settings.ParseCoalescing(text)
		})))
	polled := declare(&s, "polled", "measure with polled queues; auto does if the driver has them; io_poll_delay has no effect, because io_uring polls without sleeping", "auto", choice("auto", yes, no))
	repeats := repeatsKnob(&s, 3)
	engine := engineKnob(&s)

	s.refuse = func(v Values) error {
		if polled.of(v) == yes && v.Text(engine.name) == "libaio" { // as it was written: it is the default, too
			return errors.New("engine: libaio cannot poll; want io_uring, or polled=no")
		}
		return nil
	}
	s.plan = func(v Values, targets []Target) ([]Step, error) {
		hasQueues := targets[0].polled()
		if polled.of(v) == yes && !hasQueues {
			return nil, errors.New("polled: the driver has no polled queues here (nvme.poll_queues=N on the kernel's command line)")
		}
		poll := polled.of(v) != no && hasQueues
		base := load{kind: fio.RandRead, blockBytes: block.of(v), engine: engine.of(v), runtime: runtime.of(v)}
		if poll { // polling requires io_uring; use it for all steps, so that only polling differs
			base.engine = "io_uring"
		}
		var loads []load
		for _, base.depth = range depths.of(v) {
			loads = append(loads, base)
		}
		all := with(loads, settings.InterruptCoalescing, coalescing.of(v))
		for i := range loads {
			if poll {
				all[i].polling = "off"
				l := loads[i]
				l.polling, l.prefix, l.condition = "on", "polled-", "polled"
				all = append(all, l)
			}
		}
		return steps(all, repeats.of(v), targets...)
	}
	return s
}
