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

// Target is a target of a run's I/O.
type Target struct {
	// Path is the path of a block device, or of a file that is full of random data.
	Path string
	// ID is the target's stable identity, "eui.…" or "file:…".
	ID string
	// Raw is true for a block device.
	Raw bool
	// OffsetBytes is where the usable data begins, and SizeBytes how much of it there is. Data before it, such as the
	// header of a probe file, is left alone.
	OffsetBytes, SizeBytes int64
	// ReadOnly is true if ssdprobe did not make the file, so that nothing may write to it.
	ReadOnly bool
	// Reused is true if the file existed before the run.
	Reused bool
	// Permission allows a raw device to be overwritten; the zero value does not.
	Permission safety.Permission
	// Destroy says that the user asked for a raw device to be overwritten. Only Permission permits it.
	Destroy bool

	// Device is the device, or the one below the file; zero if unknown.
	Device record.Device
	// Conditions are the current conditions.
	Conditions record.Conditions
	// Controllers are the names of its interrupts in /proc/interrupts ("nvme0"); if there are none, interrupts are not
	// counted.
	Controllers []string
	// Group is the PCIe root above the device ("pci0000:40"); empty if unknown.
	Group string
	// QueueDepth is the most I/Os that the device accepts at once; 0 if unknown.
	QueueDepth int
	// Queue describes the kernel's request queue for the device.
	Queue device.Queue
	// CPUs are the CPUs of the device's NUMA node on which this process may run. If there are none, jobs are not bound
	// to CPUs.
	CPUs device.CPUSet
	// Core holds the hardware threads of one physical core among CPUs.
	Core []int
	// MemoryNode is the NUMA node of the device on a machine with several nodes. It is nil if memory cannot be bound
	// to it; NotBound may then give the reason.
	MemoryNode *int
	NotBound   string
	// Nodes are the CPUs on which this process may run, by NUMA node, beginning with the device's node.
	Nodes []device.NodeCPUs
}

func (t Target) check() error {
	switch {
	case !filepath.IsAbs(t.Path):
		return fmt.Errorf("target %q: not an absolute path", t.Path)
	case t.OffsetBytes < 0 || t.SizeBytes <= 0:
		return fmt.Errorf("target %s: cannot do I/O on %d bytes from offset %d on", t.Path, t.SizeBytes, t.OffsetBytes)
	}
	return nil
}

// checkWrite returns why the target must not be written to; nil if it may.
func (t Target) checkWrite() error {
	switch {
	case t.Raw && !t.Permission.Covers(t.Path, t.Device.Number):
		return fmt.Errorf("it would overwrite the raw device %s, but its serial number was not given to permit that", t.Path)
	case t.ReadOnly:
		return fmt.Errorf("it would overwrite the file %s, which ssdprobe did not make: name a directory instead", t.Path)
	}
	return nil
}

// checkKind checks that the path is of the kind that the target claims.
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

// room returns the size in bytes of the part of the target that consists of whole blocks.
func (t Target) room(blockBytes int64, depth int) (int64, error) {
	size := t.SizeBytes / blockBytes * blockBytes
	if size < blockBytes*int64(depth) {
		return 0, fmt.Errorf("target %s: %s is too small for blocks of %s at depth %d", t.Path, units.Size(t.SizeBytes), units.Size(blockBytes), depth)
	}
	return size, nil
}

// unit returns the size of which direct I/O is a multiple. That of a file is its filesystem's, and at least a sector.
func (t Target) unit() int64 {
	if t.Raw && t.Device.LogicalBlockBytes > 0 {
		return int64(t.Device.LogicalBlockBytes)
	}
	return 512
}

// checkBlock returns why direct I/O cannot have blocks of this size; nil if it can.
func (t Target) checkBlock(bytes int64) error {
	if unit := t.unit(); bytes%unit != 0 {
		return fmt.Errorf("blocks of %s: direct I/O on %s takes multiples of its logical blocks of %s", units.BlockSize(bytes), t.Path, units.BlockSize(unit))
	}
	return nil
}

// isNVMe reports whether the device is an NVMe namespace.
func (t Target) isNVMe() bool { return len(t.Device.Controllers) > 0 }

// polled reports whether the driver has queues without interrupts.
func (t Target) polled() bool { return t.Conditions.Polling.Queues.Value > 0 }

// cpus returns how many CPUs jobs may use.
func (t Target) cpus() int {
	if n := len(t.CPUs.CPUs); n > 0 {
		return n
	}
	return runtime.NumCPU()
}

// file describes the file in a report; nil for a raw device.
func (t Target) file() *record.RunFile {
	if t.Raw {
		return nil
	}
	return &record.RunFile{Bytes: t.OffsetBytes + t.SizeBytes, Reused: t.Reused}
}

func (t Target) record() record.RunTarget {
	return record.RunTarget{Path: t.Path, ID: t.ID, Group: t.Group, Device: t.Device, Conditions: t.Conditions}
}

// assign assigns the jobs on each target to CPUs of its node. As long as there are enough, each job gets a CPU of its
// own, physical cores first. A single job on a single target may move among the physical cores of the node.
func assign(targets []Target, jobs int) [][]int {
	assigned := make([][]int, len(targets))
	used := map[string]int{} // CPUs assigned so far, keyed by the list that they are from
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
