package health

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// adminQueue is the queue of an NVMe controller that carries no I/O.
const adminQueue = "0"

// Meter counts the interrupts of sources from one reading to the next. The kernel
// counts in 32 bits and forgets a queue's counts when a controller is reset or a CPU
// goes offline; the Meter's counts only grow. One goroutine may use it.
type Meter struct {
	fs      sysfs.FS
	sources map[string]*meterState
}

// meterState is what the meter knows of one source.
type meterState struct {
	counts map[slot]count
	at     time.Time
	// ios and interrupts are those of the I/O queues, as of at.
	ios, interrupts uint64
	counted         bool
}

// slot is where interrupts are counted.
type slot struct {
	queue string
	cpu   int
}

// count is what the kernel said last, and all that happened up to then.
type count struct{ raw, total uint64 }

// NewMeter returns a meter that has read nothing yet.
func NewMeter(files sysfs.FS) *Meter { return &Meter{fs: files, sources: map[string]*meterState{}} }

// Read reads the interrupts of all sources at once: the table of a large server is
// megabytes. A source without interrupts of its own has none in the result; one that
// is not among the sources is forgotten. The error joins what could not be read of
// some; the others are returned all the same.
func (m *Meter) Read(now time.Time, sources []Source) (map[string]record.Interrupts, error) {
	lines, err := m.table(sources)
	if err != nil {
		return nil, err
	}
	found := map[string]record.Interrupts{}
	states := map[string]*meterState{}
	var problems []error
	for _, s := range sources {
		state := m.sources[s.Name]
		if len(lines[s.Name]) == 0 {
			if state != nil { // its controller is being reset
				states[s.Name] = state
			}
			continue
		}
		if state == nil {
			state = &meterState{counts: map[slot]count{}}
		}
		states[s.Name] = state
		interrupts, err := m.read(now, s, lines[s.Name], state)
		found[s.Name] = interrupts
		problems = append(problems, err)
	}
	m.sources = states
	return found, errors.Join(problems...)
}

// table returns the lines of /proc/interrupts that serve a queue, by source.
func (m *Meter) table(sources []Source) (map[string][]counters.Interrupt, error) {
	f, err := m.fs.Open("/proc/interrupts")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := map[string][]counters.Interrupt{}
	for line, err := range counters.ParseInterrupts(f) {
		if err != nil {
			return nil, err
		}
		if len(line.Actions) == 0 {
			continue
		}
		for _, s := range sources {
			if len(line.Queues(s.Name)) > 0 {
				lines[s.Name] = append(lines[s.Name], line)
			}
		}
	}
	return lines, nil
}

// read adds what happened to one source since its last reading. With an error, the
// figure that needs what could not be read is missing.
func (m *Meter) read(now time.Time, s Source, lines []counters.Interrupt, state *meterState) (record.Interrupts, error) {
	var problems []error
	local, known, err := m.local(s.NUMANode)
	problems = append(problems, err)
	result := record.Interrupts{Time: now}
	for _, line := range lines {
		q := record.QueueInterrupts{Queue: strings.Join(line.Queues(s.Name), ","), Number: line.Name, CPUs: m.affinity(line.Name)}
		for i, raw := range line.Counts {
			at := slot{q.Queue, line.CPUs[i]}
			state.counts[at] = state.counts[at].next(raw)
		}
		for at, c := range state.counts {
			if at.queue == q.Queue {
				q.Count += c.total
			}
		}
		result.Queues = append(result.Queues, q)
	}
	// The sums have what the table does not show now too: CPUs that are offline, and
	// queues of a controller that is being reset.
	var remote, ofIO uint64
	for at, c := range state.counts {
		if !slices.Contains(local, at.cpu) {
			remote += c.total
		}
		if at.queue != adminQueue && at.queue != "config" && at.queue != "control" {
			ofIO += c.total
		}
	}
	if known {
		result.Remote = &remote
	}
	ios, err := m.completed(s)
	problems = append(problems, err)
	if err == nil && state.counted && ios > state.ios && ofIO >= state.interrupts {
		result.PerIO = new(float64(ofIO-state.interrupts) / float64(ios-state.ios))
		result.Span = now.Sub(state.at)
	}
	state.at, state.ios, state.interrupts, state.counted = now, ios, ofIO, err == nil
	if err := errors.Join(problems...); err != nil {
		return result, fmt.Errorf("interrupts of %s: %w", s.Name, err)
	}
	return result, nil
}

// next takes a newer count. One that became smaller went past 2³² when it was
// near that, and else began anew.
func (c count) next(raw uint64) count {
	const limit = math.MaxUint32 + 1
	switch {
	case raw >= c.raw:
		c.total += raw - c.raw
	case c.raw < limit && c.raw >= limit/4*3 && raw < limit/4:
		c.total += limit - c.raw + raw
	default:
		c.total += raw
	}
	c.raw = raw
	return c
}

// local returns the CPUs of a NUMA node, and whether the machine says.
func (m *Meter) local(node int) (cpus []int, known bool, err error) {
	if node < 0 {
		return nil, false, nil
	}
	set, err := device.CPUs(m.fs, node)
	if errors.Is(err, os.ErrNotExist) { // a kernel without NUMA
		return nil, false, nil
	}
	return set.CPUs, err == nil, err
}

// affinity returns the CPUs that an interrupt is sent to, empty when the machine does
// not say.
func (m *Meter) affinity(interrupt string) string {
	cpus, err := m.fs.Text("/proc/irq/" + interrupt + "/effective_affinity_list")
	if err != nil {
		return ""
	}
	return cpus
}

// completed returns how many I/Os a source has completed since it appeared. What other
// namespaces of a controller do counts too, as their interrupts do.
func (m *Meter) completed(s Source) (uint64, error) {
	var stats []string
	if s.Kind == record.ControllerNVMe {
		dir := "/sys/class/nvme/" + s.Name
		names, err := m.fs.List(dir)
		if err != nil {
			return 0, err
		}
		for _, name := range names {
			if strings.HasPrefix(name, "nvme") { // a namespace, nvme0n1, or a path to one, nvme0c0n1
				stats = append(stats, dir+"/"+name+"/stat")
			}
		}
	} else {
		for _, d := range s.Devices {
			stats = append(stats, "/sys/block/"+d.Name+"/stat")
		}
	}
	var sum uint64
	for _, stat := range stats {
		text, err := m.fs.Text(stat)
		if errors.Is(err, os.ErrNotExist) {
			continue // no I/O is counted, or it left meanwhile
		} else if err != nil {
			return 0, err
		}
		// The file has the columns of /proc/diskstats after the names
		// (Documentation/block/stat.rst).
		disks, err := counters.ParseDisks(strings.NewReader("0 0 - " + text))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", stat, err)
		}
		for _, d := range disks {
			sum += d.IOs()
		}
	}
	return sum, nil
}
