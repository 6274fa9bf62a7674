package device_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

func TestBelowFile(t *testing.T) {
	type below struct{ device, stack, filesystem, options string }
	machines := map[string]sysfs.FS{}
	for _, fixture := range []string{"virtio-vm", "nvme-slow-link", "dm-crypt", "md-raid1", "lvm-two-pvs"} {
		machines[fixture] = sysfstest.Unpack(t, "testdata/"+fixture+".txtar")
	}
	for _, test := range []struct {
		fixture, path string
		want          below
		warnings      []string
	}{
		{"virtio-vm", "/var/lib/ssdprobe", below{"vda", "", "ext4", "rw,relatime,discard,resv_strict,resuid=65534,resgid=65534"}, nil},
		{"virtio-vm", "/proc/1", below{"", "", "proc", "rw,relatime"}, []string{record.WarnFilesystemUnknown}},
		{"nvme-slow-link", "/", below{"nvme0n1", "", "ext4", "rw,relatime,errors=remount-ro"}, []string{record.WarnLinkBelowMaximum}},
		{"nvme-slow-link", "/srvx/y", below{"nvme0n1", "", "ext4", "rw,relatime,errors=remount-ro"}, []string{record.WarnLinkBelowMaximum}},
		{"nvme-slow-link", "/srv", below{"nvme1n1", "", "xfs", "rw,noatime,attr2,inode64,noquota"}, nil},
		{"nvme-slow-link", "/srv/a/b", below{"nvme1n1", "", "xfs", "rw,noatime,attr2,inode64,noquota"}, nil},
		{"nvme-slow-link", "/boot/efi/x", below{"nvme0n1", "", "vfat", "rw,relatime,fmask=0022,errors=remount-ro"}, []string{record.WarnLinkBelowMaximum}},
		{"nvme-slow-link", "/home/bound dir/x", below{"nvme0n1", "", "ext4", "rw,nodev,relatime,errors=remount-ro"}, []string{record.WarnLinkBelowMaximum}},
		{"nvme-slow-link", "/srv/share/x", below{"", "", "nfs4", "rw,relatime,vers=4.2"}, []string{record.WarnFilesystemUnknown}},
		{"nvme-slow-link", "/data/x", below{"", "", "btrfs", "rw,relatime,ssd,subvol=/@data"}, []string{record.WarnFilesystemUnknown}},
		{"nvme-slow-link", "/run/x", below{"", "", "tmpfs", "rw,nosuid,nodev,size=3267844k,mode=755"}, []string{record.WarnFilesystemUnknown}},
		{"dm-crypt", "/var", below{"nvme0n1", "lvm vg-root on crypt on eui.ace42e00250001-part2", "ext4", "rw,relatime,errors=remount-ro"}, []string{record.WarnStacked}},
		{"dm-crypt", "/boot/vmlinuz", below{"nvme0n1", "", "ext4", "rw,relatime"}, nil},
		{"md-raid1", "/var", below{"md0", "raid1 on eui.000000000000000100a0752236000101, eui.000000000000000100a0752236000201", "ext4", "rw,relatime,errors=remount-ro"}, []string{record.WarnStacked, record.WarnGovernor}},
		{"lvm-two-pvs", "/var", below{"dm-0", "lvm data-objects on eui.000000000000000100a0752236000101-part1, eui.000000000000000100a0752236000201-part1", "ext4", "rw,relatime,errors=remount-ro"}, []string{record.WarnStacked}},
	} {
		t.Run(test.fixture+test.path, func(t *testing.T) {
			got, err := device.BelowResolved(machines[test.fixture], test.path)
			require.NoError(t, err)
			assert.Equal(t, test.want, below{got.Device.Name, got.Conditions.Stack, got.Conditions.Filesystem, got.Conditions.MountOptions})
			assert.Equal(t, test.warnings, codes(got.Warnings))
			assert.NotEmpty(t, got.Conditions.Kernel)
			if got.Device.Name != "" {
				assert.Equal(t, got.Device.Model, got.Conditions.Model)
			}
		})
	}
}

func codes(warnings []record.Warning) []string {
	var list []string
	for _, w := range warnings {
		list = append(list, w.Code)
	}
	return list
}

// The mount of a path is found as the kernel does, not by the longest mount point, because mounts can hide each other.
func TestBelowFileFollowsMounts(t *testing.T) {
	for _, test := range []struct{ name, mounts, path, want string }{
		{"a mount hides those below it", `
1 0 0:1 / / rw - ext4 a rw
2 1 0:2 / /x/y rw - xfs b rw
3 1 0:3 / /x rw - tmpfs c rw`, "/x/y/z", "tmpfs"},
		{"a mount in the one that hides", `
1 0 0:1 / / rw - ext4 a rw
3 1 0:3 / /x rw - tmpfs c rw
4 3 0:2 / /x/y rw - xfs b rw`, "/x/y/z", "xfs"},
		{"the last of several at one place", `
1 0 0:1 / / rw - ext4 a rw
2 1 0:2 / /x rw - xfs b rw
3 2 0:3 / /x rw - vfat c rw`, "/x", "vfat"},
		{"over the root", `
1 0 0:1 / / rw - rootfs a rw
2 1 0:2 / / rw - ext4 b rw`, "/x", "ext4"},
		{"parents outside of a chroot", `
7 99 0:1 / / rw - ext4 a rw
8 98 0:2 / /x rw - xfs b rw`, "/x/y", "xfs"},
		{"parents in a circle", `
1 0 0:1 / / rw - ext4 a rw
2 3 0:2 / /x rw - xfs b rw
3 2 0:3 / /x rw - vfat c rw`, "/x", "ext4"},
		{"a root that is its own parent", `
1 1 0:1 / / rw - ext4 a rw`, "/x", "ext4"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := device.BelowResolved(sysfstest.Make(t, map[string]string{"proc/self/mountinfo": test.mounts[1:] + "\n"}, nil), test.path)
			require.NoError(t, err)
			assert.Equal(t, test.want, got.Conditions.Filesystem)
		})
	}
}

func TestBelowFileWithoutMounts(t *testing.T) {
	_, err := device.NewFilesystems(sysfs.New(t.TempDir())).BelowFile("/")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "find the device below /: read mounts: ")

	fs := sysfstest.Make(t, map[string]string{"proc/self/mountinfo": "1 0 0:1 / /elsewhere rw - ext4 a rw\n"}, nil)
	_, err = device.NewFilesystems(fs).BelowFile("/")
	require.ErrorContains(t, err, "none contains it")

	fs = sysfstest.Make(t, map[string]string{"proc/self/mountinfo": "garbage\n"}, nil)
	_, err = device.NewFilesystems(fs).BelowFile("/")
	require.ErrorContains(t, err, "garbage")
}

// A device cannot be made of itself, but a made-up machine that says so must not cause a hang.
func TestBelowFileOfACircle(t *testing.T) {
	fs := sysfstest.Make(t, map[string]string{
		"proc/self/mountinfo":                    "1 0 253:0 / / rw - ext4 a rw\n",
		"sys/devices/virtual/block/dm-0/dev":     "253:0\n",
		"sys/devices/virtual/block/dm-0/size":    "8\n",
		"sys/devices/virtual/block/dm-0/dm/uuid": "LVM-x\n",
	}, map[string]string{
		"sys/block/dm-0":                             "../devices/virtual/block/dm-0",
		"sys/class/block/dm-0":                       "../../devices/virtual/block/dm-0",
		"sys/dev/block/253:0":                        "../../devices/virtual/block/dm-0",
		"sys/devices/virtual/block/dm-0/slaves/dm-0": "..",
	})
	_, err := device.BelowResolved(fs, "/x")
	require.ErrorContains(t, err, "is made of itself")
}

// Links in the path are this process's own and are followed; parts that do not exist yet are left unchanged.
func TestBelowFileFollowsLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "link")))
	fs := sysfstest.Make(t, map[string]string{"proc/self/mountinfo": "1 0 0:1 / / rw - ext4 a rw\n" +
		"2 1 0:2 / " + dir + "/real rw - xfs b rw\n"}, nil)
	got, err := device.NewFilesystems(fs).BelowFile(filepath.Join(dir, "link", "not", "yet"))
	require.NoError(t, err)
	assert.Equal(t, "xfs", got.Conditions.Filesystem)
	got, err = device.NewFilesystems(fs).BelowFile(filepath.Join(dir, "link2"))
	require.NoError(t, err)
	assert.Equal(t, "ext4", got.Conditions.Filesystem)
}
