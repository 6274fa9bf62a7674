package suite

import (
	"fmt"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/units"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// mostLinearSteps limits the steps of a run on several targets, and thereby the size of its report.
const mostLinearSteps = 10_000

// linearRead reads pieces at evenly spaced offsets. This shows the inner tracks of a hard disk, worn or
// remapped regions of an SSD, and the fragments of a file. With several targets, it reads each one alone
// and then beside others, which shows a shared bus over the whole device.
func linearRead() Suite {
	s := Suite{
		Name: "linear-read", Question: "Is the speed the same all over the device?", Many: true,
		Does: "Sequential reads of a piece at each of many evenly spaced offsets. Several devices are each read alone, and on request also while others are read.",
		Replaces: "fio --name=linear --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --rw=read --bs=1m --iodepth=8 " +
			"--offset=0 --size=2g",
	}
	points := declare(&s, "points", "how many offsets", 40, count(2, 10_000))
	piece := declare(&s, "piece", "how much is read at each offset; less if the device is small", 2<<30, bytes(1<<20))
	block := blockKnob(&s, "block", "block size", 1<<20)
	depth := depthKnob(&s, 8)
	beside := declare(&s, "beside", "how many of the other devices are read at the same time, after each was read alone", 0, count(0, 63))
	known := []string{"random", "sequential"}
	besideLoad := declare(&s, "beside-load", "how the other devices are read: random or sequential", known[0], choice(known...))
	repeats := repeatsKnob(&s, 1)
	engine := engineKnob(&s)

	s.plan = func(v Values, targets []Target) ([]Step, error) {
		n, blockBytes, others := int64(points.of(v)), block.of(v), beside.of(v)
		numbers := []int{0} // numbers of devices beside
		if others > 0 {
			numbers = append(numbers, others)
		}
		all := int(n) * len(targets) * len(numbers) * repeats.of(v)
		switch {
		case others >= len(targets) && others > 0:
			return nil, fmt.Errorf("beside: %d others beside each, but only %s in all; want at most %d", others, units.Plural(len(targets), "target"), len(targets)-1)
		case len(targets) > 1 && all > mostLinearSteps:
			return nil, fmt.Errorf("points: %d offsets on %d targets are %d steps; want at most %d", n, len(targets), all, mostLinearSteps)
		}
		kind := map[string]fio.RW{known[0]: fio.RandRead, known[1]: fio.Read}[besideLoad.of(v)]
		return repeated(repeats.of(v), func(repeat int) ([]Step, error) {
			var all []Step
			for i, t := range targets {
				each := min(piece.of(v), t.SizeBytes/n) / blockBytes * blockBytes
				if least := blockBytes * int64(depth.of(v)); piece.of(v) < least {
					return nil, fmt.Errorf("piece: %s is less than %d blocks of %s, which are in flight at once; want %s or more",
						units.Size(piece.of(v)), depth.of(v), units.Size(blockBytes), units.Size(least))
				}
				if each < blockBytes*int64(depth.of(v)) {
					return nil, fmt.Errorf("target %s: %s is too small for %d pieces of %d blocks of %s",
						t.Path, units.Size(t.SizeBytes), n, depth.of(v), units.Size(blockBytes))
				}
				for _, number := range numbers {
					for point := range n {
						// In floating point: n times the size of a large drive may not fit into 64 bits.
						at := int64(float64(t.SizeBytes-each)*float64(point)/float64(n-1)) / blockBytes * blockBytes
						l := load{
							name: fmt.Sprintf("offset-%0*d", len(fmt.Sprint(n)), point+1), kind: fio.Read, blockBytes: blockBytes, depth: depth.of(v),
							engine: engine.of(v), bytes: each, offset: at, repeat: repeat,
							condition: fmt.Sprintf("%s from %s on", units.BlockSize(each), units.BlockSize(at)),
						}
						if len(targets) > 1 {
							l.name = fmt.Sprintf("drive-%d-%s", i+1, l.name)
							l.condition += " of " + t.Path
						}
						step, err := l.stepBeside(kind, t, following(targets, i, number))
						if err != nil {
							return nil, err
						}
						if len(targets) > 1 {
							step.Workload.Targets = []string{t.Path}
						}
						all = append(all, step)
					}
				}
			}
			return all, nil
		})
	}
	return s
}

// following returns the n targets after the i-th, wrapping around to the first.
func following(targets []Target, i, n int) []Target {
	var all []Target
	for k := range n {
		all = append(all, targets[(i+1+k)%len(targets)])
	}
	return all
}

// stepBeside returns the step for the load on t while others are read for as long as it takes.
func (l load) stepBeside(kind fio.RW, t Target, others []Target) (Step, error) {
	if len(others) == 0 {
		return l.step(t)
	}
	l.name += fmt.Sprintf("-beside-%d", len(others))
	l.condition += fmt.Sprintf(", beside %s", units.Plural(len(others), "other"))
	s, err := l.step(t)
	if err != nil {
		return Step{}, err
	}
	// When the first job ends, fio ends the others. Their runtime is longer than the first can take.
	first := &s.Job.Sections[0].Options
	first.Extra = append(first.Extra, fio.Option{Key: "new_group", Bare: true}, fio.Option{Key: "exitall", Bare: true}, fio.Option{Key: "exit_what", Value: "all"})
	cpus := assign(append([]Target{t}, others...), 1)
	first.CPUsAllowed = cpuText(cpus[0])
	s.Workload.CPUs = cpus[0]
	for i, other := range others {
		section, err := load{kind: kind, blockBytes: l.blockBytes, depth: l.depth, engine: l.engine, runtime: time.Minute + lasts(l.bytes, slowestRead).Round(time.Second)}.section(other, cpus[i+1])
		if err != nil {
			return Step{}, err
		}
		section.Name = fmt.Sprintf("%s-other-%d", s.Name, i+1)
		section.Options.Extra = append(section.Options.Extra, fio.Option{Key: "new_group", Bare: true})
		s.Job.Sections = append(s.Job.Sections, section)
		s.Targets = append(s.Targets, other)
		s.Workload.Beside = append(s.Workload.Beside, other.Path)
	}
	s.beside = true
	return s, nil
}
