package suite

import (
	"errors"
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/units"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// steadyState writes until the figures no longer change: this is what a drive can do without erased
// blocks in reserve.
//
// The usual purge is a discard of every block. It goes through the device that is held exclusively,
// reaches nothing else, and is the same for every kind of drive. But a drive may postpone or ignore it,
// and reads of discarded blocks need not return zeros (Identify Namespace, DLFEAT), so reading back does
// not show whether it was done. The evidence is how much faster the first round was than the steady
// ones, and the report says so.
//
// NVMe Format with an erase of user data promises more: SNIA's PTS names it as a purge. It is a command
// to the controller, which may format all of its namespaces (Identify Controller, FNA), beyond what was
// checked and permitted. It therefore needs its own consent, and package safety sends it only if it
// reaches nothing else.
func steadyState() Suite {
	s := Suite{
		Name: "steady-state", Question: "What is left after days of writing?", Writes: "all of the target, several times",
		Does: "Writes all of it twice, then rounds of random writes until five in a row are steady (SNIA PTS).",
		Replaces: "fio --name=fill --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --rw=write --bs=128k --iodepth=32 " +
			"--loops=2 && fio --name=round --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --rw=randwrite --bs=4k " +
			"--iodepth=32 --numjobs=4 --group_reporting --time_based --runtime=60",
	}
	purge := declare(&s, "purge", "discard all blocks first, as blkdiscard does; the drive may free them later or never, and does not say when; format needs --format", no, choice(yes, no, Format))
	passes := declare(&s, "precondition", "how often the whole target is written sequentially before the rounds; 0 starts without that", 2, count(0, 100))
	runtime := declare(&s, "time", "how long a round takes", time.Minute, duration(100*time.Millisecond))
	block := blockKnob(&s, "block", "block size of the rounds", 4<<10)
	reads := declare(&s, "reads", "percent of the I/Os of a round that are reads", 0, count(0, 99))
	depth := depthKnob(&s, 32)
	jobs := jobsKnob(&s, "jobs", "threads", 4)
	rounds := declare(&s, "rounds", "the most rounds; no fewer than window", 25, count(2, 10_000))
	window := declare(&s, "window", "how many rounds in a row have to be steady", analysis.PTS().Window, count(2, 1000))
	spread := declare(&s, "range", "how much these rounds may differ at most, as a share of their mean", analysis.PTS().MaxRange, share())
	slope := declare(&s, "slope", "how much their trend may rise or fall at most, as a share of their mean", analysis.PTS().MaxSlope, share())
	engine := engineKnob(&s)

	s.rule = func(v Values) analysis.Rule {
		return analysis.Rule{Window: window.of(v), MaxRange: spread.of(v), MaxSlope: slope.of(v)}
	}
	s.refuse = func(v Values) error {
		if most, least := rounds.of(v), window.of(v); most < least {
			return fmt.Errorf("rounds: %d is less than the window of %d, so no rounds can be steady; want %[2]d or more, or a smaller window", most, least)
		}
		return nil
	}
	s.plan = func(v Values, targets []Target) ([]Step, error) {
		const largeBlock, largeDepth = 128 << 10, 32
		var loads []load
		whole, err := targets[0].room(largeBlock, 1)
		if err != nil {
			return nil, err
		}
		if purge.of(v) != no && !targets[0].Raw {
			return nil, errors.New("purge: blocks of a file can be neither discarded nor formatted; name the raw device")
		}
		if purge.of(v) == yes {
			loads = append(loads, load{
				name: "purge", kind: fio.Trim, blockBytes: largeBlock, depth: 1, engine: "psync", bytes: whole, condition: "discard",
			})
		}
		if n := passes.of(v); n > 0 {
			loads = append(loads, load{
				name: "precondition", kind: fio.Write, blockBytes: largeBlock, depth: largeDepth, engine: engine.of(v), bytes: int64(n) * whole,
				condition: "all of it " + units.Plural(n, "time"),
			})
		}
		for round := 1; round <= rounds.of(v); round++ {
			l := load{
				name: fmt.Sprintf("round-%02d", round), kind: fio.RandWrite, blockBytes: block.of(v), depth: depth.of(v), jobs: jobs.of(v),
				engine: engine.of(v), runtime: runtime.of(v), round: round, optional: round > window.of(v), condition: fmt.Sprintf("round %d", round),
			}
			if reads.of(v) > 0 {
				l.kind, l.readPercent = fio.RandRW, reads.of(v)
			}
			loads = append(loads, l)
		}
		planned, err := steps(loads, 1, targets...)
		if err == nil && purge.of(v) == Format {
			planned = append([]Step{formatStep(targets[0])}, planned...)
		}
		return planned, err
	}
	return s
}

// Format is the value of the parameter purge that has the drive formatted, and the name of that step.
const Format = "format"

// formatStep returns the step that formats a drive. It does not run fio.
func formatStep(t Target) Step {
	return Step{
		Name: Format, Plan: "NVMe Format, which erases all user data", Writes: "erases all of the drive", Targets: []Target{t}, Format: true,
		Expected: time.Minute, // a guess: most drives take seconds, some hours
	}
}
