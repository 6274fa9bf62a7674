package lab

import (
	"errors"
	"fmt"
	"time"
)

// Options describe the machine. The zero value is a machine with two processors and no drive.
type Options struct {
	Drives []Drive

	// Files to put into the guest: guest path to host path. Permission bits are kept. Programs must be static, as
	// those of Build are.
	Files map[string]string

	// Programs of the host to put into the guest, by name, with the shared libraries that ldd names. Busybox, fio
	// and nvme are always there.
	Programs []string

	// Modules of the kernel to load at boot, with those they depend on, such as "xfs", "dm-delay" or "null_blk".
	Modules []string

	MemoryMiB int // 1024 when 0
	CPUs      int // 2 when 0
	NUMANodes int // 1 when 0; processors and memory are split evenly over the nodes

	// ForwardPorts are TCP ports of the guest to reach from this host: see Machine.Addr.
	ForwardPorts []int

	// ReachPorts are TCP ports of this host's 127.0.0.1 that the guest reaches at HostAddress, by socat. All else of the
	// network stays out of its reach.
	ReachPorts []int

	// KernelArgs are added to the kernel's command line, such as "nvme_core.multipath=N".
	KernelArgs []string

	// BootTimeout bounds the time from QEMU's start until the guest serves commands; 2 minutes when 0.
	BootTimeout time.Duration
}

// Drive is an emulated NVMe drive behind a PCIe root port of its own.
type Drive struct {
	// ID names the drive in calls of Machine; "nv0", "nv1", … by position when empty. The second controller of a
	// drive with two is called ID + ".1", and so on.
	ID string

	Serial    string // "LAB0", "LAB1", … by position when empty; several drives may have the same
	SizeBytes int64  // 64 MiB when 0

	// WrittenRatio is the share of the drive, 0 to 1, that holds data: every stretch of 1 MiB either is a hole,
	// which reads as zeros, or is full of random bytes, the same in each boot. Written stretches are spread evenly.
	WrittenRatio float64

	// Faults are media errors from the start; Machine.SetFaults changes them.
	Faults []Fault

	NUMANode int // node of the PCIe bus that the drive hangs on; none is known when the machine has only one

	// Controllers of the drive; 1 when 0. Several make a multi-ported drive: one NVMe subsystem, whose namespace is
	// reached by each of its controllers.
	Controllers int

	LogicalBlockBytes int    // 512 when 0
	EUI64             uint64 // identifier of the namespace; not 0 gives it a wwid of its own

	// Properties are further ones of QEMU's nvme device, such as "mdts" or "max_ioqpairs".
	Properties map[string]any

	// Throttles makes the drive say that it throttles itself when it is hot, and how often it did: never. It says so until
	// it is unplugged. Shell leaves it out.
	Throttles bool

	// Unplugged leaves the drive out at boot; Machine.Plug brings it.
	Unplugged bool
}

// Fault is a sector that cannot be read, or written.
type Fault struct {
	Sector int64 // of 512 bytes, whatever the drive's logical block is
	Write  bool  // fails writes; else reads
}

const (
	defaultMemoryMiB   = 1024
	defaultCPUs        = 2
	defaultBootTimeout = 2 * time.Minute
	defaultDriveBytes  = 64 << 20
)

// withDefaults returns the options with nothing left to be defaulted, or why they make no machine.
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
			// QEMU cannot plug a namespace that is an object of its own: see drive.shared.
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
