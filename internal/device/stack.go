package device

import (
	"path"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// readStack reads the partitions, the devices that the device is made of, and the devices
// made of it or of its partitions. Members have the kernel's names, and may be partitions.
func readStack(a *attributes, name string, d *record.Device) {
	holders := a.list("holders")
	for _, entry := range a.list(".") {
		if strings.HasPrefix(entry, name) && a.text(path.Join(entry, "partition")) != "" {
			d.Children = append(d.Children, sysfs.DeviceName(entry))
			holders = append(holders, a.list(path.Join(entry, "holders"))...)
		}
	}
	slices.Sort(holders)
	for _, holder := range slices.Compact(holders) {
		d.Holders = append(d.Holders, sysfs.DeviceName(holder))
	}
	for _, member := range a.list("slaves") {
		d.Members = append(d.Members, sysfs.DeviceName(member))
	}
}

// readVirtual reads what md and device-mapper devices report. The level of an md device,
// and the creator of a dm device, serve as the model; the UUID serves as the wwid.
func readVirtual(a *attributes, d *record.Device) {
	switch d.Kind {
	case record.KindMD:
		d.Model = a.words("md/level")
		d.WWID = mdUUID(a.text("md/uuid"), d.ByID)
	case record.KindDM:
		uuid := a.words("dm/uuid")
		maker, _, _ := strings.Cut(uuid, "-")
		d.Model = strings.ToLower(maker)
		if uuid != "" {
			d.WWID = "dm-uuid-" + safe(uuid)
		}
	default:
	}
}

// mdUUID returns one identity for an array, whether its UUID comes from the kernel
// (since Linux 6.7, with dashes) or only from udev (with colons).
func mdUUID(attribute string, byID []string) string {
	const prefix = "md-uuid-"
	if attribute == "" {
		for _, name := range byID {
			if uuid, ok := strings.CutPrefix(name, prefix); ok {
				attribute = uuid
				break
			}
		}
	}
	digits := strings.NewReplacer("-", "", ":", "").Replace(attribute)
	if strings.Trim(digits, "0") == "" {
		return ""
	}
	return prefix + strings.ToLower(digits)
}
