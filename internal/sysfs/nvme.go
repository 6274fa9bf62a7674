package sysfs

import "regexp"

var hiddenPath = regexp.MustCompile(`^(nvme\d+)c\d+(n\d+)$`)

// HeadOf returns the multipath namespace of NVMe that the hidden disk of this name is a
// path to, "nvme0n2" of "nvme0c1n2"; "" when it is no path. The number after the c is the
// controller's only since Linux 5.1; before, it was the CNTLID
// (https://lore.kernel.org/r/20190503133736.111201-2-hare@suse.de).
func HeadOf(name string) string {
	if found := hiddenPath.FindStringSubmatch(name); found != nil {
		return found[1] + found[2]
	}
	return ""
}
