package device

import (
	"path"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// readPCI reads how a device is attached from the PCI functions above it in
// /sys/devices (Documentation/ABI/testing/sysfs-bus-pci). The link of a USB host
// controller or of a card reader is left out: it says nothing about the drive.
func readPCI(a *attributes, attached string, d *record.Device) {
	function, above := pciFunctions(attached)
	if function == "" {
		return
	}
	d.PCIAddress = path.Base(function)
	pci := &attributes{fs: a.fs, dir: function}
	if node, ok := pci.number("numa_node"); ok {
		d.NUMANode = int(max(-1, node))
	}
	if link, ok := readLink(pci); ok && d.Transport != "usb" && d.Transport != "mmc" {
		if above != "" {
			port := &attributes{fs: a.fs, dir: above}
			link = limit(link, port)
			pci.errs = append(pci.errs, port.errs...)
		}
		d.Link = &link
	}
	a.errs = append(a.errs, pci.errs...)
}

// pciFunctions returns the directories of the PCI function that a device is on and
// of the port above it, empty where there is none.
func pciFunctions(dir string) (function, above string) {
	for at := dir; at != "/" && at != "."; at = path.Dir(at) {
		if isPCIAddress(path.Base(at)) {
			if parent := path.Dir(at); isPCIAddress(path.Base(parent)) {
				return at, parent
			}
			return at, ""
		}
	}
	return "", ""
}

// isPCIAddress reports whether a name is "domain:bus:device.function" in hexadecimal.
func isPCIAddress(name string) bool {
	rest, function, ok := strings.Cut(name, ".")
	parts := strings.Split(rest, ":")
	if !ok || len(parts) != 3 || len(parts[0]) < 4 || len(parts[1]) != 2 || len(parts[2]) != 2 || len(function) != 1 {
		return false
	}
	for _, digits := range append(parts, function) {
		if strings.Trim(digits, "0123456789abcdef") != "" {
			return false
		}
	}
	return true
}

// readLink reads the current speed and width of a function's link, and the maximum of
// the function itself. It returns false if the current ones are unknown.
func readLink(pci *attributes) (record.PCIeLink, bool) {
	gts, ok := parseGTs(pci.text("current_link_speed"))
	lanes, okLanes := parseLanes(pci.text("current_link_width"))
	link := record.PCIeLink{CurrentGTs: gts, MaxGTs: gts, CurrentLanes: lanes, MaxLanes: lanes}
	if most, ok := parseGTs(pci.text("max_link_speed")); ok {
		link.MaxGTs = max(gts, most)
	}
	if most, ok := parseLanes(pci.text("max_link_width")); ok {
		link.MaxLanes = max(lanes, most)
	}
	return link, ok && okLanes
}

// limit lowers the maximum of a link to that of the port at its other end.
func limit(link record.PCIeLink, port *attributes) record.PCIeLink {
	if gts, ok := parseGTs(port.text("max_link_speed")); ok {
		link.MaxGTs = max(link.CurrentGTs, min(link.MaxGTs, gts))
	}
	if lanes, ok := parseLanes(port.text("max_link_width")); ok {
		link.MaxLanes = max(link.CurrentLanes, min(link.MaxLanes, lanes))
	}
	return link
}

// parseGTs parses "8.0 GT/s PCIe", or "8 GT/s" from kernels before 5.7. It returns
// false for "Unknown", which stands for a link that is down.
func parseGTs(text string) (float64, bool) {
	number, unit, _ := strings.Cut(text, " ")
	gts, err := strconv.ParseFloat(number, 64)
	known := err == nil && (unit == "GT/s" || unit == "GT/s PCIe") && gts > 0 && gts < 1024
	if !known {
		return 0, false
	}
	return gts, true
}

// parseLanes parses the width of a link. It returns false for 0, which stands for a
// link that is down, and for widths above the 32 of the specification: the kernel
// prints 255 for an unknown width.
func parseLanes(text string) (int, bool) {
	lanes, err := strconv.Atoi(text)
	if err != nil || lanes < 1 || lanes > 32 {
		return 0, false
	}
	return lanes, true
}
