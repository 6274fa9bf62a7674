package record

// Transports lists what Device.Transport may be, besides empty.
func Transports() []string {
	return []string{"pcie", "tcp", "rdma", "fc", "loop", "sata", "sas", "usb", "scsi", "virtio", "xen", "mmc"}
}
