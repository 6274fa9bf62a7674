package device_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// built is a made-up block device with its current name.
type built struct {
	name  string
	byID  string            // its name in /dev/disk/by-id
	wwid  string            // of a SCSI disk
	files map[string]string // of it, "dm/uuid"
	on    []string
}

// partition is the first partition of a disk.
func partition(disk string) string { return disk + "p1" }

// build creates a machine with the given devices; the last one is mounted.
func build(t *testing.T, devices ...built) sysfs.FS {
	t.Helper()
	files, links := map[string]string{}, map[string]string{}
	for i, d := range devices {
		dir, number := "sys/devices/"+d.name, fmt.Sprintf("250:%d", 16*i)
		files[dir+"/dev"], files[dir+"/size"] = number+"\n", "2048\n"
		files[dir+"/"+partition(d.name)+"/partition"] = "1\n"
		for name, text := range d.files {
			files[dir+"/"+name] = text + "\n"
		}
		links["sys/block/"+d.name] = "../devices/" + d.name
		links["sys/class/block/"+d.name] = "../../devices/" + d.name
		links["sys/class/block/"+partition(d.name)] = "../../devices/" + d.name + "/" + partition(d.name)
		links["sys/dev/block/"+number] = "../../devices/" + d.name
		if d.byID != "" {
			links["dev/disk/by-id/"+d.byID] = "../../" + d.name
		}
		if d.wwid != "" {
			files[dir+"/device/wwid"] = d.wwid + "\n"
			links[dir+"/device/subsystem"] = "../../../bus/scsi"
		}
		for _, member := range d.on {
			links[dir+"/slaves/"+member] = "../../" + member
			below := "sys/devices/" + member
			if disk, ok := strings.CutSuffix(member, "p1"); ok {
				below = "sys/devices/" + disk + "/" + member
			}
			links[below+"/holders/"+d.name] = "../../" + d.name
		}
		files["proc/self/mountinfo"] = "1 0 " + number + " / / rw - ext4 a rw\n"
	}
	return sysfstest.Make(t, files, links)
}

func md(name, level string, on ...string) built {
	return built{name: name, files: map[string]string{"md/level": level, "md/uuid": "1d9d3f2e-6a0b-4c5d-8e7f-a1b2c3d4e5f6"}, on: on}
}

func dm(name, uuid, called string, on ...string) built {
	return built{name: name, files: map[string]string{"dm/uuid": uuid, "dm/name": called}, on: on}
}

// The stack under a filesystem has the same text after a boot that has given every device another name.
func TestStackOutlivesTheNamesOfTheKernel(t *testing.T) {
	for _, test := range []struct {
		name  string
		build func(a, b, made, more string) []built // names of two disks and of the devices made of them
		want  string
		text  string // what the warning says with the first names
	}{
		{"volume over two partitions", func(a, b, made, _ string) []built {
			return []built{{name: a, byID: "wwn-1"}, {name: b, byID: "wwn-2"}, dm(made, "LVM-x", "vg-data", partition(a), partition(b))}
		}, "lvm vg-data on wwn-1-part1, wwn-2-part1", "dm-0 (lvm) on nvme0n1p1, nvme1n1p1: "},
		{"volume in encryption", func(a, _, made, more string) []built {
			return []built{{name: a, byID: "wwn-1"}, dm(made, "CRYPT-LUKS2-1-"+made, made, partition(a)), dm(more, "LVM-x", "vg-root", made)}
		}, "lvm vg-root on crypt on wwn-1-part1", "dm-1 (lvm) on dm-0 (crypt) on nvme0n1p1: "},
		{"multipath", func(a, b, made, _ string) []built {
			return []built{{name: a, wwid: "naa.6001"}, {name: b, wwid: "naa.6001"}, dm(made, "mpath-36001", "mpatha", a, b)}
		}, "mpath on 2 × naa.6001", "dm-0 (mpath) on nvme0n1, nvme1n1: "},
		{"partition of a multipath device", func(a, b, made, more string) []built {
			return []built{{name: a, byID: "wwn-1"}, {name: b, byID: "wwn-2"}, dm(made, "mpath-3600a", "mpatha", a, b), dm(more, "part1-mpath-3600a", "mpatha1", made)}
		}, "part1 on mpath on wwn-1, wwn-2", "dm-0 (mpath) on nvme0n1, nvme1n1: "},
		{"another driver's", func(a, b, _, _ string) []built {
			made := map[string]string{"nvme0n1": "bcache0", "sdq": "bcache16"}[a]
			return []built{{name: a, byID: "wwn-1"}, {name: b, byID: "wwn-2"}, {name: made, on: []string{a, b}}}
		}, "bcache on wwn-1, wwn-2", "bcache0 on nvme0n1, nvme1n1: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, err := device.BelowResolved(build(t, test.build("nvme0n1", "nvme1n1", "dm-0", "dm-1")...), "/x")
			require.NoError(t, err)
			after, err := device.BelowResolved(build(t, test.build("sdq", "sdb", "dm-7", "dm-3")...), "/x")
			require.NoError(t, err)
			assert.Equal(t, test.want, before.Conditions.Stack)
			assert.Equal(t, before.Conditions, after.Conditions)
			require.Contains(t, codes(before.Warnings), record.WarnStacked)
			for _, w := range before.Warnings {
				if w.Code == record.WarnStacked {
					assert.Contains(t, w.Text, test.text)
				}
			}
		})
	}
}

func TestStackOfManyMembersIsShort(t *testing.T) {
	var disks []built
	var names []string
	for i := range 24 {
		names = append(names, fmt.Sprintf("nvme%dn1", i))
		disks = append(disks, built{name: names[i], byID: fmt.Sprintf("wwn-%d", i)})
	}
	stack := func(names []string) string {
		below, err := device.BelowResolved(build(t, append(disks, md("md0", "raid6", names...))...), "/x")
		require.NoError(t, err)
		return below.Conditions.Stack
	}
	all := stack(names)
	assert.Regexp(t, `^raid6 on 24 devices \([0-9a-f]{8}\)$`, all)
	disks[3].byID, disks[4].byID = disks[4].byID, disks[3].byID
	assert.Equal(t, all, stack(names), "the same drives under other names")
	disks[3].byID = "wwn-99"
	assert.NotEqual(t, all, stack(names), "another drive")
}

// A filesystem stays on a device that is down to one member: the number and the lock do not become those of the member.
func TestBelowFileStopsAtWhatHasLostMembers(t *testing.T) {
	for name, test := range map[string]struct {
		made built
		want string
	}{
		"array":     {md("md0", "raid1", "sda"), "raid1 on wwn-1"},
		"multipath": {dm("dm-0", "mpath-3600a", "mpatha", "sda"), "mpath on wwn-1"},
		"unknown":   {dm("dm-0", "", "by-hand", "sda"), "dm on wwn-1"},
		"cache":     {built{name: "bcache0", on: []string{"sda"}}, "bcache on wwn-1"},
	} {
		t.Run(name, func(t *testing.T) {
			fs := build(t, built{name: "sda", byID: "wwn-1"}, test.made)
			below, err := device.BelowResolved(fs, "/x")
			require.NoError(t, err)
			assert.Equal(t, test.made.name, below.Device.Name)
			assert.Equal(t, "250:16", below.Device.Number)
			assert.Equal(t, test.want, below.Conditions.Stack)

			fs = build(t, built{name: "sda", byID: "wwn-1"}, test.made, dm("dm-1", "LVM-x", "vg-data", test.made.name))
			below, err = device.BelowResolved(fs, "/x")
			require.NoError(t, err)
			assert.Equal(t, test.made.name, below.Device.Name)
			assert.Equal(t, "lvm vg-data on "+test.want, below.Conditions.Stack)
		})
	}
}
