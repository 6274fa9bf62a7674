package device_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

func TestFind(t *testing.T) {
	fs := sysfstest.Unpack(t, "testdata/nvme-slow-link.txtar")
	for _, name := range []string{
		"nvme1n1", "259:3", "eui.e8238fa6bf530001001b448b4a000002", "nvme-WD_BLACK_SN850X_1000GB_22360B800002",
		"/dev/nvme1n1", "/dev/../dev/nvme1n1", "/dev/disk/by-id/nvme-WD_BLACK_SN850X_1000GB_22360B800002",
	} {
		dev, err := device.Find(fs, name)
		require.NoError(t, err, name)
		assert.Equal(t, "nvme1n1", dev.Name, name)
	}
	for _, name := range []string{"nvme0n1p2", "/dev/nvme0n1p2"} {
		_, err := device.Find(fs, name)
		require.EqualError(t, err, "find device "+name+": it is a partition of nvme0n1: name the disk")
	}
	for _, name := range []string{"nvme9n1", "/dev/nvme9n1", "/etc/passwd", ""} {
		_, err := device.Find(fs, name)
		require.ErrorIs(t, err, os.ErrNotExist, name)
		require.ErrorContains(t, err, "here are: nvme0n1, nvme1n1")
	}
	_, err := device.Find(sysfs.New(t.TempDir()), "nvme0n1")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestClonesAreRefusedByName(t *testing.T) {
	for _, test := range []struct {
		fixture, id string
		names       []string
	}{
		{"nvme-cloned-serial", "NVMe_SSD_512GB_0000000000000001_ns1", []string{"nvme0n1", "nvme1n1"}},
		{"scsi", "naa.600a098038303053453f000000000001", []string{"sdd", "sde"}},
	} {
		t.Run(test.fixture, func(t *testing.T) {
			fs := sysfstest.Unpack(t, "testdata/"+test.fixture+".txtar")
			devices, err := device.Scan(fs)
			require.ErrorIs(t, err, device.ErrAmbiguousID)
			var clones *device.AmbiguousIDError
			require.ErrorAs(t, err, &clones)
			assert.Equal(t, test.id, clones.ID)
			var names []string
			for _, d := range clones.Devices {
				names = append(names, d.Name)
				require.ErrorContains(t, err, d.Name)
				require.ErrorContains(t, err, d.PCIAddress)
			}
			assert.Equal(t, test.names, names)
			for _, d := range devices {
				assert.NotContains(t, test.names, d.Name)
			}
			for _, name := range append(names, test.id) {
				_, err = device.Find(fs, name)
				require.ErrorIs(t, err, device.ErrAmbiguousID, name)
			}
		})
	}
}

// Paths have one serial number. Some makers give a whole batch of drives one wwid.
func TestDrivesWithSerialNumbersOfTheirOwnAreNoPaths(t *testing.T) {
	drive := func(name, serial string) record.Device {
		return record.Device{Name: name, WWID: "naa.5000000000000001", Serial: serial, SizeBytes: 1e12}
	}
	for serial, remedy := range map[string]string{
		"S2": "their serial numbers differ, so their maker gave several drives one identifier: exclude all but one to watch that",
		"S1": "multipath device", "": "multipath device",
	} {
		err := &device.AmbiguousIDError{ID: "naa.5000000000000001", Devices: []record.Device{drive("sda", "S1"), drive("sdb", serial)}}
		assert.ErrorContains(t, err, remedy)
	}
}

// The error for a path differs from that for a copy: it says which device to name instead.
func TestPathsAreRefusedByName(t *testing.T) {
	fs := build(t, built{name: "sda", wwid: "naa.6001"}, built{name: "sdb", wwid: "naa.6001"}, dm("dm-0", "mpath-36001", "mpatha", "sda", "sdb"))
	_, err := device.Find(fs, "/dev/sdb")
	require.ErrorIs(t, err, device.ErrAmbiguousID)
	require.EqualError(t, err, "find device /dev/sdb: ambiguous identity: it is one of 2 paths of dm-0 to the same drive: name that")
	found, err := device.Find(fs, "/dev/dm-0")
	require.NoError(t, err)
	assert.Equal(t, []string{"sda", "sdb"}, found.Members)
}
