package health

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
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
// goes offline; the Meter's counts only grow. It is not safe for concurrent use.
type Meter struct {
	// FromZero makes the counts of a source begin at 0 with its first reading, and not at the kernel's. The counter of a
	// process that is restarted has to: the kernel's counts may have fallen meanwhile. Set it before the first reading.
	FromZero bool

	fs      sysfs.FS
	sources map[string]*meterState
	// near holds the CPUs of each NUMA node that have ever been online: a node does not list the others, and what they
	// counted stays local.
	near map[int]map[int]bool
}

// meterState is what the meter remembers of one source.
type meterState struct {
	// queues holds the counts of each queue by CPU, without pairs that never counted: a
	// large server has a million pairs of queue and CPU, and nearly all stay at zero.
	queues map[string]map[int]count
	// begun holds the CPUs that the table had in an earlier reading; nil if all counts are those since boot.
	begun map[int]bool
	since time.Time // of the first reading; zero if all counts are those since boot
	at    time.Time
	// ios and interrupts are the totals of the I/O queues at the time at.
	ios, interrupts uint64
	counted         bool
}

// count holds the kernel's last count, and the total number of interrupts up to then.
type count struct{ raw, total uint64 }

// NewMeter returns a meter that has read nothing yet.
func NewMeter(files sysfs.FS) *Meter {
	return &Meter{fs: files, sources: map[string]*meterState{}, near: map[int]map[int]bool{}}
}

// Read reads the interrupts of all sources at once, because the table of a large server
// has megabytes. Sources without interrupts of their own are missing from the result.
// The Meter forgets a source that is not passed. The error joins what could not be read
// of some sources; the others are still returned.
func (m *Meter) Read(now time.Time, sources []Source) (map[string]record.Interrupts, error) {
	lines, err := m.table(sources)
	if err != nil {
		return nil, err
	}
	found := map[string]record.Interrupts{}
	states := map[string]*meterState{}
	nodes := map[int]node{}
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
			state = &meterState{queues: map[string]map[int]count{}}
			if m.FromZero {
				state.begun, state.since = map[int]bool{}, now
			}
		}
		states[s.Name] = state
		if _, ok := nodes[s.NUMANode]; !ok {
			nodes[s.NUMANode] = m.node(s.NUMANode)
		}
		interrupts, err := m.read(now, s, nodes[s.NUMANode], lines[s.Name], state)
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

// queueNumber returns the number of a queue, or -1 for one without.
func queueNumber(q record.QueueInterrupts) int {
	if n, err := strconv.Atoi(q.Queue); err == nil {
		return n
	}
	return -1
}

// read counts the interrupts of one source since its last reading. With an error, the
// figures that depend on what could not be read are missing.
func (m *Meter) read(now time.Time, s Source, near node, lines []counters.Interrupt, state *meterState) (record.Interrupts, error) {
	problems := []error{near.err}
	result := record.Interrupts{Time: now, Since: state.since, EveryQueue: s.EveryQueue}
	for _, line := range lines {
		q := record.QueueInterrupts{Queue: strings.Join(line.Queues(s.Name), ","), Number: line.Name, CPUs: m.affinity(line.Name, "effective_affinity_list")}
		if s.EveryQueue {
			q.Affinity = m.affinity(line.Name, "smp_affinity_list")
		}
		state.add(q.Queue, line)
		result.Queues = append(result.Queues, q)
	}
	if state.begun != nil {
		for _, cpu := range lines[0].CPUs {
			state.begun[cpu] = true
		}
	}
	// The lines are in the order of their numbers, and a queue may get one that another has given back.
	slices.SortStableFunc(result.Queues, func(a, b record.QueueInterrupts) int { return cmp.Compare(queueNumber(a), queueNumber(b)) })
	// The sums include what the table does not show now: CPUs that are offline, and
	// queues of a controller that is being reset.
	var remote, ofIO uint64
	sums, remotes := map[string]uint64{}, map[string]uint64{}
	for queue, counts := range state.queues {
		for cpu, c := range counts {
			sums[queue] += c.total
			result.Count += c.total
			if !near.cpus[cpu] {
				remote += c.total
				remotes[queue] += c.total
			}
		}
		if queue != adminQueue && queue != "config" && queue != "control" {
			ofIO += sums[queue]
		}
	}
	for i, q := range result.Queues {
		result.Queues[i].Count = sums[q.Queue]
		if far := remotes[q.Queue]; s.EveryQueue && near.cpus != nil {
			result.Queues[i].Local, result.Queues[i].Remote = new(sums[q.Queue]-far), &far
		}
	}
	if near.cpus != nil {
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

// add takes the counts of a queue from a line of the table.
func (s *meterState) add(queue string, line counters.Interrupt) {
	counts := s.queues[queue]
	if counts == nil {
		counts = map[int]count{}
		s.queues[queue] = counts
	}
	for i, raw := range line.Counts {
		cpu := line.CPUs[i]
		c, counted := counts[cpu]
		switch {
		case counted:
			counts[cpu] = c.next(raw)
		case raw == 0: // a zero matters only after a count: the controller was reset
		case s.begun != nil && !s.begun[cpu]: // counted before; a CPU that comes online brings what it had counted
			counts[cpu] = count{raw: raw}
		default: // since the last reading, or since boot
			counts[cpu] = count{raw: raw, total: raw}
		}
	}
}

// next takes a newer count, of what may have been restarted.
func (c count) next(raw uint64) count {
	more, ok := counters.CountSince(raw, c.raw)
	if !ok {
		more = raw
	}
	return count{raw: raw, total: c.total + more}
}

// node holds the CPUs of a NUMA node, nil when they are unknown, and the error if they could not be read.
type node struct {
	cpus map[int]bool
	err  error
}

func (m *Meter) node(number int) node {
	if number < 0 {
		return node{}
	}
	set, err := device.CPUs(m.fs, number)
	if errors.Is(err, os.ErrNotExist) { // a kernel without NUMA
		return node{}
	} else if err != nil {
		return node{err: err}
	}
	if m.near[number] == nil {
		m.near[number] = map[int]bool{}
	}
	for _, cpu := range set.CPUs {
		m.near[number][cpu] = true
	}
	return node{cpus: m.near[number]}
}

// affinity returns one of the CPU lists of an interrupt, empty when it cannot be read.
func (m *Meter) affinity(interrupt, list string) string {
	cpus, err := m.fs.Text("/proc/irq/" + interrupt + "/" + list)
	if err != nil {
		return ""
	}
	return cpus
}

// completed returns how many I/Os a source has completed since it appeared. For a
// controller, the I/Os of all its namespaces count, as their interrupts do.
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
			continue // it does not count I/O, or has left meanwhile
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
