package suite

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// concurrency compares targets under many threads: the raw device and filesystems on
// it. Each repeat covers all targets, so that they meet the same conditions.
func concurrency() Suite {
	s := Suite{
		Name: "concurrency", Question: "What does it do under many threads?", Many: true,
		Does: "4 KiB random reads by many jobs, on one target after the other, such as a raw device and files on filesystems.",
		Replaces: "fio --name=concurrency --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --rw=randread --bs=4k " +
			"--iodepth=16 --numjobs=16 --group_reporting --time_based --runtime=39",
	}
	runtime := timeKnob(&s, 39*time.Second)
	block := blockKnob(&s, "block", "block size", 4<<10)
	depth := depthKnob(&s, 16)
	jobs := jobsKnob(&s, "jobs", "threads that read", 16)
	repeats := repeatsKnob(&s, 3)
	engine := engineKnob(&s)

	s.plan = func(v Values, targets []Target) ([]Step, error) {
		return repeated(repeats.of(v), func(repeat int) ([]Step, error) {
			var all []Step
			for i, t := range targets {
				l := load{
					kind: fio.RandRead, blockBytes: block.of(v), depth: depth.of(v), jobs: jobs.of(v), engine: engine.of(v), runtime: runtime.of(v),
					repeat: repeat,
				}
				if len(targets) > 1 {
					l.prefix = fmt.Sprintf("target%d-", i+1)
					l.condition = "on " + describe(t)
				}
				step, err := l.step(t)
				if err != nil {
					return nil, err
				}
				if len(targets) > 1 {
					step.Workload.Targets = []string{t.Path}
				}
				all = append(all, step)
			}
			return all, nil
		})
	}
	return s
}

// describe returns the path of a target and its kind: "/dev/nvme0n1 (raw)", "/mnt/a
// (xfs)".
func describe(t Target) string {
	switch {
	case t.Raw:
		return t.Path + " (raw)"
	case t.Conditions.Filesystem != "":
		return fmt.Sprintf("%s (%s)", filepath.Dir(t.Path), t.Conditions.Filesystem)
	}
	return t.Path
}
