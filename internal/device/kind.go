package device

import (
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// kind determines the kind of a device from what its driver adds to sysfs, and from the names that
// drivers reserve (Documentation/admin-guide/devices.txt).
func kind(a *attributes, name string) record.Kind {
	switch {
	case len(a.list("md")) > 0:
		return record.KindMD
	case len(a.list("dm")) > 0:
		return record.KindDM
	case numbered(name, "loop"):
		return record.KindLoop
	case numbered(name, "ram"):
		return record.KindRAM
	case numbered(name, "zram"):
		return record.KindZRAM
	case numbered(name, "sr"):
		return record.KindOptical
	case numbered(name, "nbd"), numbered(name, "rbd"), numbered(name, "drbd"), numbered(name, "rnbd"):
		return record.KindNetwork
	default:
		return record.KindDisk
	}
}

// numbered reports whether a name is the prefix followed by a number.
func numbered(name, prefix string) bool {
	number, ok := strings.CutPrefix(name, prefix)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}
