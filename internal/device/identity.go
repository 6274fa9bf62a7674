package device

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

const (
	pathPrefix = "path:" // where the device is plugged in
	namePrefix = "name:" // what the kernel calls it today
)

// ErrAmbiguousID says that several devices claim the same identity. Results of one
// would be taken for those of another, so at most one of them is used.
var ErrAmbiguousID = errors.New("ambiguous identity")

// AmbiguousIDError names an identity and all devices that claim it.
type AmbiguousIDError struct {
	ID      string
	Devices []record.Device
}

// Error names the candidates, how they differ, and what would distinguish them permanently.
func (e *AmbiguousIDError) Error() string {
	candidates := make([]string, len(e.Devices))
	for i, d := range e.Devices {
		facts := []string{units.DriveSize(d.SizeBytes)}
		if d.PCIAddress != "" {
			facts = append(facts, "at "+d.PCIAddress)
		}
		if d.Serial != "" {
			facts = append(facts, "serial "+d.Serial)
		}
		candidates[i] = fmt.Sprintf("%s (%s)", d.Name, strings.Join(facts, ", "))
	}
	remedy := "a wwid (NVMe: NGUID, EUI-64 or UUID) or a serial number of its own would tell each from the others"
	switch {
	case e.ID != e.Devices[0].WWID || strings.HasPrefix(e.ID, "nvme."): // such a wwid is derived from the serial number
	case e.ownSerials():
		remedy = "their serial numbers differ, so their maker gave several drives one identifier: exclude all but one to watch that"
	default:
		remedy = "paths to one drive belong into a multipath device (nvme_core.multipath=Y, or dm-multipath and an include rule for it); " +
			"a copy needs an identifier of its own"
	}
	return fmt.Sprintf("%v %s: claimed by %s; %s", ErrAmbiguousID, e.ID, strings.Join(candidates, " and by "), remedy)
}

// ownSerials reports whether each device has a serial number that no other one has.
func (e *AmbiguousIDError) ownSerials() bool {
	serials := map[string]bool{"": true}
	for _, d := range e.Devices {
		serials[d.Serial] = true
	}
	return len(serials) == len(e.Devices)+1
}

// Unwrap returns ErrAmbiguousID.
func (e *AmbiguousIDError) Unwrap() error { return ErrAmbiguousID }

// claims returns the devices that claim each identity.
func claims(all []found) map[string][]record.Device {
	claims := map[string][]record.Device{}
	for _, f := range all {
		if !f.unknown {
			claims[f.ID] = append(claims[f.ID], f.Device)
		}
	}
	return claims
}

// multipath returns the name of the dm-multipath device whose paths are all the claimants
// of an identity, or "" if there is none. Another common holder, such as an array, proves
// nothing, because its members may be copies. Devices of multipathd are recognised by the
// prefix of their UUID (UUID_PREFIX in libmultipath of multipath-tools).
func multipath(all []found, claimants []record.Device) string {
	i := slices.IndexFunc(all, func(f found) bool {
		return f.Kind == record.KindDM && f.Model == "mpath" && !slices.ContainsFunc(claimants, func(d record.Device) bool {
			return !slices.Contains(d.Holders, f.Name)
		})
	})
	if i < 0 {
		return ""
	}
	return all[i].Name
}

// identity returns the identity of a device, the first of these that it has: the wwid;
// model and serial number; a name in /dev/disk/by-id; the place where it is plugged in;
// the kernel's name. The last two do not identify the drive itself.
func identity(d record.Device, sysfsName string) string {
	_, namespace, isNVMe := strings.Cut(strings.TrimPrefix(sysfsName, "nvme"), "n")
	isNVMe = isNVMe && len(d.Controllers) > 0
	switch {
	case d.WWID != "":
		return d.WWID
	case d.Serial != "":
		maker := d.Model
		if maker == "" {
			maker = d.Transport
		}
		id := safe(maker + " " + d.Serial)
		if isNVMe { // the serial number is the drive's, which may have several namespaces
			id += "_ns" + namespace
		}
		return id
	case bestByID(d.ByID) != "":
		return bestByID(d.ByID)
	case isNVMe && d.PCIAddress != "":
		return pathPrefix + "pci-" + d.PCIAddress + "-ns" + namespace
	case d.Transport == "virtio" && d.PCIAddress != "" && strings.HasPrefix(d.Name, "vd"):
		return pathPrefix + "pci-" + d.PCIAddress
	default: // one PCI function may have many disks behind it
		return namePrefix + d.Name
	}
}

// bestByID returns the name that identifies the drive itself best, or "" if none does:
// names of volumes and of stored data move to other drives.
func bestByID(names []string) string {
	for _, prefix := range []string{"wwn-", "nvme-", "scsi-", "ata-", "usb-", "virtio-", "mmc-", "google-", "xen-"} {
		for _, name := range names {
			if strings.HasPrefix(name, prefix) {
				return name
			}
		}
	}
	return ""
}

// stable reports whether an identity belongs to the drive itself, not to its place or its name.
func stable(id string) bool {
	return !strings.HasPrefix(id, pathPrefix) && !strings.HasPrefix(id, namePrefix)
}

// wwid normalises a world-wide identifier. It removes the padding, and returns "" if
// the drive's maker left it blank.
func wwid(text string) string {
	text = safe(strings.Trim(text, " \t\r\n\x00"))
	if strings.HasPrefix(text, "nvme.") {
		text = trimHex(text)
	}
	if _, digits, ok := strings.Cut(text, "."); ok && strings.Trim(digits, "0-_") == "" {
		return ""
	}
	return text
}

// trimHex removes blanks and zero bytes from the end of serial and model in
// "nvme.vid-serial-model-nsid", where both are in hexadecimal. The kernel gives this
// form to a namespace without identifiers; older kernels left the padding in.
func trimHex(text string) string {
	parts := strings.Split(text, "-")
	if len(parts) != 4 {
		return text
	}
	for i, part := range parts[1:3] {
		for len(part)%2 == 0 && (strings.HasSuffix(part, "20") || strings.HasSuffix(part, "00")) {
			part = part[:len(part)-2]
		}
		parts[i+1] = part
	}
	return strings.Join(parts, "-")
}

// serial returns a serial number, or "" if it is a placeholder for none.
func serial(text string) string {
	if strings.Trim(strings.TrimPrefix(text, "0x"), "0 .-") == "" {
		return ""
	}
	return text
}

// safe turns text from printable.Name into an identity: a single word that can be
// copied. It replaces runs of white space by one underscore, as udev does, and each
// character with a meaning in a shell or a path, too. Stored baselines are found by the
// identity, so the rule must not change.
//
// A drive may use invisible or non-ASCII characters to pass for another one. An identity
// with such characters is percent-encoded as in a URL, so that it differs from all others.
func safe(text string) string {
	text = strings.Join(strings.Fields(text), "_")
	if plain.MatchString(text) && !urlEscape.MatchString(text) {
		return strings.NewReplacer(`\\`, "_", "/", "_", `"`, "_", "'", "_", "`", "_", "$", "_").Replace(text)
	}
	var b strings.Builder
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' || strings.IndexByte("%/\\\"'`$", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

var (
	// plain matches visible ASCII except \x5c, which has to be double: printable.Name
	// doubles a backslash of the drive's own.
	plain     = regexp.MustCompile(`^([\x21-\x5b\x5d-\x7e]|\\\\)*$`)
	urlEscape = regexp.MustCompile(`%[0-9A-F]{2}`)
)
