package record

// Device is a block device as the kernel describes it now.
type Device struct {
	// ID is the stable identity; it survives re-enumeration. See package device
	// for how it is chosen.
	ID string `json:"id"`
	// Name is the kernel's current name, "nvme0n1".
	Name string `json:"name"`
	// Number is the kernel's device number, "259:0".
	Number string `json:"number"`
	Kind   Kind   `json:"kind"`
	// Transport is how commands reach the drive: pcie, tcp, rdma, fc, loop (NVMe);
	// sata, sas, usb, scsi, virtio, xen, mmc; empty when it has none of its own.
	Transport string `json:"transport,omitempty"`
	Model     string `json:"model,omitempty"`
	Serial    string `json:"serial,omitempty"`
	WWID      string `json:"wwid,omitempty"`
	Firmware  string `json:"firmware,omitempty"`

	SizeBytes          int64  `json:"size_bytes"`
	LogicalBlockBytes  int    `json:"logical_block_bytes"`
	PhysicalBlockBytes int    `json:"physical_block_bytes"`
	ReadOnly           bool   `json:"read_only,omitempty"`
	Removable          bool   `json:"removable,omitempty"`
	Rotational         bool   `json:"rotational,omitempty"`
	Zoned              string `json:"zoned,omitempty"` // host-aware or host-managed; empty for ordinary devices

	// NUMANode is where the device is attached, -1 when the machine does not say.
	NUMANode int `json:"numa_node"`
	// PCIAddress is that of the controller, "0000:01:00.0"; empty when not on PCIe.
	PCIAddress string    `json:"pci_address,omitempty"`
	Link       *PCIeLink `json:"link,omitempty"`
	// Controllers are the NVMe controllers that reach the namespace, by name.
	Controllers []string `json:"controllers,omitempty"`

	ByID    []string `json:"by_id,omitempty"`   // names in /dev/disk/by-id
	Holders []string `json:"holders,omitempty"` // devices made of this one
	Members []string `json:"members,omitempty"` // devices this one is made of
	// Children are its partitions by name.
	Children []string `json:"children,omitempty"`
}

// Transports lists what Device.Transport may be, besides empty.
func Transports() []string {
	return []string{"pcie", "tcp", "rdma", "fc", "loop", "sata", "sas", "usb", "scsi", "virtio", "xen", "mmc"}
}

// Empty reports a loop device without a file, a tray without a disc and the like: it
// is no news that there is nothing to watch in it. A disk without a size is news.
func (d Device) Empty() bool { return d.SizeBytes == 0 && d.Kind != KindDisk }

// Kind is what sort of block device something is.
type Kind string

// The kinds of block devices.
const (
	KindDisk    Kind = "disk"
	KindMD      Kind = "md"
	KindDM      Kind = "dm"
	KindLoop    Kind = "loop"
	KindRAM     Kind = "ram"
	KindZRAM    Kind = "zram"
	KindOptical Kind = "optical"
	KindNetwork Kind = "network" // nbd, rbd, drbd: block devices over a network
	KindFile    Kind = "file"    // a probe file on a filesystem: a target, not a device
)

// PCIeLink is what the link trained to and what both ends could do.
type PCIeLink struct {
	CurrentGTs   float64 `json:"current_gts"` // gigatransfers per second and lane
	MaxGTs       float64 `json:"max_gts"`
	CurrentLanes int     `json:"current_lanes"`
	MaxLanes     int     `json:"max_lanes"`
}

// Current is what the link trained to.
func (l PCIeLink) Current() LinkRate { return LinkRate{l.CurrentGTs, l.CurrentLanes} }

// String says "8 GT/s x4".
func (l PCIeLink) String() string { return l.Current().String() }

// Max is what both ends could do.
func (l PCIeLink) Max() LinkRate { return LinkRate{l.MaxGTs, l.MaxLanes} }

// BelowMaximum reports a link that trained slower or narrower than it could.
func (l PCIeLink) BelowMaximum() bool {
	return l.CurrentGTs < l.MaxGTs || l.CurrentLanes < l.MaxLanes
}

// BytesPerSecond is what the link can carry in one direction after line
// encoding and before protocol overhead: 8b/10b up to 5 GT/s, 128b/130b up to
// 32 GT/s, 242 of 256 bytes of a flit at 64 GT/s (PCI Express Base
// Specification 6.0, section 4.2).
func (l PCIeLink) BytesPerSecond() float64 {
	perLane := l.CurrentGTs * 1e9 / 8
	switch {
	case l.CurrentGTs <= 5:
		perLane *= 8.0 / 10
	case l.CurrentGTs <= 32:
		perLane *= 128.0 / 130
	default:
		perLane *= 242.0 / 256
	}
	return perLane * float64(l.CurrentLanes)
}
