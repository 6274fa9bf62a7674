package device

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// listedMembers is the most members that are listed by name; a digest replaces a longer list.
const listedMembers = 4

// stackKey is like stackText, but without names that the kernel reassigns at each boot.
// So it stays the same until the stack is changed: "raid1 on eui.0025384a41500001,
// eui.0025384a41500002-part1". It is empty if a member hangs and has not answered before.
func stackKey(a *attributes, d record.Device, seen map[string]found) string {
	if len(d.Members) == 0 {
		return ""
	}
	links, err := byID(a.fs)
	if err != nil {
		a.errs = append(a.errs, err)
	}
	count := map[string]int{}
	for _, member := range d.Members {
		id := memberID(a, member, links, seen)
		if id == "" {
			return ""
		}
		count[id]++
	}
	var members []string
	for id, n := range count {
		if n > 1 { // the paths of a multipath device
			id = fmt.Sprintf("%d × %s", n, id)
		}
		members = append(members, id)
	}
	slices.Sort(members)
	text := strings.Join(members, ", ")
	if len(members) > listedMembers {
		digest := sha256.Sum256([]byte(text))
		text = fmt.Sprintf("%d devices (%x)", len(d.Members), digest[:4])
	}
	return layerKey(a, d) + on + text
}

// layerKey returns "raid1", "crypt" or "lvm vg-root". Of the names in device-mapper, only
// those of LVM are stored on the drives; others are chosen whenever the device is created.
func layerKey(a *attributes, d record.Device) string {
	switch {
	case d.Kind == record.KindDM && d.Model == "lvm":
		return strings.TrimSpace("lvm " + a.text("dm/name"))
	case d.Model != "" && (d.Kind == record.KindMD || d.Kind == record.KindDM):
		return d.Model
	default: // the name that the driver reserves: "bcache" of bcache0
		return strings.TrimRight(d.Name, "-0123456789")
	}
}

// memberID returns the identity of a member. For a partition it is the identity of the
// disk with the number appended as udev does: "eui.0025384a41500001-part2". It is empty if the
// member hangs and has not answered before. A member that has been seen is not read again.
func memberID(a *attributes, member string, links map[string][]string, seen map[string]found) string {
	dir := path.Join("/sys/class/block", sysfs.DirName(member))
	name, err := diskAt(a.fs, dir)
	if err != nil {
		a.note(err)
		return namePrefix + member
	}
	f, here := seen[name]
	if !here {
		f, here = read(a.fs, name, links)
	}
	if !here { // it left since it was listed
		return namePrefix + member
	}
	if f.unknown {
		a.errs = append(a.errs, f.err)
	}
	if errors.Is(f.err, ErrNoAnswer) {
		return ""
	}
	if partition := a.at(dir, "partition"); partition != "" {
		return f.ID + "-part" + partition
	}
	return f.ID
}

// madeOfOne reports whether a device by its nature is made of exactly one other. An array
// or multipath device that is down to one member is not, because it will have more again.
func madeOfOne(d record.Device) bool {
	return len(d.Members) == 1 && d.Kind == record.KindDM &&
		(d.Model == "lvm" || d.Model == "crypt" || numbered(d.Model, "part")) // kpartx: "part1-mpath-…"
}
