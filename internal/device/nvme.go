package device

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// readNVMe reads the attributes of an NVMe namespace. With native multipath the namespace
// is below its subsystem, and several controllers reach it. The transport is then that of
// the first controller that is live, and readNVMe returns the directory of that controller.
func readNVMe(a *attributes, name string, d *record.Device) (controller string) {
	d.Model = a.words("device/model")
	d.Serial = serial(a.words("device/serial"))
	d.Firmware = a.words("device/firmware_rev")
	d.WWID = wwid(a.words("wwid"))

	dirs := controllers(a, name)
	for _, dir := range dirs {
		d.Controllers = append(d.Controllers, path.Base(dir))
	}
	if len(dirs) == 0 {
		return a.dir
	}
	first := dirs[0]
	for _, dir := range dirs {
		if a.at(dir, "state") == "live" {
			first = dir
			break
		}
	}
	d.Transport = a.at(first, "transport")
	return first
}

// controllers returns the directories of the controllers that reach a namespace,
// in order of their numbers.
func controllers(a *attributes, name string) []string {
	if a.target("device/subsystem") == "nvme" {
		return []string{a.resolve("device")}
	}
	var dirs []string
	for _, dir := range pathsOf(a, name) {
		dirs = append(dirs, path.Dir(dir))
	}
	if len(dirs) == 0 { // no path now: use the controllers of the subsystem
		for _, entry := range a.list("device") {
			if dir := a.resolve(path.Join("device", entry)); numbered(entry, "nvme") && dir != "" {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.SortFunc(dirs, byNumber)
	return slices.Compact(dirs)
}

// pathsOf returns the directories of the hidden disks through which controllers
// reach a multipath namespace, in order of the numbers of the controllers: nvme0n2 is
// reached through nvme0c1n2, which lies below its controller.
func pathsOf(a *attributes, head string) []string {
	var dirs []string
	for _, name := range a.siblings() {
		if sysfs.HeadOf(name) != head {
			continue
		}
		dir, err := a.fs.Resolve(path.Join(blockDir, name))
		a.note(err)
		if numbered(path.Base(path.Dir(dir)), "nvme") {
			dirs = append(dirs, dir)
		}
	}
	slices.SortFunc(dirs, func(x, y string) int { return byNumber(path.Dir(x), path.Dir(y)) })
	return dirs
}

// byNumber orders nvme2 before nvme10.
func byNumber(x, y string) int {
	return cmp.Or(cmp.Compare(trailingNumber(x), trailingNumber(y)), cmp.Compare(x, y))
}

func trailingNumber(name string) int {
	n, err := strconv.Atoi(name[len(strings.TrimRight(name, "0123456789")):])
	if err != nil {
		return -1
	}
	return n
}
