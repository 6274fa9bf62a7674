package device

import (
	"encoding/binary"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// readSCSI reads the attributes of a disk behind the SCSI layer: SAS, and also SATA and
// USB, which the kernel presents through it.
func readSCSI(a *attributes, d *record.Device) {
	d.Model = a.words("device/model")
	if vendor := a.words("device/vendor"); vendor != "ATA" { // libata reports this vendor for every drive
		d.Model = strings.TrimSpace(vendor + " " + d.Model)
	}
	d.Firmware = a.words("device/rev")
	d.WWID = wwid(a.words("device/wwid"))
	d.Serial = serial(unitSerial(a.bytes("device/vpd_pg80")))
	d.Transport = scsiTransport(a.dir)
}

// scsiTransport determines the transport from the objects that each transport puts
// between the bus and the disk in /sys/devices.
func scsiTransport(dir string) string {
	for part := range strings.SplitSeq(dir, "/") {
		switch {
		case numbered(part, "ata"):
			return "sata"
		case strings.HasPrefix(part, "end_device-"):
			return "sas"
		case numbered(part, "usb"):
			return "usb"
		case strings.HasPrefix(part, "rport-"):
			return "fc"
		case numbered(part, "session"): // iSCSI
			return "tcp"
		case numbered(part, "virtio"):
			return "virtio"
		}
	}
	return "scsi"
}

// unitSerial decodes the Unit Serial Number page of SCSI's vital product data (SPC-5,
// section 7.7.18): the page code 80h in byte 1, the length in bytes 2 and 3, the serial
// from byte 4 on. It returns "" if page is not such a page.
func unitSerial(page []byte) string {
	const header = 4
	if len(page) < header || page[1] != 0x80 {
		return ""
	}
	length := int(binary.BigEndian.Uint16(page[2:]))
	text := page[header:min(header+length, len(page))]
	return words(strings.ReplaceAll(string(text), "\x00", " "))
}

// readMMC reads the attributes of an SD card or an eMMC.
func readMMC(a *attributes, d *record.Device) {
	d.Transport = "mmc"
	d.Model = a.words("device/name")
	d.Serial = serial(a.words("device/serial"))
	d.Firmware = a.words("device/fwrev")
}
