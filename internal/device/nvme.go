package device

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// readNVMe reads what an NVMe namespace adds. With native multipath the namespace
// hangs below its subsystem and several controllers reach it; how it is attached is
// then told of the first controller that is live; its directory is returned.
func readNVMe(a *attributes, name string, d *record.Device) (controller string) {
	d.Model = a.words("device/model")
	d.Serial = serial(a.words("device/serial"))
	d.Firmware = a.words("device/firmware_rev")
	d.WWID = wwid(a.text("wwid"))

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
	var names []string
	for _, p := range pathsOf(name, a.siblings()) {
		names = append(names, p.controller)
	}
	if len(names) == 0 { // no path now: the controllers that the subsystem has
		for _, entry := range a.list("device") {
			if numbered(entry, "nvme") {
				names = append(names, entry)
			}
		}
	}
	slices.SortFunc(names, byNumber)
	var dirs []string
	for _, controller := range slices.Compact(names) {
		if dir := a.resolve(path.Join("device", controller)); dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// nvmePath is the hidden disk through which one controller reaches a namespace.
type nvmePath struct{ name, controller string }

// pathsOf returns the paths of a multipath namespace among the names of block
// devices: nvme0c1n2 is how nvme1 reaches nvme0n2.
func pathsOf(head string, names []string) []nvmePath {
	subsystem, namespace, ok := strings.Cut(strings.TrimPrefix(head, "nvme"), "n")
	if !ok {
		return nil
	}
	var paths []nvmePath
	for _, name := range names {
		middle, ok := strings.CutPrefix(name, "nvme"+subsystem+"c")
		if !ok {
			continue
		}
		if number, ok := strings.CutSuffix(middle, "n"+namespace); ok && numbered("nvme"+number, "nvme") {
			paths = append(paths, nvmePath{name: name, controller: "nvme" + number})
		}
	}
	slices.SortFunc(paths, func(x, y nvmePath) int { return byNumber(x.controller, y.controller) })
	return paths
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
