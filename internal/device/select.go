package device

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Pick is a device and whether it is to be watched.
type Pick struct {
	Device record.Device
	// Reason says why the device is not watched; empty when it is.
	Reason string
}

// Choose scans the machine and selects from its devices. Its error is that of Scan,
// except that an identity is not ambiguous if the rules leave only one device that
// claims it. The slice is nil only if the machine could not be scanned.
func Choose(fs sysfs.FS, include, exclude []Rule) ([]Pick, error) {
	return NewScanner(fs).Choose(include, exclude)
}

// Choose is like the function Choose, for a machine that is scanned again and again.
func (s *Scanner) Choose(include, exclude []Rule) ([]Pick, error) {
	all, err := s.scan()
	if err != nil {
		return nil, err
	}
	var devices []record.Device
	var errs []error
	wanted := map[string][]record.Device{} // by the rules alone
	for _, f := range all {
		errs = append(errs, f.err)
		if f.unknown {
			continue
		}
		devices = append(devices, f.Device)
		if unwanted(f.Device, include, exclude) == "" {
			wanted[f.ID] = append(wanted[f.ID], f.Device)
		}
	}
	claimed, told := claims(all), map[string]bool{}
	picks := make([]Pick, 0, len(devices))
	for _, p := range Select(devices, include, exclude) {
		id := p.Device.ID
		if p.Reason == "" && len(claimed[id]) > 1 {
			if of := multipath(all, claimed[id]); of != "" {
				p.Reason = fmt.Sprintf("a path of %s, which is watched when an include rule names it", of)
			} else if len(wanted[id]) > 1 {
				if !told[id] {
					errs = append(errs, &AmbiguousIDError{ID: id, Devices: wanted[id]})
				}
				told[id] = true
				continue
			}
		}
		picks = append(picks, p)
	}
	return picks, errors.Join(errs...)
}

// Select says of each device whether it is to be watched. A device must match one
// of the include rules, if there are any, and none of the exclude rules.
//
// Without include rules, every whole disk is watched, except loop, RAM, optical, floppy
// and network devices, hard disks, and devices made of others. Rules with only a size or
// transport choose among those. A device that is left out by default is watched if a
// rule gives its name, id, model or by-id name. A device is never watched together with
// its members: including an array or a volume excludes them.
func Select(devices []record.Device, include, exclude []Rule) []Pick {
	picks := make([]Pick, len(devices))
	for i, d := range devices {
		picks[i] = Pick{Device: d, Reason: unwanted(d, include, exclude)}
	}
	under := stacks(picks)
	for i := range picks {
		if stack, ok := under[picks[i].Device.Name]; ok && picks[i].Reason == "" {
			picks[i].Reason = fmt.Sprintf("part of %s, which is watched", stack)
		}
	}
	return picks
}

// NoSize says why a device has no size; empty when it has one.
func NoSize(d record.Device) string {
	switch {
	case d.SizeBytes > 0:
		return ""
	case d.Kind == record.KindDisk && !d.Removable: // NVMe and SCSI drives with such a format have a capacity of 0
		return "it has no size: it is not ready, or has blocks that the kernel cannot use, such as 520 bytes or metadata; the kernel log says which"
	}
	return "it has no size: there is no medium in it"
}

func unwanted(d record.Device, include, exclude []Rule) string {
	if i := slices.IndexFunc(exclude, func(r Rule) bool { return r.Match(d) }); i >= 0 {
		return "excluded by the rule: " + exclude[i].String()
	}
	if why := NoSize(d); why != "" {
		return why
	}
	matched, named := len(include) == 0, false
	for _, r := range include {
		if r.Match(d) {
			matched, named = true, named || r.names()
		}
	}
	if !matched {
		return "no include rule matches it"
	}
	if reason := special(d); reason != "" && !named {
		return reason + "; watched only when an include rule names it"
	}
	return ""
}

// special says why a device is not an ordinary disk; empty if it is one.
func special(d record.Device) string {
	switch d.Kind {
	case record.KindLoop:
		return "a loop device: what is measured is the file below"
	case record.KindRAM, record.KindZRAM:
		return "it is memory"
	case record.KindOptical:
		return "an optical drive"
	case record.KindNetwork:
		return "a network device"
	case record.KindMD, record.KindDM:
		return "made of " + membersText(d)
	default:
	}
	switch {
	case len(d.Members) > 0:
		return "made of " + membersText(d)
	case numbered(d.Name, "fd"):
		return "a floppy drive"
	case numbered(d.Name, "zd"):
		return "a ZFS volume, made of other devices"
	case numbered(d.Name, "mtdblock"):
		return "raw flash memory"
	case hardDisk(d):
		return "a hard disk: probes would keep it from spinning down, and wear it"
	}
	return ""
}

// hardDisk reports whether a disk spins. The rotational flag alone is not enough: the
// kernel sets it for everything that does not say otherwise. That includes the virtio
// disks of clouds, SATA and SAS disks that a hypervisor emulates, and volumes of RAID
// controllers. A virtual machine often has nothing else to watch. A real drive has a
// 64-bit name that its maker has registered (NAA 5, SPC-5 section 7.7.6.6.5); the others
// have none, or one of 128 bits (NAA 6). Older kernels prefer another name for SATA
// drives; then the name from udev decides. Drives that a RAID controller passes through
// unchanged have only "scsi" for a transport, because its driver reports no other.
func hardDisk(d record.Device) bool {
	registered := strings.HasPrefix(d.WWID, "naa.5") ||
		slices.ContainsFunc(d.ByID, func(name string) bool { return strings.HasPrefix(name, "wwn-0x5") })
	return d.Rotational && registered && slices.Contains([]string{"sata", "sas", "scsi"}, d.Transport)
}

// Spins reports whether a device is a hard disk, or is made of others and rotational:
// the kernel sets that flag if one of the members is.
func Spins(d record.Device) bool { return hardDisk(d) || d.Rotational && len(d.Members) > 0 }

func membersText(d record.Device) string {
	if len(d.Members) == 0 {
		return "other devices"
	}
	return strings.Join(d.Members, ", ")
}

// stacks returns, for each device that a watched device is directly or indirectly made
// of, the name of the topmost watched device.
func stacks(picks []Pick) map[string]string {
	disks := map[string]record.Device{} // by their names and those of their partitions
	for _, p := range picks {
		disks[p.Device.Name] = p.Device
		for _, partition := range p.Device.Children {
			disks[partition] = p.Device
		}
	}
	parts := map[string]map[string]bool{} // by the names of watched devices
	inner := map[string]bool{}
	for _, p := range picks {
		if p.Reason == "" {
			parts[p.Device.Name] = partsOf(p.Device, disks)
			maps.Copy(inner, parts[p.Device.Name])
		}
	}
	under := map[string]string{}
	for _, stack := range slices.Sorted(maps.Keys(parts)) {
		if inner[stack] {
			continue
		}
		for part := range parts[stack] {
			under[part] = stack
		}
	}
	return under
}

// partsOf returns the names of the disks that a device is made of, directly or indirectly.
func partsOf(d record.Device, disks map[string]record.Device) map[string]bool {
	parts := map[string]bool{}
	for pending := slices.Clone(d.Members); len(pending) > 0; pending = pending[1:] {
		if disk, known := disks[pending[0]]; known && !parts[disk.Name] {
			parts[disk.Name] = true
			pending = append(pending, disk.Members...)
		}
	}
	return parts
}
