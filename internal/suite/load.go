package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

const (
	// maxDepth is more than any device keeps in flight per queue.
	maxDepth = 65535
	// guessedRate is the expected rate of a load of a number of bytes, in bytes per second.
	guessedRate = 1e9
	// slowestDiscard is the rate below which discards count as hung, and slowestRead that of a drive beside which
	// others are read until its own read is over.
	slowestDiscard = 20e6
	slowestRead    = 1e6
	// hangs is how long no I/O of a load of a number of bytes may complete.
	hangs = 2 * time.Minute
	// fioStarts is how long fio takes to start and to end: most of the time of a small load.
	fioStarts = 500 * time.Millisecond
)

// polling is the name of polling among the settings of a workload.
const polling = "polling"

// load is one kind of I/O, either for a time or for a number of bytes.
type load struct {
	kind        fio.RW
	blockBytes  int64
	depth       int
	jobs        int // on each target; 0 is 1
	readPercent int // for a mixed load
	engine      string
	ramp        time.Duration // before the measurement
	runtime     time.Duration
	bytes       int64 // instead of runtime
	offset      int64 // where the load begins on the target

	span      int   // percent of the target that is used, from its beginning; 0 means all of it
	spare     *int  // percent of the device that was discarded and is left alone; nil if the suite does not vary this
	cpus      []int // instead of those of the target's node
	cores     int   // number of physical cores of cpus, and their NUMA nodes below, if the suite varies these
	nodes     []int
	memory    string // bindMemory: memory of the target's NUMA node
	lfsr      bool   // offsets from a shift register, which costs less CPU time
	datasync  bool   // fdatasync after each write
	buffered  bool   // through the page cache
	polling   string // on: poll for completions; off: explicitly do not
	repeat    int
	round     int
	name      string // instead of the default one
	prefix    string // before the name, if the kind and depth do not distinguish the loads
	settings  []Setting
	condition string // conditions besides the settings, for the plan: "one core, one thread"
	optional  bool

	// comparesMemory adds the memory placement to the settings of the workload.
	comparesMemory bool
}

func (l load) reads() bool { return l.kind.OnlyReads() }
func (l load) mixed() bool { return l.kind == fio.RandRW || l.kind == fio.ReadWrite }
func (l load) jobsOf() int { return max(1, l.jobs) }
func (l load) random() bool {
	return l.kind == fio.RandRead || l.kind == fio.RandWrite || l.kind == fio.RandRW
}

// workload returns the load as a record.
func (l load) workload() record.Workload {
	w := record.Workload{
		Direction: record.Write, Pattern: record.Sequential, BlockBytes: l.blockBytes, QueueDepth: l.depth, Jobs: l.jobsOf(),
		OffsetBytes: l.offset, SpanPercent: l.span, SparePercent: l.spare, CPUCores: l.cores, CPUNodes: l.nodes, Engine: l.engine, Buffered: l.buffered, CPUs: l.cpus, Repeat: l.repeat, Round: l.round,
	}
	if l.random() {
		w.Pattern = record.Random
	}
	switch {
	case l.mixed():
		w.Direction, w.ReadPercent = "", l.readPercent
	case l.reads():
		w.Direction = record.Read
	}
	set := func(name, value string) {
		if w.Settings == nil {
			w.Settings = map[string]string{}
		}
		w.Settings[name] = value
	}
	for _, s := range l.settings {
		set(string(s.Name), s.Value)
	}
	if l.polling != "" {
		set(polling, l.polling)
	}
	if l.comparesMemory {
		set(memoryParameter, cmp.Or(l.memory, anyMemory))
	}
	return w
}

// baseName returns the name that repeats share: "random-read-qd32-jobs4".
func (l load) baseName() string {
	if l.name != "" {
		return l.name
	}
	kind := map[fio.RW]string{
		fio.Read: "sequential-read", fio.Write: "sequential-write", fio.RandRead: "random-read", fio.RandWrite: "random-write",
		fio.RandRW: "random-mixed",
	}[l.kind]
	name := fmt.Sprintf("%s%s-qd%d", l.prefix, kind, l.depth)
	if l.jobsOf() > 1 {
		name += fmt.Sprintf("-jobs%d", l.jobs)
	}
	return name
}

// room returns how much of a target the load uses, in bytes.
func (l load) room(t Target) (int64, error) {
	if l.span == 0 {
		return t.room(l.blockBytes, l.depth)
	}
	part := t
	part.SizeBytes = int64(float64(t.SizeBytes) * float64(l.span) / 100) // in floating point, as 100 times the size of a large drive may not fit into 64 bits
	size, err := part.room(l.blockBytes, l.depth)
	if err != nil {
		return 0, fmt.Errorf("%d %% of %s: %w", l.span, units.Size(t.SizeBytes), err)
	}
	return size, nil
}

// step returns the step of a plan that runs the load on all targets at once.
func (l load) step(targets ...Target) (Step, error) {
	name := l.baseName()
	s := Step{Name: name, Expected: l.ramp + l.runtime, Targets: targets, Optional: l.optional}
	if l.repeat > 0 {
		s.Series, s.Name = name, repeatName(name, l.repeat)
	}
	w := l.workload()
	cpus := assign(targets, l.jobsOf())
	for i, t := range targets {
		if l.cpus != nil {
			cpus[i] = l.cpus
		}
		section, err := l.section(t, cpus[i])
		if err != nil {
			return Step{}, err
		}
		section.Name = s.Name
		if len(targets) > 1 {
			section.Name = fmt.Sprintf("%s-%d", s.Name, i+1)
			section.Options.Extra = append(section.Options.Extra, fio.Option{Key: "new_group", Bare: true})
			w.Targets = append(w.Targets, t.Path)
		}
		s.Job.Sections = append(s.Job.Sections, section)
	}
	if len(targets) == 1 {
		w.CPUs = cpus[0]
		if l.span > 0 {
			w.SpanBytes, _ = l.room(targets[0]) // section has returned this error already
		}
	}
	if l.bytes > 0 {
		s.Expected = fioStarts + lasts(l.bytes, guessedRate).Round(time.Millisecond)
		if l.kind == fio.Trim { // fio does not tell how fast it discards
			s.Limit = time.Minute + lasts(l.bytes, slowestDiscard)
		} else {
			s.Idle = hangs
		}
	}
	s.Plan = l.plan(w)
	s.Workload = &w
	s.Settings = l.settings
	if !l.reads() {
		s.Writes = l.writes(w)
	}
	return s, nil
}

// lasts returns how long a number of bytes takes at a rate.
func lasts(bytes int64, rate float64) time.Duration {
	return time.Duration(float64(bytes) / rate * float64(time.Second))
}

// plan describes the load: "4 KiB random read, depth 32, 4 jobs, write cache off".
func (l load) plan(w record.Workload) string {
	text := w.String()
	if l.datasync {
		text += ", fdatasync after each"
	}
	if l.condition != "" {
		text += ", " + l.condition
	}
	for _, s := range l.settings {
		text += fmt.Sprintf(", %s %s", s.Name, s.Value)
	}
	if n := len(w.Targets); n > 0 {
		text += fmt.Sprintf(", %d devices", n)
	}
	return text
}

// writes describes what is written: "4 KiB random writes for 1m".
func (l load) writes(w record.Workload) string {
	text := fmt.Sprintf("%s %s writes", units.Size(w.BlockBytes), w.Pattern)
	if l.kind == fio.Trim {
		return "discards all blocks"
	}
	if l.bytes > 0 {
		return fmt.Sprintf("%s of %s", text, units.Size(l.bytes))
	}
	return fmt.Sprintf("%s for %s", text, units.Span(l.ramp+l.runtime))
}

// section returns fio's section for the load on one target, bypassing the page cache.
//
// Jobs are threads, so that fio is one process and no job outlives it. Random offsets differ from run to
// run, so that no cache has them yet. They are drawn without a map of visited blocks, which takes long to
// make for a large drive. The content of the page cache is left alone: direct I/O does not use it, and
// invalidating it for a raw device would mean flushing it for everyone.
func (l load) section(t Target, cpus []int) (fio.Section, error) {
	size, err := l.room(t)
	if err != nil {
		return fio.Section{}, err
	}
	if err := t.checkBlock(l.blockBytes); err != nil && !l.buffered {
		return fio.Section{}, err
	}
	o := fio.Options{
		Filenames: []string{t.Path}, RW: l.kind, IOEngine: l.engine, Direct: new(!l.buffered), Thread: new(true),
		BlockBytes: new(l.blockBytes), OffsetBytes: new(t.OffsetBytes + l.offset), SizeBytes: new(size), IODepth: new(l.depth),
		NoRandomMap: new(true), LatPercentiles: new(true), AllowFileCreate: new(false), Invalidate: new(l.buffered),
		Extra: []fio.Option{{Key: "randrepeat", Value: "0"}},
	}
	extra := func(key, value string) { o.Extra = append(o.Extra, fio.Option{Key: key, Value: value}) }
	if l.bytes > 0 {
		if passes := l.bytes / size; passes > 1 {
			extra("loops", strconv.FormatInt(passes, 10))
		} else {
			o.SizeBytes = new(min(size, l.bytes))
		}
	} else {
		o.TimeBased, o.Runtime = new(true), new(l.runtime)
		if l.ramp > 0 {
			o.RampTime = new(l.ramp)
		}
	}
	if l.jobsOf() > 1 {
		o.NumJobs = new(l.jobs)
		o.GroupReporting = new(true)
		if !l.random() { // give each its own part, otherwise all would do the same
			part := size / int64(l.jobs) / l.blockBytes * l.blockBytes
			if part < l.blockBytes*int64(l.depth) {
				return fio.Section{}, fmt.Errorf("target %s: %s is too small for %d jobs at depth %d with blocks of %s; %s", t.Path,
					units.Size(t.SizeBytes), l.jobs, l.depth, units.Size(l.blockBytes), enough(t, l.offset+l.blockBytes*int64(l.depth)*int64(l.jobs)))
			}
			o.SizeBytes = new(part)
			extra("offset_increment", strconv.FormatInt(part, 10))
		}
	}
	if l.mixed() {
		o.RWMixRead = new(l.readPercent)
	}
	if l.datasync {
		o.Fdatasync = new(1)
	}
	if len(cpus) > 0 {
		o.CPUsAllowed = cpuText(cpus)
		if l.jobsOf() > 1 {
			extra("cpus_allowed_policy", "split")
		}
	}
	if l.memory == bindMemory && t.MemoryNode != nil {
		extra("numa_mem_policy", fmt.Sprintf("bind:%d", *t.MemoryNode))
	}
	if l.lfsr && t.SizeBytes >= lfsrFrom {
		extra("random_generator", "lfsr")
	}
	if l.polling == "on" {
		extra("hipri", "1")
	}
	return fio.Section{Options: o}, nil
}

// lfsrFrom is the smallest target whose offsets come from a shift register. The register of fio refuses one seed, and the job
// then does nothing, without an error: about one job in as many as the target has blocks.
const lfsrFrom = 1 << 30

// enough returns advice for a target that must have need bytes. A file that ssdprobe makes has a header
// before its data, and its size includes that header.
func enough(t Target, need int64) string {
	if t.OffsetBytes == 0 {
		return fmt.Sprintf("want %s or more, or fewer jobs", units.Size(need))
	}
	const mib = 1 << 20
	return fmt.Sprintf("give --size %dMiB or more, or fewer jobs", (t.OffsetBytes+need+mib-1)/mib)
}

// cpuText formats CPU numbers as sorted ranges: "0-3,8".
func cpuText(cpus []int) string {
	sorted := slices.Sorted(slices.Values(cpus))
	var parts []string
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		part := strconv.Itoa(sorted[i])
		if j > i {
			part += "-" + strconv.Itoa(sorted[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// steps returns the steps for the loads on the targets, repeated.
func steps(loads []load, repeats int, targets ...Target) ([]Step, error) {
	return repeated(repeats, func(repeat int) ([]Step, error) {
		var all []Step
		for _, l := range loads {
			l.repeat = repeat
			step, err := l.step(targets...)
			if err != nil {
				return nil, err
			}
			all = append(all, step)
		}
		return all, nil
	})
}
