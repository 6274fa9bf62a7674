package suite

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/units"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// spanSweep measures how much of a drive can be used before it gets slower. A drive looks up each
// block in a table of about a thousandth of its size. A drive without enough memory for the table
// holds a part of it, and reads flash twice for blocks beyond that part.
//
// A raw device that may be overwritten is first filled, because a drive answers for blocks that
// were never written without reading. Afterwards it is also brought to the steady state with a part
// of it discarded and left alone. The drive has that part in reserve: over-provisioning by the
// user.
func spanSweep() Suite {
	s := Suite{
		Name: "span", Question: "How much of it can be used at full speed?", Writes: "8 KiB blocks for half of its time; all of a raw device",
		Does: "Random reads, then writes, over 1 to 100 % of the target, one at a time and at depth. On a raw device, then writes until they are steady, with 0, 20 and 40 % of the device discarded.",
		Replaces: "fio --name=span --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --rw=randread --bs=8k --iodepth=32 --size=10% " +
			"--norandommap --ramp_time=2 --time_based --runtime=10 && blkdiscard /dev/nvme0n1 && " +
			"fio --name=fill --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --rw=write --bs=128k --iodepth=32 --size=80% --loops=2 && " +
			"fio --name=round --filename=/dev/nvme0n1 --ioengine=libaio --direct=1 --rw=randwrite --bs=8k --iodepth=32 --size=80% " +
			"--norandommap --time_based --runtime=60",
	}
	runtime := timeKnob(&s, 10*time.Second)
	ramp := rampKnob(&s, 2*time.Second)
	block := blockKnob(&s, "block", "block size", 8<<10)
	depths := depthsKnob(&s, 1, 32)
	spans := declare(&s, "spans", "percent of the target that is used, one step each", []int{1, 10, 25, 50, 75, 100}, list(count(1, 100)))
	repeats := repeatsKnob(&s, 3)
	writes := writesKnob(&s)
	spares := declare(&s, "spare", "percent of a raw device that is discarded and stays unused while the rest is written until it is steady; auto is 0,20,40 on raw "+
		"devices; no skips these writes", nil, orNone(automatic(list(count(0, 90)))))
	roundTime := declare(&s, "round-time", "how long a round of these writes takes", time.Minute, duration(100*time.Millisecond))
	rounds := declare(&s, "rounds", "the most rounds for each percentage", 25, count(analysis.PTS().Window, 10_000))
	engine := engineKnob(&s)

	s.rule = func(Values) analysis.Rule { return analysis.PTS() }
	s.plan = func(v Values, targets []Target) ([]Step, error) {
		t := targets[0]
		overwrites := t.Raw && writes.of(v) == yes
		left := spares.of(v)
		switch {
		case len(left) > 0 && !t.Raw:
			return nil, errors.New("spare: blocks of a file cannot be discarded; name the raw device")
		case len(left) > 0 && !overwrites:
			return nil, errors.New("spare: needs writes; leave out writes=no")
		case left == nil && overwrites:
			left = []int{0, 20, 40}
		}
		var all []Step
		add := func(repeats int, loads ...load) error {
			more, err := steps(loads, repeats, t)
			all = append(all, more...)
			return err
		}
		if overwrites {
			fill, err := filling(t, engine.of(v), 100, 1)
			if err != nil {
				return nil, err
			}
			if err := add(1, fill); err != nil {
				return nil, err
			}
		}
		var loads []load
		for _, kind := range []fio.RW{fio.RandRead, fio.RandWrite} {
			if kind == fio.RandWrite && writes.of(v) == no {
				continue
			}
			for _, depth := range depths.of(v) {
				for _, percent := range slices.Sorted(slices.Values(spans.of(v))) {
					loads = append(loads, load{
						kind: kind, blockBytes: block.of(v), depth: depth, engine: engine.of(v), ramp: ramp.of(v), runtime: runtime.of(v),
						span: percent, prefix: fmt.Sprintf("span%d-", percent),
					})
				}
			}
		}
		if err := add(repeats.of(v), loads...); err != nil {
			return nil, err
		}
		for _, spare := range slices.Sorted(slices.Values(left)) {
			base := load{kind: fio.RandWrite, blockBytes: block.of(v), depth: 32, engine: engine.of(v), runtime: roundTime.of(v)}
			loads, err := withSpare(t, spare, base, rounds.of(v))
			if err != nil {
				return nil, err
			}
			if err := add(1, loads...); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	return s
}

const (
	// fillBlock and fillDepth are a block size and depth with which a device is filled quickly.
	fillBlock = 128 << 10
	fillDepth = 32
)

// filling returns a load that writes the first percent of a target sequentially, passes times.
func filling(t Target, engine string, percent, passes int) (load, error) {
	l := load{
		name: "fill", kind: fio.Write, blockBytes: fillBlock, depth: fillDepth, engine: engine, span: percent,
		condition: units.Plural(passes, "time"),
	}
	size, err := l.room(t)
	l.bytes = int64(passes) * size
	return l, err
}

// withSpare returns the loads for a given spare part: they discard the whole device, fill the rest
// twice, as the SNIA Performance Test Specification does before it looks for the steady state, and
// write rounds there.
func withSpare(t Target, spare int, base load, rounds int) ([]load, error) {
	const passes = 2
	whole, err := t.room(fillBlock, 1)
	if err != nil {
		return nil, err
	}
	fill, err := filling(t, base.engine, 100-spare, passes)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("spare%d-", spare)
	purge := load{name: name + "purge", kind: fio.Trim, blockBytes: fillBlock, depth: 1, engine: "psync", bytes: whole, condition: "discard"}
	fill.name = name + fill.name
	loads := []load{purge, fill}
	for round := 1; round <= rounds; round++ {
		l := base
		l.name, l.round, l.span = fmt.Sprintf("%sround-%02d", name, round), round, 100-spare
		l.optional = round > analysis.PTS().Window
		l.condition = fmt.Sprintf("round %d", round)
		loads = append(loads, l)
	}
	for i := range loads {
		loads[i].spare = &spare
		loads[i].condition += fmt.Sprintf(", %d %% spare", spare)
	}
	return loads, nil
}
