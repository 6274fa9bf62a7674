package lab

import (
	"fmt"
	"maps"

	"golang.org/x/sys/unix"
)

const (
	firstSlot    = 8  // of the root ports on their bus; lower ones go to QEMU's own devices
	maxPorts     = 16 // slots end at 30
	busesPerNode = 32 // PCI bus numbers of each NUMA node
	maxNodes     = 7  // of 256 buses
)

// hostBridge returns the root bus of a NUMA node, if there are several.
func hostBridge(node int) string { return fmt.Sprintf("node%d", node) }

// firstBus returns the number of that bus.
func firstBus(node int) int { return busesPerNode * (node + 1) }

// drive is one of a machine's drives in QEMU. Its data goes through a chain of block nodes: a permanent throttle filter
// on top; below it blkdebug if there are faults; the image's file at the bottom. So the limits and the faults belong to
// the drive and not to its controllers, and remain when these are unplugged.
type drive struct {
	Drive
	image   int  // the image's descriptor in QEMU
	first   int  // number of the drive's first controller among those of all drives
	cloned  bool // another drive has the same serial number
	bridged bool // is on the host bridge of its NUMA node; else on the only one

	// State that was changed from outside.
	plugged         bool
	iops            int
	hung            bool
	criticalWarning uint8
	faultsVersion   int // how often faults were changed: nodes of two versions exist at the same time
}

func (d *drive) limitsNode() string { return d.ID + "-limits" }
func (d *drive) imageNode() string  { return d.ID + "-image" }
func (d *drive) faultsNode() string { return fmt.Sprintf("%s-faults%d", d.ID, d.faultsVersion) }
func (d *drive) subsystem() string  { return d.ID + "-subsystem" }

// controllerID returns QEMU's name of a controller of the drive: the drive's ID, with ".1" and so on for further ones.
func (d *drive) controllerID(i int) string {
	if i == 0 {
		return d.ID
	}
	return fmt.Sprintf("%s.%d", d.ID, i)
}

// blockNodes returns the nodes of the chain, lower ones first.
func (d *drive) blockNodes() []object {
	nodes := []object{{
		"driver": "file", "node-name": d.imageNode(), "filename": fmt.Sprintf("/proc/self/fd/%d", d.image),
		"locking": "off", "discard": "unmap",
	}}
	if len(d.Faults) > 0 {
		nodes = append(nodes, d.faultsDefinition())
	}
	return append(nodes, d.limitsDefinition())
}

func (d *drive) limitsDefinition() object {
	below := d.imageNode()
	if len(d.Faults) > 0 {
		below = d.faultsNode()
	}
	return object{"driver": "throttle", "node-name": d.limitsNode(), "throttle-group": d.limitsNode(), "file": below}
}

func (d *drive) faultsDefinition() object {
	var rules []object
	for _, fault := range d.Faults {
		kind := "read"
		if fault.Write {
			kind = "write"
		}
		// The event "none" happens when the node is created, so the rule applies from then on.
		rules = append(rules, object{
			"event": "none", "iotype": kind, "sector": fault.Sector, "once": false, "errno": int(unix.EIO),
		})
	}
	return object{"driver": "blkdebug", "node-name": d.faultsNode(), "image": d.imageNode(), "inject-error": rules}
}

// shared reports whether the namespace is an object of its own in a subsystem. A single namespace is part of its
// controller, because only a controller can be plugged in. But then it has no identifiers, and the subsystem's name is
// the serial number, which Linux does not accept twice.
func (d *drive) shared() bool { return d.Controllers > 1 || d.EUI64 != 0 || d.cloned }

// fixtures returns the devices that must exist before the controllers, and remain when these are unplugged.
func (d *drive) fixtures() []object {
	var devices []object
	if d.shared() {
		devices = append(devices, object{"driver": "nvme-subsys", "id": d.subsystem()})
	}
	bus := "pcie.0"
	if d.bridged {
		bus = hostBridge(d.NUMANode)
	}
	for i := range d.Controllers {
		number := d.first + i
		devices = append(devices, object{
			"driver": "pcie-root-port", "id": d.port(i), "bus": bus,
			"addr": (firstSlot + number) << 3, "chassis": 1, "slot": d.slot(i),
		})
	}
	return devices
}

// slot returns the number of the slot, from 1.
func (d *drive) slot(i int) int { return d.first + i + 1 }

func (d *drive) port(i int) string { return d.controllerID(i) + "-port" }

// portAddresses returns the PCI addresses of the drive's root ports in the guest.
func (d *drive) portAddresses() []string {
	bus := 0
	if d.bridged {
		bus = firstBus(d.NUMANode)
	}
	var addresses []string
	for i := range d.Controllers {
		addresses = append(addresses, fmt.Sprintf("0000:%02x:%02x.0", bus, firstSlot+d.first+i))
	}
	return addresses
}

// controllers returns the devices to plug in.
func (d *drive) controllers() []object {
	var devices []object
	for i := range d.Controllers {
		device := object{"driver": "nvme", "id": d.controllerID(i), "bus": d.port(i), "serial": d.Serial}
		if d.shared() {
			device["subsys"] = d.subsystem()
		} else {
			device["drive"] = d.limitsNode()
			device["logical_block_size"] = d.LogicalBlockBytes
			device["physical_block_size"] = d.LogicalBlockBytes
		}
		maps.Copy(device, d.Properties)
		devices = append(devices, device)
	}
	return devices
}

// namespaces returns the devices that come last, only at boot.
func (d *drive) namespaces() []object {
	if !d.shared() {
		return nil
	}
	namespace := object{
		"driver": "nvme-ns", "id": d.ID + "-namespace", "bus": d.ID, "drive": d.limitsNode(), "nsid": 1, "shared": true,
		"logical_block_size": d.LogicalBlockBytes, "physical_block_size": d.LogicalBlockBytes,
	}
	if d.EUI64 != 0 {
		namespace["eui64"] = d.EUI64
	}
	return []object{namespace}
}
