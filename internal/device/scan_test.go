package device_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/device/devicetest"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

var update = flag.Bool("update", false, "rewrite the expected outputs")

// seen is everything that the package reports about one machine.
type seen struct {
	Errors  []string     `json:"errors,omitempty"`
	Devices []seenDevice `json:"devices"`
}

type seenDevice struct {
	Watched    bool              `json:"watched"`
	Reason     string            `json:"reason,omitempty"`
	Device     record.Device     `json:"device"`
	Conditions record.Conditions `json:"conditions"`
	Warnings   []record.Warning  `json:"warnings,omitempty"`
}

// TestMachines compares everything that the package reports about each fixture with
// results that were checked before.
func TestMachines(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.Len(t, archives, 12)
	for _, archive := range archives {
		t.Run(filepath.Base(archive), func(t *testing.T) {
			got, err := json.MarshalIndent(look(t, sysfstest.Unpack(t, archive)), "", "  ")
			require.NoError(t, err)
			golden := strings.TrimSuffix(archive, ".txtar") + ".golden.json"
			if *update {
				require.NoError(t, os.WriteFile(golden, append(got, '\n'), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), string(got)+"\n")
		})
	}
}

func look(t *testing.T, fs sysfs.FS) seen {
	t.Helper()
	var s seen
	picks, err := device.Choose(fs, nil, nil)
	require.NotNil(t, picks)
	if err != nil {
		s.Errors = strings.Split(err.Error(), "\n")
	}
	for _, p := range picks {
		conditions, warnings, err := device.Conditions(fs, p.Device)
		require.NoError(t, err)
		s.Devices = append(s.Devices, seenDevice{p.Reason == "", p.Reason, p.Device, conditions, warnings})
	}
	return s
}

// The essential results are written out here, not in a generated file.
func TestScan(t *testing.T) {
	for _, test := range []struct {
		fixture string
		want    map[string]string // by name: id, transport and controllers
	}{
		{"virtio-vm", map[string]string{
			"vda":   "virtio_oudrtdjbhl virtio",
			"zram0": "name:zram0",
		}},
		{"nvme-slow-link", map[string]string{
			"nvme0n1": "eui.0025384a41500001 pcie nvme0",
			"nvme1n1": "eui.e8238fa6bf530001001b448b4a000002 pcie nvme1",
		}},
		{"nvme-multipath", map[string]string{
			"nvme0n1": "eui.8ce38e0100a1b2c3 pcie nvme0 nvme1",
			"nvme0n2": "eui.8ce38e0200a1b2c3 pcie nvme0 nvme1",
		}},
		{"nvme-cloned-serial", map[string]string{
			"nvme2n1": "NVMe_SSD_512GB_A1B2C3D4_ns1 pcie nvme2",
		}},
		{"nvme-tcp", map[string]string{
			"nvme3n1": "uuid.9d4c7a52-0000-4000-8000-000000000001 tcp nvme3 nvme10",
		}},
		{"scsi", map[string]string{
			"sda": "t10.ATA_Samsung_SSD_870_EVO_1TB_S6PTNS0T000001 sata",
			"sdb": "naa.5002538f02000001 sas",
			"sdc": "naa.5000c500a0000002 sas",
			"sr0": "name:sr0 sata",
		}},
		{"usb", map[string]string{
			"sda": "usb-SanDisk_Ultra_Fit_4C530001-0:0 usb",
			"sdb": "name:sdb usb",
			"sdc": "name:sdc usb",
		}},
		{"mmc", map[string]string{
			"mmcblk0": "DG4032_0x3f8a1b2c mmc",
			"mmcblk1": "mmc-SC64G_0x1234abcd mmc",
		}},
		{"md-raid1", map[string]string{
			"md0":     "md-uuid-1d9d3f2e6a0b4c5d8e7fa1b2c3d4e5f6",
			"nvme0n1": "eui.000000000000000100a0752236000101 pcie nvme0",
			"nvme1n1": "eui.000000000000000100a0752236000201 pcie nvme1",
		}},
		{"dm-crypt", map[string]string{
			"dm-0":    "dm-uuid-CRYPT-LUKS2-0123456789abcdef0123456789abcdef-luks-root",
			"dm-1":    "dm-uuid-LVM-AbCdEfroot",
			"dm-2":    "dm-uuid-LVM-AbCdEfswap",
			"nvme0n1": "eui.ace42e00250001 pcie nvme0",
		}},
		{"zoned", map[string]string{
			"nvme0n1": "uuid.5f0b6c1e-8d7a-4f3b-9c2d-0a1b2c3d4e5f pcie nvme0",
			"nvme0n2": "nvme.1b96-5a4e533030303031-575a53344338543454445350333033-00000002 pcie nvme0",
		}},
	} {
		t.Run(test.fixture, func(t *testing.T) {
			devices, _ := device.Scan(sysfstest.Unpack(t, "testdata/"+test.fixture+".txtar"))
			got := map[string]string{}
			for _, d := range devices {
				words := slices.Concat([]string{d.ID, d.Transport}, d.Controllers)
				got[d.Name] = strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestScanReadsAllOfADevice(t *testing.T) {
	devices, err := device.Scan(sysfstest.Unpack(t, "testdata/nvme-slow-link.txtar"))
	require.NoError(t, err)
	require.Len(t, devices, 2)
	assert.Equal(t, record.Device{
		ID: "eui.0025384a41500001", Name: "nvme0n1", Number: "259:0", Kind: record.KindDisk, Transport: "pcie",
		Model: "Samsung SSD 990 PRO 2TB", Serial: "S7DNNJ0WA00001A", WWID: "eui.0025384a41500001", Firmware: "4B2QJXD7",
		SizeBytes: 2000398934016, LogicalBlockBytes: 512, PhysicalBlockBytes: 512,
		NUMANode: -1, PCIAddress: "0000:01:00.0",
		Link:        &record.PCIeLink{CurrentGTs: 8, MaxGTs: 16, CurrentLanes: 2, MaxLanes: 4},
		Controllers: []string{"nvme0"},
		ByID:        []string{"nvme-Samsung_SSD_990_PRO_2TB_S7DNNJ0WA00001A", "nvme-eui.0025384a41500001"},
		Children:    []string{"nvme0n1p1", "nvme0n1p2"},
	}, devices[0])
	assert.Equal(t, &record.PCIeLink{CurrentGTs: 8, MaxGTs: 8, CurrentLanes: 4, MaxLanes: 4}, devices[1].Link,
		"the port cannot do what the drive could")
}

// The transport of a multipath namespace is that of the live controller.
func TestScanTakesTheLiveController(t *testing.T) {
	devices, err := device.Scan(sysfstest.Unpack(t, "testdata/nvme-multipath.txtar"))
	require.NoError(t, err)
	for _, d := range devices {
		assert.Equal(t, "0000:81:00.0", d.PCIAddress, d.Name)
		assert.Equal(t, 1, d.NUMANode)
		assert.Equal(t, 4096, d.LogicalBlockBytes)
	}
}

func TestScanOfManyDrives(t *testing.T) {
	fs := devicetest.Server{Sockets: 2, Cores: 16, Threads: 2, Drives: 12}.Make(t)
	picks, err := device.Choose(fs, nil, nil)
	require.NoError(t, err)
	require.Len(t, picks, 24)
	nodes, ids := map[int]int{}, map[string]bool{}
	for _, p := range picks {
		assert.Empty(t, p.Reason)
		assert.False(t, p.Device.Link.BelowMaximum())
		nodes[p.Device.NUMANode]++
		ids[p.Device.ID] = true
	}
	assert.Equal(t, map[int]int{0: 12, 1: 12}, nodes)
	assert.Len(t, ids, 24)
}

func TestScanOfNoMachine(t *testing.T) {
	devices, err := device.Scan(sysfs.New(t.TempDir()))
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.Nil(t, devices)
	picks, err := device.Choose(sysfs.New(t.TempDir()), nil, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.Nil(t, picks)
}

func TestScanOfNoDevices(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "sys/block"), 0o700))
	devices, err := device.Scan(sysfs.New(root))
	require.NoError(t, err)
	assert.Empty(t, devices)
	assert.NotNil(t, devices, "there are none, which is not the same as not known")
}

// An attribute that cannot be read does not hide the other devices, nor the device
// itself unless it affects the identity.
func TestScanWithBrokenDevices(t *testing.T) {
	files := map[string]string{
		"sys/devices/a/good/dev": "8:0\n", "sys/devices/a/good/size": "16\n",
		"sys/devices/a/odd/dev": "8:16\n", "sys/devices/a/odd/size": "16\n", "sys/devices/a/odd/queue/logical_block_size": "many\n",
		"sys/devices/a/bad/dev": "8:32\n", "sys/devices/a/bad/size": "-\n",
		"sys/devices/a/cciss!c0d0/dev": "104:0\n", "sys/devices/a/cciss!c0d0/size": "16\n",
		"sys/devices/a/cciss!c0d0/cciss!c0d0p1/partition": "1\n",
	}
	links := map[string]string{"sys/block/left": "../devices/a/left"}
	for _, name := range []string{"good", "odd", "bad", "cciss!c0d0"} {
		links["sys/block/"+name] = "../devices/a/" + name
	}
	devices, err := device.Scan(sysfstest.Make(t, files, links))
	var names []string
	for _, d := range devices {
		names = append(names, d.Name)
	}
	assert.Equal(t, []string{"cciss/c0d0", "good", "odd"}, names)
	assert.Equal(t, []string{"cciss/c0d0p1"}, devices[0].Children)
	require.ErrorContains(t, err, "read device odd: ")
	require.ErrorContains(t, err, "read device bad: ")
	assert.NotContains(t, err.Error(), "left", "a device that left is no error")
}

// A driver without a value answers EINVAL, a device that hangs EIO. The first is an
// absent attribute; after the second, the identity is unknown.
func TestScanDoesNotGuessAnIdentity(t *testing.T) {
	root := t.TempDir()
	sysfstest.Add(t, root, map[string]string{
		"sys/devices/0:0:0:0/block/sda/dev":  "8:0\n",
		"sys/devices/0:0:0:0/block/sda/size": "16\n",
		"sys/devices/0:0:0:0/model":          "Disk\n",
	}, map[string]string{
		"sys/block/sda":                        "../devices/0:0:0:0/block/sda",
		"sys/devices/0:0:0:0/subsystem":        "../../bus/scsi",
		"sys/devices/0:0:0:0/block/sda/device": "../../../0:0:0:0",
	})
	// Reading a directory answers EISDIR, which is neither absent nor EINVAL.
	require.NoError(t, os.Mkdir(filepath.Join(root, "sys/devices/0:0:0:0/wwid"), 0o700))
	devices, err := device.Scan(sysfs.New(root))
	require.ErrorIs(t, err, unix.EISDIR)
	assert.Empty(t, devices)
	_, err = device.Find(sysfs.New(root), "sda")
	require.ErrorIs(t, err, unix.EISDIR)
}
