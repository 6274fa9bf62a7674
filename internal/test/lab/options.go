package lab

import (
	"errors"
	"fmt"
	"time"
)

// Options describe the machine. The zero value is a machine with two processors and no drive.
type Options struct {
	Drives []Drive

	// Files to put into the guest: guest path to host path. Permission bits are kept. Programs must be static, like
	// those of Build.
	Files map[string]string

	// Programs are programs of the host to put into the guest, by name, with the shared libraries that ldd lists.
	// Busybox, fio and nvme are always there.
	Programs []string

	// Modules are the kernel modules to load at boot, with their dependencies, such as "xfs", "dm-delay" or "null_blk".
	Modules []string

	MemoryMiB int // 0 means 1024
	CPUs      int // 0 means 2
	NUMANodes int // 0 means 1; processors and memory are split evenly over the nodes

	// ForwardPorts are TCP ports of the guest that this host can reach: see Machine.Addr.
	ForwardPorts []int

	// ReachPorts are TCP ports of this host's 127.0.0.1 that the guest can reach at HostAddress, through socat. It can
	// reach nothing else on the network.
	ReachPorts []int

	// KernelArgs are added to the kernel's command line, such as "nvme_core.multipath=N".
	KernelArgs []string

	// BootTimeout bounds the time from QEMU's start until the guest serves commands; 0 means 2 minutes.
	BootTimeout time.Duration
}

// Drive is an emulated NVMe drive behind a PCIe root port of its own.
type Drive struct {
	// ID identifies the drive in methods of Machine; if empty, it is "nv0", "nv1", … by position. The second controller
	// of a drive is called ID + ".1", and so on.
	ID string

	Serial    string // if empty, "LAB0", "LAB1", … by position; several drives may have the same
	SizeBytes int64  // 0 means 64 MiB

	// WrittenRatio is the share of the drive, 0 to 1, that holds data: every stretch of 1 MiB is either a hole, which
	// reads as zeros, or full of random bytes, the same in each boot. Written stretches are spread evenly.
	WrittenRatio float64

	// Faults are media errors from the start; Machine.SetFaults changes them.
	Faults []Fault

	NUMANode int // node of the drive's PCIe bus; unknown to the guest if the machine has only one

	// Controllers is the number of controllers; 0 means 1. Several make a multi-ported drive: one NVMe subsystem, whose
	// namespace is reachable through each of its controllers.
	Controllers int

	LogicalBlockBytes int    // 0 means 512
	EUI64             uint64 // identifier of the namespace, which gives it a wwid of its own; 0 means none

	// Properties are further properties of QEMU's nvme device, such as "mdts" or "max_ioqpairs".
	Properties map[string]any

	// Throttles makes the drive report that it can throttle itself when hot, and that it never did. The drive reports so
	// until it is unplugged. Shell ignores it.
	Throttles bool

	// Unplugged leaves the drive out at boot; Machine.Plug plugs it in.
	Unplugged bool
}

// Fault is a sector that cannot be read or written.
type Fault struct {
	Sector int64 // of 512 bytes, whatever the drive's logical block is
	Write  bool  // fails writes; otherwise reads
}

const (
	defaultMemoryMiB   = 1024
	defaultCPUs        = 2
	defaultBootTimeout = 2 * time.Minute
	defaultDriveBytes  = 64 << 20
)

// withDefaults returns the options with all defaults filled in, or an error if they are not valid.
func (o Options) withDefaults() (Options, error) {
	setDefault(&o.MemoryMiB, defaultMemoryMiB)
	setDefault(&o.CPUs, defaultCPUs)
	setDefault(&o.NUMANodes, 1)
	setDefault(&o.BootTimeout, defaultBootTimeout)
	var problems []error
	if o.NUMANodes > o.CPUs {
		problems = append(problems, fmt.Errorf("%d NUMA nodes need as many processors, not %d", o.NUMANodes, o.CPUs))
	}
	if o.NUMANodes > maxNodes {
		problems = append(problems, fmt.Errorf("%d NUMA nodes are more than %d", o.NUMANodes, maxNodes))
	}
	ids := map[string]bool{}
	ports := 0
	drives := make([]Drive, len(o.Drives))
	for i, d := range o.Drives {
		setDefault(&d.ID, fmt.Sprintf("nv%d", i))
		setDefault(&d.Serial, fmt.Sprintf("LAB%d", i))
		setDefault(&d.SizeBytes, defaultDriveBytes)
		setDefault(&d.Controllers, 1)
		setDefault(&d.LogicalBlockBytes, 512)
		if d.NUMANode < 0 || d.NUMANode >= o.NUMANodes {
			problems = append(problems, fmt.Errorf("drive %s: no NUMA node %d", d.ID, d.NUMANode))
		}
		if d.WrittenRatio < 0 || d.WrittenRatio > 1 {
			problems = append(problems, fmt.Errorf("drive %s: written ratio %v is not in 0 to 1", d.ID, d.WrittenRatio))
		}
		if ids[d.ID] {
			problems = append(problems, fmt.Errorf("two drives are called %s", d.ID))
		}
		ids[d.ID] = true
		ports += d.Controllers
		drives[i] = d
	}
	if ports > maxPorts {
		problems = append(problems, fmt.Errorf("%d controllers are more than %d", ports, maxPorts))
	}
	o.Drives = drives
	for _, d := range drives {
		if d.Throttles && (d.Unplugged || d.Controllers > 1 || o.drivesWith(d.Serial) > 1) {
			problems = append(problems, fmt.Errorf(
				"drive %s: only one controller that is there at boot, with a serial of its own, can say that it throttles", d.ID))
		}
		if d.Unplugged && (d.Controllers > 1 || d.EUI64 != 0 || o.drivesWith(d.Serial) > 1) {
			// QEMU cannot plug in a namespace that is an object of its own: see drive.shared.
			problems = append(problems, fmt.Errorf(
				"drive %s: with several controllers, an EUI64 or another's serial it has to be there at boot", d.ID))
		}
	}
	return o, errors.Join(problems...)
}

func (o Options) drivesWith(serial string) int {
	n := 0
	for _, d := range o.Drives {
		if d.Serial == serial {
			n++
		}
	}
	return n
}

func setDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}
