package sysfs

import "regexp"

var hiddenPath = regexp.MustCompile(`^(nvme\d+)c\d+(n\d+)$`)

// HeadOf returns the multipath NVMe namespace that the hidden disk with the given name is
// a path to: "nvme0n2" for "nvme0c1n2", or "" if the name is not that of a path. The
// number after the c is the controller's number since Linux 5.1; before, it was the
// CNTLID (https://lore.kernel.org/r/20190503133736.111201-2-hare@suse.de).
func HeadOf(name string) string {
	if found := hiddenPath.FindStringSubmatch(name); found != nil {
		return found[1] + found[2]
	}
	return ""
}
