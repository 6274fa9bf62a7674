package device_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// twoDisks returns the root of a machine with the virtio disks vda and vdb.
func twoDisks(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, number := range map[string]string{"vda": "252:0", "vdb": "252:16"} {
		addDisk(t, root, name, number)
	}
	return root
}

func addDisk(t *testing.T, root, name, number string) {
	t.Helper()
	dir := "sys/devices/virtio-" + name + "/block/" + name
	sysfstest.Add(t, root, map[string]string{
		dir + "/dev": number + "\n", dir + "/size": "16\n", dir + "/serial": "S-" + name,
		dir + "/queue/logical_block_size": "512\n", dir + "/queue/rotational": "0\n", dir + "/queue/scheduler": "[none] bfq\n",
	}, map[string]string{
		dir + "/device": "../..", "sys/devices/virtio-" + name + "/subsystem": "../../bus/virtio",
	})
	if _, err := os.Lstat(filepath.Join(root, "sys/block", name)); err != nil {
		sysfstest.Add(t, root, nil, map[string]string{"sys/block/" + name: "../devices/virtio-" + name + "/block/" + name})
	}
}

// hang makes an attribute of a disk hang: a FIFO without a writer stands for it. The returned function ends that; whoever
// hangs gets the answer.
func hang(t *testing.T, root, name, attribute string) (end func()) {
	t.Helper()
	full := filepath.Join(root, "sys/devices/virtio-"+name, "block", name, attribute)
	answer, err := os.ReadFile(full)
	require.NoError(t, err)
	beside := full + ".beside"
	require.NoError(t, unix.Mkfifo(beside, 0o600))
	require.NoError(t, os.Rename(beside, full))
	end = sync.OnceFunc(func() {
		driver, err := os.OpenFile(full, os.O_RDWR|unix.O_NONBLOCK, 0)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(beside, answer, 0o600))
		require.NoError(t, os.Rename(beside, full))
		_, err = driver.Write(answer)
		require.NoError(t, err)
		require.NoError(t, driver.Close())
	})
	t.Cleanup(end)
	return end
}

// within returns what f returns, and fails the test if f hangs.
func within(t *testing.T, f func() ([]device.Pick, error)) (map[string]record.Device, error) {
	t.Helper()
	type answer struct {
		picks []device.Pick
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		picks, err := f()
		answers <- answer{picks, err}
	}()
	select {
	case a := <-answers:
		devices := map[string]record.Device{}
		for _, p := range a.picks {
			devices[p.Device.Name] = p.Device
		}
		return devices, a.err
	case <-time.After(20 * time.Second):
		require.Fail(t, "the device that hangs holds up all of them")
		return nil, nil
	}
}

// A disk whose driver does not answer is told, without an identity. All others are found.
func TestADeviceThatHangsHoldsUpNoOther(t *testing.T) {
	for _, attribute := range []string{"serial", "queue/rotational"} {
		t.Run(attribute, func(t *testing.T) {
			t.Parallel()
			root := twoDisks(t)
			hang(t, root, "vda", attribute)
			devices, err := within(t, func() ([]device.Pick, error) { return device.Choose(sysfs.New(root), nil, nil) })
			require.True(t, guard.Hangs(err), "%v", err)
			require.ErrorContains(t, err, "read device vda: ")
			require.Len(t, devices, 1)
			assert.Equal(t, "virtio_S-vdb", devices["vdb"].ID)
		})
	}
}

// Whoever scans again and again keeps what a device said before it hung, and does not ask it again until it answers.
func TestADeviceThatHangsKeepsItsIdentity(t *testing.T) {
	for _, attribute := range []string{"serial", "queue/rotational"} {
		t.Run(attribute, func(t *testing.T) {
			t.Parallel()
			root := twoDisks(t)
			host := device.NewScanner(sysfs.New(root))
			choose := func() ([]device.Pick, error) { return host.Choose(nil, nil) }
			before, err := within(t, choose)
			require.NoError(t, err)
			require.Len(t, before, 2)
			conditions, _, err := host.Conditions(before["vda"])
			require.NoError(t, err)

			end := hang(t, root, "vda", attribute)
			sysfstest.Add(t, root, map[string]string{"sys/devices/virtio-vdb/block/vdb/size": "32\n"}, nil)
			for range 2 {
				now, err := within(t, choose)
				require.True(t, guard.Hangs(err), "%v", err)
				require.NotErrorIs(t, err, device.ErrNoAnswer)
				assert.Equal(t, before["vda"], now["vda"])
				assert.Equal(t, int64(32*512), now["vdb"].SizeBytes, "the others are read anew")
				kept, _, err := host.Conditions(now["vda"])
				require.True(t, guard.Hangs(err), "%v", err)
				assert.Equal(t, conditions, kept)
				var hung *guard.HungError
				require.ErrorAs(t, err, &hung)
				assert.True(t, hung.Earlier, "it was asked once")
			}
			end()
			require.Eventually(t, func() bool {
				now, err := within(t, choose)
				return err == nil && assert.ObjectsAreEqual(before["vda"], now["vda"])
			}, time.Minute, time.Millisecond)
		})
	}
}

// A disk that hangs while the daemon is restarted is known by the name that udev gave it while it answered.
func TestADeviceThatHangsIsRecalledAfterARestart(t *testing.T) {
	for _, attribute := range []string{"serial", "queue/rotational"} {
		t.Run(attribute, func(t *testing.T) {
			t.Parallel()
			root := twoDisks(t)
			sysfstest.Add(t, root, nil, map[string]string{"dev/disk/by-id/virtio-S-vda": "../../vda", "dev/disk/by-id/dm-name-vda": "../../vda"})
			before := device.NewScanner(sysfs.New(root))
			known, err := before.Find("vda")
			require.NoError(t, err)
			conditions, _, err := before.Conditions(known)
			require.NoError(t, err)
			stored := device.Recalled{Device: known, Conditions: conditions}
			stored.Device.Name, stored.Device.Number = "vdc", "252:32" // it had another name then

			end := hang(t, root, "vda", attribute)
			host := device.NewScanner(sysfs.New(root))
			host.Recall = func() []device.Recalled { return []device.Recalled{stored} }
			choose := func() ([]device.Pick, error) { return host.Choose(nil, nil) }
			for range 2 {
				now, err := within(t, choose)
				require.True(t, guard.Hangs(err), "%v", err)
				require.NotErrorIs(t, err, device.ErrNoAnswer)
				assert.Equal(t, known, now["vda"])
				kept, _, err := host.Conditions(now["vda"])
				require.True(t, guard.Hangs(err), "%v", err)
				assert.Equal(t, conditions, kept)
			}
			end()
			require.Eventually(t, func() bool {
				now, err := within(t, choose)
				return err == nil && assert.ObjectsAreEqual(known, now["vda"])
			}, time.Minute, time.Millisecond)
			assert.Zero(t, host.Returns(known.ID))
		})
	}
}

// Another disk in the same place does not get the identity of the one before, even if it hangs at once.
func TestADiskThatWasReplacedDoesNotInheritAnIdentity(t *testing.T) {
	t.Parallel()
	root := twoDisks(t)
	host := device.NewScanner(sysfs.New(root))
	choose := func() ([]device.Pick, error) { return host.Choose(nil, nil) }
	_, err := within(t, choose)
	require.NoError(t, err)
	disk := filepath.Join(root, "sys/devices/virtio-vda")
	require.NoError(t, os.Rename(disk, filepath.Join(t.TempDir(), "old"))) // its inode numbers remain taken, as in the kernel
	addDisk(t, root, "vda", "252:0")
	end := hang(t, root, "vda", "serial")
	now, err := within(t, choose)
	require.ErrorIs(t, err, device.ErrNoAnswer)
	assert.NotContains(t, now, "vda")
	for _, name := range []string{"vda", "252:0"} {
		_, err = host.Find(name)
		require.ErrorIs(t, err, device.ErrNoAnswer, "it is there, but nobody knows what it is")
	}
	end()
	require.Eventually(t, func() bool {
		now, err := within(t, choose)
		return err == nil && now["vda"].ID == "virtio_S-vda"
	}, time.Minute, time.Millisecond)
}

// The kernel shows an empty serial number for a virtio disk whose host answers with an error.
func TestADiskThatNoLongerSaysItsSerialNumberKeepsIt(t *testing.T) {
	root := twoDisks(t)
	sysfstest.Add(t, root, nil, map[string]string{"dev/disk/by-id/virtio-S-vda": "../../vda"})
	host := device.NewScanner(sysfs.New(root))
	before, err := host.Find("vda")
	require.NoError(t, err)
	require.Equal(t, "virtio_S-vda", before.ID)
	serial := filepath.Join(root, "sys/devices/virtio-vda/block/vda/serial")
	require.NoError(t, os.WriteFile(serial, nil, 0o600))
	now, err := host.Scan()
	require.ErrorContains(t, err, "read device vda: it no longer says its serial number, which was S-vda")
	require.Len(t, now, 2)
	assert.Equal(t, before, now[0])
	require.NoError(t, os.WriteFile(serial, []byte("other"), 0o600))
	other, err := host.Find("vda")
	require.NoError(t, err)
	assert.Equal(t, "virtio_other", other.ID, "a serial number that is another one is no silence")
}

// A device that hangs only while its conditions are read has none, rather than empty ones.
func TestConditionsOfADeviceThatHangsAreNotGuessed(t *testing.T) {
	t.Parallel()
	root := twoDisks(t)
	host := device.NewScanner(sysfs.New(root))
	d, err := host.Find("vda")
	require.NoError(t, err)
	hang(t, root, "vda", "queue/scheduler")
	_, _, err = host.Conditions(d)
	require.ErrorIs(t, err, device.ErrNoAnswer)
	require.True(t, guard.Hangs(err))
}

// The layers of a volume are not known while a member is not; the volume itself is.
func TestAVolumeOnADeviceThatHangs(t *testing.T) {
	t.Parallel()
	root := twoDisks(t)
	dir := "sys/devices/virtual/block/dm-0"
	sysfstest.Add(t, root, map[string]string{dir + "/dev": "253:0\n", dir + "/size": "16\n", dir + "/dm/uuid": "LVM-x\n", dir + "/dm/name": "vg-a\n"}, map[string]string{
		dir + "/slaves/vda": "../../../../virtio-vda/block/vda", dir + "/slaves/vdb": "../../../../virtio-vdb/block/vdb",
		"sys/block/dm-0": "../devices/virtual/block/dm-0", "sys/class/block/vda": "../../block/vda", "sys/class/block/vdb": "../../block/vdb",
	})
	known, fresh := device.NewScanner(sysfs.New(root)), device.NewScanner(sysfs.New(root))
	_, err := known.Scan()
	require.NoError(t, err)
	hang(t, root, "vda", "serial")
	for host, want := range map[*device.Scanner]string{known: "lvm vg-a on virtio_S-vda, virtio_S-vdb", fresh: ""} {
		d, err := host.Find("dm-0")
		require.NoError(t, err)
		c, _, err := host.Conditions(d)
		assert.Equal(t, want, c.Stack)
		assert.Equal(t, want == "", err != nil)
	}
}
