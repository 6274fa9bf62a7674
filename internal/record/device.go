package record

import "regexp"

// Device is a block device as the kernel describes it now.
type Device struct {
	// ID is the stable identity of the device. It survives re-enumeration; see package device for how it is chosen.
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

	// NUMANode is the node that the device is attached to; -1 when the machine does not report it.
	NUMANode int `json:"numa_node"`
	// PCIAddress is the address of the controller, such as "0000:01:00.0"; empty when it is not on PCIe.
	PCIAddress string    `json:"pci_address,omitempty"`
	Link       *PCIeLink `json:"link,omitempty"`
	// Controllers are the NVMe controllers that reach the namespace, by name.
	Controllers []string `json:"controllers,omitempty"`

	ByID    []string `json:"by_id,omitempty"`   // names in /dev/disk/by-id
	Holders []string `json:"holders,omitempty"` // devices built on this one
	Members []string `json:"members,omitempty"` // devices that this one is built on
	// Children are the names of its partitions.
	Children []string `json:"children,omitempty"`
}

// Transports lists all values of Device.Transport except the empty one.
func Transports() []string {
	return []string{"pcie", "tcp", "rdma", "fc", "loop", "sata", "sas", "usb", "scsi", "virtio", "xen", "mmc"}
}

// Empty reports whether the device has no medium, such as a loop device without a file or an optical drive without a
// disc. It is normal that such a device cannot be watched. A disk without a size is not normal, so it does not count
// as empty.
func (d Device) Empty() bool { return d.SizeBytes == 0 && d.Kind != KindDisk }

// Physical identifies the drive that the device is on. Namespaces of one NVMe drive have ids of their own; these are of one
// drive if they are at one PCI address. Behind a network, and of volumes, each may be on another drive.
func (d Device) Physical() string {
	if d.Transport != "pcie" || d.Serial == "" || d.PCIAddress == "" || d.IsVolume() {
		return d.ID
	}
	return d.Model + " " + d.Serial + " at " + d.PCIAddress
}

// VolumeTransports and VolumeModels match the whole transport or model of volumes.
const (
	VolumeTransports = "tcp|rdma|fc|loop|virtio|xen"
	VolumeModels     = "(Amazon EC2|Amazon Elastic Block|Alibaba Cloud Elastic Block|nvme_card-pd|(Google )?PersistentDisk|(Msft )?Virtual [Dd]isk|VMware Virtual|MSFT NVMe).*"
)

// IsVolume reports whether the device is virtual or behind a network, by its transport and model. Such volumes share a model
// without being alike.
func (d Device) IsVolume() bool {
	return regexp.MustCompile("^(?:"+VolumeTransports+")$").MatchString(d.Transport) || regexp.MustCompile("^(?:"+VolumeModels+")$").MatchString(d.Model)
}

// Kind is the type of a block device.
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

// PCIeLink holds the rate that the link trained to, and the highest rate that both ends support.
type PCIeLink struct {
	CurrentGTs   float64 `json:"current_gts"` // gigatransfers per second and lane
	MaxGTs       float64 `json:"max_gts"`
	CurrentLanes int     `json:"current_lanes"`
	MaxLanes     int     `json:"max_lanes"`
}

// Current returns the rate that the link trained to.
func (l PCIeLink) Current() LinkRate { return LinkRate{l.CurrentGTs, l.CurrentLanes} }

// String returns text such as "8 GT/s x4".
func (l PCIeLink) String() string { return l.Current().String() }

// Max returns the highest rate that both ends support.
func (l PCIeLink) Max() LinkRate { return LinkRate{l.MaxGTs, l.MaxLanes} }

// BelowMaximum reports whether the link trained slower or narrower than it could.
func (l PCIeLink) BelowMaximum() bool {
	return l.CurrentGTs < l.MaxGTs || l.CurrentLanes < l.MaxLanes
}

// BytesPerSecond returns the bandwidth of the link in one direction, after line encoding and before protocol
// overhead. The encoding is 8b/10b up to 5 GT/s and 128b/130b up to 32 GT/s. At 64 GT/s, a flit of 256 bytes carries
// 242 (PCI Express Base Specification 6.0, section 4.2).
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
