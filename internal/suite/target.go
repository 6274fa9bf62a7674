package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Target is where the I/O of a run goes.
type Target struct {
	// Path is that of a block device or of a file that is full of random data.
	Path string
	// ID is the target's stable identity, "eui.…" or "file:…".
	ID string
	// Raw is true for a block device.
	Raw bool
	// OffsetBytes is where the data begins that may be used, and SizeBytes how much
	// of it there is. What lies before, such as the header of a probe file, is left alone.
	OffsetBytes, SizeBytes int64
	// ReadOnly says that the content is somebody's, so that nothing writes to it.
	ReadOnly bool
	// Reused says that a file was there before the run.
	Reused bool
	// Permission allows to overwrite a raw device; the zero value does not.
	Permission safety.Permission
	// Destroy says that the user asked for a raw device to be overwritten. It permits nothing: Permission does.
	Destroy bool

	// Device is the device, or the one below the file; zero when it is not known.
	Device record.Device
	// Conditions are the current ones.
	Conditions record.Conditions
	// Controllers are the names under which its interrupts stand in
	// /proc/interrupts ("nvme0"); without them interrupts are not counted.
	Controllers []string
	// Group is the PCIe root that the device is below ("pci0000:40"); empty when it
	// is not known.
	Group string
	// QueueDepth is the most I/Os that the device takes at once; 0 when not known.
	QueueDepth int
	// Queue is how the kernel queues for the device.
	Queue device.Queue
	// CPUs are those of the device's NUMA node that this process may run on; without
	// them jobs are not bound to CPUs.
	CPUs device.CPUSet
	// Core are the hardware threads of one physical core among them.
	Core []int
	// MemoryNode is the NUMA node of the device on a machine that has several; nil where memory cannot be bound to it,
	// for which NotBound may give a reason.
	MemoryNode *int
	NotBound   string
	// Nodes are the CPUs of the machine that this process may run on, by NUMA node, the device's own first.
	Nodes []device.NodeCPUs
}

func (t Target) check() error {
	switch {
	case !filepath.IsAbs(t.Path):
		return fmt.Errorf("target %q: not an absolute path", t.Path)
	case t.OffsetBytes < 0 || t.SizeBytes <= 0:
		return fmt.Errorf("target %s: %d bytes from %d on are no place for I/O", t.Path, t.SizeBytes, t.OffsetBytes)
	}
	return nil
}

// checkWrite says why the target must not be written to; nil when it may.
func (t Target) checkWrite() error {
	switch {
	case t.Raw && !t.Permission.Covers(t.Path, t.Device.Number):
		return fmt.Errorf("it would overwrite the raw device %s, but its serial number was not given to permit that", t.Path)
	case t.ReadOnly:
		return fmt.Errorf("it would overwrite the file %s, which ssdprobe did not make: name a directory instead", t.Path)
	}
	return nil
}

// checkKind makes sure that the path is what the target says it is.
func (t Target) checkKind() error {
	info, err := os.Stat(t.Path)
	if err != nil {
		return err
	}
	block := info.Mode()&os.ModeDevice != 0 && info.Mode()&os.ModeCharDevice == 0
	switch {
	case t.Raw && !block:
		return fmt.Errorf("%s is not a block device", t.Path)
	case !t.Raw && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", t.Path)
	case !t.Raw && info.Size() < t.OffsetBytes+t.SizeBytes:
		return fmt.Errorf("%s has %d bytes, fewer than the %d that are to be used", t.Path, info.Size(), t.OffsetBytes+t.SizeBytes)
	}
	return nil
}

// room is the part of the target that blocks of a size fill without a rest.
func (t Target) room(blockBytes int64, depth int) (int64, error) {
	size := t.SizeBytes / blockBytes * blockBytes
	if size < blockBytes*int64(depth) {
		return 0, fmt.Errorf("target %s: %s is too small for blocks of %s at depth %d", t.Path, units.Size(t.SizeBytes), units.Size(blockBytes), depth)
	}
	return size, nil
}

// isNVMe reports whether the device is an NVMe namespace.
func (t Target) isNVMe() bool { return len(t.Device.Controllers) > 0 }

// polled reports whether the driver has queues without interrupts.
func (t Target) polled() bool { return t.Conditions.Polling.Queues.Value > 0 }

// cpus is how many CPUs jobs may use.
func (t Target) cpus() int {
	if n := len(t.CPUs.CPUs); n > 0 {
		return n
	}
	return runtime.NumCPU()
}

// file tells of the file in a report; nil for a raw device.
func (t Target) file() *record.RunFile {
	if t.Raw {
		return nil
	}
	return &record.RunFile{Bytes: t.OffsetBytes + t.SizeBytes, Reused: t.Reused}
}

func (t Target) record() record.RunTarget {
	return record.RunTarget{Path: t.Path, ID: t.ID, Group: t.Group, Device: t.Device, Conditions: t.Conditions}
}

// assign gives the jobs on each target CPUs of its node: as long as there are
// enough, one each, physical cores first, and none twice. A single job on a single
// target may move among the physical cores of the node.
func assign(targets []Target, jobs int) [][]int {
	assigned := make([][]int, len(targets))
	used := map[string]int{} // CPUs given away, by the list they are from
	for i, t := range targets {
		all := t.CPUs.CPUs
		switch {
		case len(all) == 0:
		case len(targets) == 1 && jobs == 1:
			assigned[i] = all[:t.CPUs.Cores]
		default:
			key := fmt.Sprint(all)
			for range min(jobs, len(all)) {
				assigned[i] = append(assigned[i], all[used[key]%len(all)])
				used[key]++
			}
		}
	}
	return assigned
}
