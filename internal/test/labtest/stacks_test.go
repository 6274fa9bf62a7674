package labtest_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// The drives that other devices are made of. Their serial numbers are the same words.
const (
	mirror0  = "mirror0"  // of the RAID 1 md0
	mirror1  = "mirror1"  // the same
	hotSpare = "hotspare" // of md0
	failed   = "failed"   // in md0, which has marked it as faulty
	journal  = "journal"  // of the RAID 5 md1
	volume   = "volume"   // a physical volume of LVM
	cipher   = "cipher"   // plain dm-crypt
	headless = "headless" // LUKS, its header kept elsewhere
	tower    = "tower"    // LUKS, below the degraded RAID 1 md2, below LVM
	paths    = "paths"    // two paths, of dm-multipath
	victim   = "victim"   // of nothing
	intruder = "intruder" // of nothing, not plugged in at boot
)

// TestStacks tests drives that other devices are made of, and an NFS server.
func TestStacks(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20 // drives are as small as the devices made of them allow
	var drives []lab.Drive
	for _, id := range []string{mirror0, mirror1, hotSpare, failed, volume, cipher, headless} {
		drives = append(drives, lab.Drive{ID: id, Serial: id, SizeBytes: 4 * mib, WrittenRatio: 1})
	}
	m := lab.Start(t, lab.Options{
		Drives: append(drives,
			lab.Drive{ID: journal, Serial: journal, SizeBytes: 8 * mib, WrittenRatio: 1},
			lab.Drive{ID: tower, Serial: tower, SizeBytes: 8 * mib, WrittenRatio: 1},
			lab.Drive{ID: paths, Serial: paths, SizeBytes: 4 * mib, WrittenRatio: 1, Controllers: 2},
			lab.Drive{ID: victim, Serial: victim, SizeBytes: 4 * mib, WrittenRatio: 1, EUI64: 0x5254000000000020},
			lab.Drive{ID: intruder, Serial: intruder, SizeBytes: 4 * mib, WrittenRatio: 1, Unplugged: true}),
		Files:    map[string]string{"/usr/local/bin/ssdprobe": lab.Build(t, "github.com/ssdprobe/ssdprobe/cmd/ssdprobe")},
		Programs: []string{"mdadm", "lvm", "cryptsetup", "dmsetup"},
		Modules: []string{
			"raid1", "raid456", "loop", "dm-crypt", "xts", "ecb", "dm-multipath", "dm-service-time", "nfsd", "nfsv4",
		},
		ForwardPorts: []int{metricsPort},
		KernelArgs:   []string{"nvme_core.multipath=N"}, // leaves the paths to dm-multipath
	})
	runParts(t, m, []part{
		{"stacks", testStacks},
		{"detached namespace", testDetachedNamespace},
		{"name of a drive that was removed", testNameOfRemovedDrive},
		{"NFS server gone", testServerGone},
	})
}

// stackScript creates the devices on the drives, or takes them apart. There is no udev in the machine.
const stackScript = `
set -e
export MDADM_NO_UDEV=1
make() {
	mkdir -p /etc/lvm
	echo 'devices { use_devicesfile=0 } activation { udev_sync=0 udev_rules=0 }' >/etc/lvm/lvm.conf
	head -c 32 /dev/urandom >/run/key
	for i in 0 1; do
		truncate -s 8M /run/member$i
		losetup /dev/loop$i /run/member$i
	done

	mdadm --create /dev/md0 --run --assume-clean --metadata=1.2 --level=1 -n2 MIRROR0 MIRROR1 -x2 HOTSPARE FAILED
	mdadm /dev/md0 --fail FAILED
	mdadm --create /dev/md1 --run --assume-clean --metadata=1.2 --level=5 -n2 --write-journal JOURNAL /dev/loop0 /dev/loop1

	lvm pvcreate -qy VOLUME
	lvm vgcreate -q -s 1m vg VOLUME
	lvm lvcreate -qy -Wn -Zn -l 2 -n lv vg

	cryptsetup open --type plain --cipher aes-xts-plain64 --key-size 256 --key-file /run/key CIPHER cipher
	encrypt --header /run/header HEADLESS
	cryptsetup open --key-file /run/key --header /run/header HEADLESS headless

	encrypt --luks2-metadata-size 16k --luks2-keyslots-size 256k --offset 2048 TOWER
	cryptsetup open --key-file /run/key TOWER tower
	mdadm --create /dev/md2 --run --metadata=1.2 --level=1 -n2 /dev/mapper/tower missing
	lvm pvcreate -qy /dev/md2
	lvm vgcreate -q -s 1m top /dev/md2
	lvm lvcreate -qy -Wn -Zn -l 3 -n lv top

	dmsetup create paths --uuid mpath-PATHS --table "0 $(blockdev --getsz PATH0) multipath 0 0 1 1 service-time 0 2 1 PATH0 1 PATH1 1"
	dmsetup mknodes paths
	dd if=/dev/mapper/paths of=/dev/null bs=4k count=1 # the kernel chooses a path with the first read
}
encrypt() {
	cryptsetup luksFormat -q --type luks2 --cipher aes-xts-plain64 --key-size 256 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \
		--key-file /run/key "$@"
}
apart() {
	dmsetup remove --retry paths
	lvm vgchange -q -an top vg
	mdadm --stop /dev/md2
	for name in tower headless cipher; do cryptsetup close $name; done
	mdadm --stop /dev/md0
	mdadm --stop /dev/md1
	for i in 0 1; do losetup -d /dev/loop$i; done
}
`

// stackDrives returns the drives that something is made of, except the one with two paths.
func stackDrives() []string {
	return []string{mirror0, mirror1, hotSpare, failed, journal, volume, cipher, headless, tower}
}

// stacksDo runs a function of the script.
func stacksDo(t *testing.T, m *lab.Machine, function string) {
	t.Helper()
	var names []string
	for _, drive := range stackDrives() {
		names = append(names, strings.ToUpper(drive), disk(t, m, drive).Node())
	}
	two := disk(t, m, paths).Namespaces
	names = append(names, "PATH0", "/dev/"+two[0], "PATH1", "/dev/"+two[1])
	output(t, m, "sh", "-c", strings.NewReplacer(names...).Replace(stackScript)+function)
}

// testStacks tries to destroy drives while they are in use and watched, and tries again when they
// are no longer in use.
func testStacks(t *testing.T, m *lab.Machine) {
	stacksDo(t, m, "make")
	eventually(t, "no array is being rebuilt", func() bool {
		return !strings.Contains(text(t, m, "/proc/mdstat"), "re")
	})
	before, health := contents(t, m), stacksHealth(t, m)
	refusedInUse(t, m)
	watchedFromAbove(t, m)
	d := watchedFromBelow(t, m)
	assert.Equal(t, before, contents(t, m), "a drive was changed")
	assert.Equal(t, health, stacksHealth(t, m))

	stacksDo(t, m, "apart") // the daemon does not prevent it
	d.awaitRounds(t, identity(t, m, mirror0), "ok", 1)
	d.stop(t)
	before = contents(t, m)
	for drive, mark := range map[string]string{
		mirror0: "a member of an md array", hotSpare: "a member of an md array",
		failed: "a member of an md array", journal: "a member of an md array", volume: "an LVM physical volume", tower: "a LUKS volume",
	} {
		refused := destroy(t, m, disk(t, m, drive).Node(), drive)
		assert.Contains(t, refused, "there is "+mark+" on it", drive)
		assert.NotContains(t, refused, "is made of it", drive)
	}
	assert.Equal(t, before, contents(t, m), "a drive was changed")
}

// contents returns the checksums of the drives that something is or was made of.
func contents(t *testing.T, m *lab.Machine) map[string]string {
	t.Helper()
	sums := map[string]string{}
	for _, drive := range append(stackDrives(), paths) {
		sums[drive] = checksum(t, m, disk(t, m, drive))
	}
	return sums
}

// checksum reads a whole drive. It first drops the kernel's cache of it, which is older than what a
// device above has written.
func checksum(t *testing.T, m *lab.Machine, d lab.Disk) string {
	t.Helper()
	return output(t, m, "sh", "-ec", "blockdev --flushbufs $0; md5sum <$0", d.Node())
}

// destroy starts a suite that writes, which has to be refused, and returns the message.
func destroy(t *testing.T, m *lab.Machine, node, serial string) string {
	t.Helper()
	result := ssdprobe(t, m, nil, "run", "mixed", "--even-if-busy", "--set", "time=300ms", "--set", "engines=libaio", "--target", node, "--destroy", serial)
	assert.Equal(t, 4, result.ExitCode, "%s: %+v", serial, result)
	assert.NotContains(t, result.Stderr, "step 1 of", serial)
	return result.Stderr
}

// refusedInUse tries to destroy each drive that something is made of.
func refusedInUse(t *testing.T, m *lab.Machine) {
	t.Helper()
	for _, drive := range stackDrives() {
		d := disk(t, m, drive)
		holders, err := m.Glob(bounded(t), "/sys/block/"+d.Namespaces[0]+"/holders/*")
		require.NoError(t, err)
		require.Len(t, holders, 1, drive)
		refused := destroy(t, m, d.Node(), drive)
		assert.Contains(t, refused, "/dev/"+filepath.Base(holders[0])+" is made of it", drive)
	}
	for _, path := range disk(t, m, paths).Namespaces {
		result := ssdprobe(t, m, nil, "run", "mixed", "--target", "/dev/"+path, "--destroy", paths)
		assert.Equal(t, 2, result.ExitCode, "%+v", result)
		assert.Contains(t, result.Stderr, "it is one of 2 paths of "+top(t, m, "paths")+" to the same drive: name that")
	}
}

// top returns the kernel's name of a device of device-mapper.
func top(t *testing.T, m *lab.Machine, name string) string {
	t.Helper()
	found, err := m.Glob(bounded(t), "/sys/block/dm-*/dm/name")
	require.NoError(t, err)
	for _, path := range found {
		if text(t, m, path) == name {
			return filepath.Base(filepath.Dir(filepath.Dir(path)))
		}
	}
	t.Fatalf("no device is called %s", name)
	return ""
}

// seldom makes rounds and looks so seldom that a machine with many drives can keep up.
const seldom = "probes: [{name: read-4k, interval: 3s, ios: 16, warmup_ios: 2, timeout: 20s}]\ndiscovery_interval: 20s\nhealth: {interval: 20s}\n"

// stacksHealth returns the kernel's state of arrays and maps, which changes when one of them has an error.
func stacksHealth(t *testing.T, m *lab.Machine) string {
	t.Helper()
	return text(t, m, "/proc/mdstat") + output(t, m, "sh", "-c",
		"grep -H . /sys/block/md*/md/array_state /sys/block/md*/md/degraded /sys/block/md*/md/dev-*/state /sys/block/md*/md/dev-*/errors; dmsetup status")
}

// watched returns the names of the devices that the daemon watches.
func (d daemon) watched(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, s := range d.scrape(t)["ssdprobe_target_up"].GetMetric() {
		for _, pair := range s.Label {
			if pair.GetName() == "device" {
				names = append(names, pair.GetValue())
			}
		}
	}
	slices.Sort(names)
	return names
}

// idsOf returns the ids of devices by their names.
func idsOf(rows map[string]report.DeviceRow, names []string) []string {
	var all []string
	for _, name := range names {
		all = append(all, rows[name].Device.ID)
	}
	return all
}

// watchedFromBelow watches without rules: the drives, and nothing that is made of them.
func watchedFromBelow(t *testing.T, m *lab.Machine) daemon {
	t.Helper()
	rows := devices(t, m)
	want := disk(t, m, victim).Namespaces
	for _, drive := range stackDrives() {
		name := disk(t, m, drive).Namespaces[0]
		want = append(want, name)
		assert.True(t, rows[name].Watched, "%s: %s", drive, rows[name].Reason)
	}
	slices.Sort(want)
	paths, multipath := disk(t, m, paths).Namespaces, top(t, m, "paths")
	for _, path := range paths {
		assert.Equal(t, "a path of "+multipath+", which is watched when an include rule names it", rows[path].Reason)
	}
	const onlyNamed = "; watched only when an include rule names it"
	for name, members := range map[string][]string{
		"md0":                 {disk(t, m, mirror0).Namespaces[0], disk(t, m, mirror1).Namespaces[0], disk(t, m, hotSpare).Namespaces[0], disk(t, m, failed).Namespaces[0]},
		"md1":                 {"loop0", "loop1", disk(t, m, journal).Namespaces[0]},
		"md2":                 {top(t, m, "tower")},
		multipath:             paths,
		top(t, m, "vg-lv"):    disk(t, m, volume).Namespaces,
		top(t, m, "cipher"):   disk(t, m, cipher).Namespaces,
		top(t, m, "headless"): disk(t, m, headless).Namespaces,
		top(t, m, "tower"):    disk(t, m, tower).Namespaces,
		top(t, m, "top-lv"):   {"md2"},
	} {
		slices.Sort(members)
		assert.Equal(t, "made of "+strings.Join(members, ", ")+onlyNamed, rows[name].Reason, name)
	}

	d := startDaemon(t, m, configuration(t, m, 0, seldom))
	assert.Equal(t, want, d.watched(t))
	d.awaitRoundsOfAll(t, idsOf(rows, want), "ok", 1)
	return d
}

// watchedFromAbove watches devices that are made of drives, because rules name them, and then none of the drives below.
func watchedFromAbove(t *testing.T, m *lab.Machine) {
	t.Helper()
	multipath, towerTop := top(t, m, "paths"), top(t, m, "top-lv")
	want := []string{"md0", multipath, towerTop}
	config := configuration(t, m, 0, seldom+fmt.Sprintf("devices: {include: [{name: 'nvme*'}, {name: 'md*'}, {name: %s}, {name: %s}, {name: %s}]}\n",
		top(t, m, "tower"), multipath, towerTop))
	rows := devices(t, m, "--config", config)
	part := map[string]string{"md2": towerTop, top(t, m, "tower"): towerTop, disk(t, m, tower).Namespaces[0]: towerTop, disk(t, m, journal).Namespaces[0]: "md1"}
	for _, path := range disk(t, m, paths).Namespaces {
		part[path] = multipath
	}
	for _, drive := range []string{mirror0, mirror1, hotSpare, failed} {
		part[disk(t, m, drive).Namespaces[0]] = "md0"
	}
	for name, whole := range part {
		assert.Equal(t, "part of "+whole+", which is watched", rows[name].Reason, name)
	}
	d := startDaemon(t, m, config)
	watched := d.watched(t)
	assert.Subset(t, watched, want)
	for name := range maps.Keys(part) {
		assert.NotContains(t, watched, name)
	}
	d.awaitRoundsOfAll(t, idsOf(rows, want), "ok", 1)
	d.stop(t)
}
