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

// ErrAmbiguousID says that several devices claim the same identity. Results
// of one would be taken for those of the other, so no two of them are used.
var ErrAmbiguousID = errors.New("ambiguous identity")

// AmbiguousIDError names an identity and all devices that claim it.
type AmbiguousIDError struct {
	ID      string
	Devices []record.Device
}

// Error names the candidates, what is different between them, and what would tell
// them apart for good.
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
	if e.ID == e.Devices[0].WWID && !strings.HasPrefix(e.ID, "nvme.") { // which is made of the serial number
		remedy = "paths to one drive belong into a multipath device (nvme_core.multipath=Y, or dm-multipath and an include rule for it); " +
			"a copy needs an identifier of its own"
	}
	return fmt.Sprintf("%v %s: claimed by %s; %s", ErrAmbiguousID, e.ID, strings.Join(candidates, " and by "), remedy)
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

// multipath returns the name of the dm-multipath device that all the claimants of an
// identity are paths of, empty when there is none. Another common holder, as an array,
// says nothing: copies may be its members. What multipathd has made is known by the
// start of its UUID (UUID_PREFIX in libmultipath of multipath-tools).
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

// identity chooses what a device is known by, the first of these that it has: the
// wwid; model and serial; a name in /dev/disk/by-id; and, which no longer identify
// the drive itself, the place it is plugged in; the kernel's name.
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
		if isNVMe { // a serial is the drive's, and it may have several namespaces
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

// bestByID returns the name that says most about the drive itself; empty when
// none does: names of volumes and of what is stored there move to other drives.
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

// stable reports whether an identity goes with the drive.
func stable(id string) bool {
	return !strings.HasPrefix(id, pathPrefix) && !strings.HasPrefix(id, namePrefix)
}

// wwid returns a world-wide identifier in one spelling: no padding, and nothing when
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

// trimHex takes blanks and zero bytes off the end of serial and model in the form
// that the kernel gives a namespace without identifiers, "nvme.vid-serial-model-nsid"
// with both in hexadecimal: older kernels left the padding in.
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

// serial returns a serial number, nothing when it is one that stands for none.
func serial(text string) string {
	if strings.Trim(strings.TrimPrefix(text, "0x"), "0 .-") == "" {
		return ""
	}
	return text
}

// safe makes an identity a single word that can be copied, of text as printable.Name has
// it. Runs of white space become one underscore, as udev has it, and so does what means
// something to a shell or in a path. Stored baselines are found by it, so it stays.
//
// A drive may choose characters that do not show, or are not ASCII, to be taken for
// another one. An identity with those is written as in a URL: it differs from all others.
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
	// plain is ASCII that shows, but for \x5c: printable.Name doubles a backslash of the drive's own.
	plain     = regexp.MustCompile(`^([\x21-\x5b\x5d-\x7e]|\\\\)*$`)
	urlEscape = regexp.MustCompile(`%[0-9A-F]{2}`)
)
