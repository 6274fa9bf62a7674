package counters

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Interrupt is one line of /proc/interrupts
// (Documentation/filesystems/proc.rst, section 1.2).
type Interrupt struct {
	Name string // the number, "36", or a name such as "NMI" and "IPI5"
	// CPUs are the numbers of the CPUs that Counts belong to, in the same order.
	// CPUs that are offline have no column. All lines of a file share the slice.
	CPUs []int
	// Counts are the interrupts taken on each CPU since boot. The kernel keeps them in
	// 32 bits, so they wrap around. A line such as ERR has one count for the whole
	// machine; CPUs is then nil.
	Counts []uint64

	// The remaining fields are empty if the kernel does not print them.

	Chip    string   // "PCI-MSIX-0000:01:00.0", "ITS-MSI", "GICv3"
	Trigger string   // hardware number and kind as printed: "1-edge", "524289 Edge"
	Actions []string // what is attached: "nvme0q1"; several on a shared interrupt
	// Description is the text of a line that has a name instead of a number.
	Description string
}

// Total sums the counts of all CPUs.
func (i Interrupt) Total() uint64 {
	var sum uint64
	for _, n := range i.Counts {
		sum += n
	}
	return sum
}

// Queues returns the queues of a device that the interrupt serves: "1" for the
// action nvme0q1 of nvme0, "req.0" for virtio1-req.0 of virtio1.
func (i Interrupt) Queues(device string) []string {
	var queues []string
	for _, action := range i.Actions {
		if queue, ok := queueOf(action, device); ok {
			queues = append(queues, queue)
		}
	}
	return queues
}

func queueOf(action, device string) (string, bool) {
	rest, ok := strings.CutPrefix(action, device)
	if !ok || device == "" {
		return "", false
	}
	if queue, ok := strings.CutPrefix(rest, "-"); ok {
		return queue, queue != ""
	}
	queue, ok := strings.CutPrefix(rest, "q")
	_, err := strconv.ParseUint(queue, 10, 32)
	return queue, ok && err == nil
}

// ReadDeviceInterrupts returns the lines of /proc/interrupts that serve a queue
// of the device, an NVMe controller ("nvme0") or a virtio device ("virtio1").
func ReadDeviceInterrupts(fs sysfs.FS, device string) ([]Interrupt, error) {
	f, err := fs.Open("/proc/interrupts")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var found []Interrupt
	for line, err := range parseInterrupts(f, device) {
		if err != nil {
			return nil, err
		}
		if len(line.Queues(device)) > 0 {
			found = append(found, line)
		}
	}
	return found, nil
}

// ParseInterrupts yields the lines of /proc/interrupts one by one, however long
// they are and however many. It ends after the first error.
func ParseInterrupts(r io.Reader) iter.Seq2[Interrupt, error] { return parseInterrupts(r, "") }

// parseInterrupts yields the lines that contain text. It does not parse the other
// lines, which on a machine with many drives and CPUs have millions of counts.
func parseInterrupts(r io.Reader, text string) iter.Seq2[Interrupt, error] {
	return func(yield func(Interrupt, error) bool) {
		lines := bufio.NewReaderSize(r, 64<<10) // the line of 512 CPUs is 6 KiB
		header, err := readLine(lines)
		if err != nil {
			yield(Interrupt{}, fmt.Errorf("read interrupts: %w", err))
			return
		}
		cpus, err := parseCPUs(header)
		if err != nil {
			yield(Interrupt{}, fmt.Errorf("parse interrupts: %w", err))
			return
		}
		for {
			line, err := readLine(lines)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Interrupt{}, fmt.Errorf("read interrupts: %w", err))
				return
			}
			if !strings.Contains(line, text) || strings.TrimSpace(line) == "" {
				continue
			}
			i, err := parseInterrupt(line, cpus)
			if err != nil {
				yield(Interrupt{}, fmt.Errorf("parse interrupts: %w", err))
				return
			}
			if !yield(i, nil) {
				return
			}
		}
	}
}

// readLine returns io.EOF only when nothing is left.
func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if errors.Is(err, io.EOF) && line != "" {
		err = nil
	}
	return line, err
}

// parseCPUs parses the header: "CPU0 CPU2 CPU3" where CPU 1 is offline.
func parseCPUs(header string) ([]int, error) {
	fields := strings.Fields(header)
	if len(fields) == 0 {
		return nil, errors.New("the first line names no CPU")
	}
	cpus := make([]int, len(fields))
	for i, field := range fields {
		number, ok := strings.CutPrefix(field, "CPU")
		cpu, err := strconv.ParseUint(number, 10, 31)
		if !ok || err != nil {
			return nil, fmt.Errorf("%q in the first line is not a CPU", field)
		}
		cpus[i] = int(cpu)
	}
	return cpus, nil
}

func parseInterrupt(line string, cpus []int) (Interrupt, error) {
	// Cut at the first colon and not at white space: on arm64 a wide count follows it
	// directly, "IPI5:1832994294".
	name, rest, ok := strings.Cut(line, ":")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return Interrupt{}, fmt.Errorf("line %q has no name", line)
	}
	// The strings are cloned here and below, so that keeping one does not keep the
	// whole line, which has kilobytes on a machine with many CPUs.
	i := Interrupt{Name: strings.Clone(name), CPUs: cpus, Counts: make([]uint64, 0, len(cpus))}
	for len(i.Counts) < len(cpus) {
		field, after := cutField(rest)
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			break
		}
		i.Counts = append(i.Counts, n)
		rest = after
	}
	_, err := strconv.ParseUint(name, 10, 32)
	numbered := err == nil
	next, _ := cutField(rest)
	switch _, err := strconv.ParseUint(next, 10, 64); {
	case err == nil:
		// A CPU came online after the header was written, so the counts cannot be assigned to CPUs.
		return Interrupt{}, fmt.Errorf("interrupt %s has more counts than the %d CPUs", name, len(cpus))
	case len(i.Counts) == len(cpus):
	case !numbered && len(i.Counts) == 1:
		i.CPUs = nil
	default:
		return Interrupt{}, fmt.Errorf("interrupt %s has %d counts for %d CPUs", name, len(i.Counts), len(cpus))
	}
	if numbered {
		i.Chip, i.Trigger, i.Actions = parseActions(strings.Clone(rest))
	} else {
		i.Description = strings.Clone(strings.TrimSpace(rest))
	}
	return i, nil
}

// parseActions takes apart what kernel/irq/proc.c prints after the counts: the
// chip, the number within it with the trigger ("1-edge", "27 Level", "-event"),
// and after those the actions, separated by commas.
func parseActions(rest string) (chip, trigger string, actions []string) {
	chip, rest = cutField(rest)
	field, after := cutField(rest)
	if field != "" && (field[0] == '-' || field[0] >= '0' && field[0] <= '9') {
		trigger, rest = field, after
		field, after = cutField(rest)
	}
	if field == "Level" || field == "Edge" {
		trigger, rest = strings.TrimSpace(trigger+" "+field), after
	}
	for action := range strings.SplitSeq(rest, ",") {
		if action = strings.TrimSpace(action); action != "" {
			actions = append(actions, action)
		}
	}
	return chip, trigger, actions
}

// cutField returns the first field of s and what comes after it.
func cutField(s string) (field, after string) {
	s = strings.TrimLeft(s, " \t\r\n")
	if end := strings.IndexAny(s, " \t\r\n"); end >= 0 {
		return s[:end], s[end:]
	}
	return s, ""
}
