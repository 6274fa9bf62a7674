package device_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestSelect(t *testing.T) {
	disk := func(name string) record.Device {
		return record.Device{Name: name, ID: "id-" + name, Model: "Model A", Kind: record.KindDisk, Transport: "pcie", SizeBytes: 100, ByID: []string{"x", "nvme-" + name}}
	}
	made := func(name string, kind record.Kind, members ...string) record.Device {
		return record.Device{Name: name, ID: "id-" + name, Kind: kind, SizeBytes: 100, Members: members}
	}
	kind := func(name string, kind record.Kind) record.Device { return made(name, kind) }
	turning := func(transport, wwid string, byID ...string) record.Device {
		return record.Device{Name: "sda", ID: "id-sda", Kind: record.KindDisk, Transport: transport, WWID: wwid, ByID: byID, SizeBytes: 100, Rotational: true}
	}
	still := turning("sata", "naa.5002538f02000001", "wwn-0x5002538f02000001")
	still.Rotational = false
	parted := disk("sdb")
	parted.Children = []string{"sdb1"}

	const noSize = "it has no size: it is not ready, or has blocks that the kernel cannot use, such as 520 bytes or metadata; the kernel log says which"
	const excluded = "excluded by the rule: "
	const hard = "a hard disk: probes would keep it from spinning down, and wear it"
	const named = "; watched only when an include rule names it"
	for _, test := range []struct {
		name             string
		devices          []record.Device
		include, exclude []device.Rule
		want             []string // reasons
	}{
		{"disks only, by default", []record.Device{
			disk("nvme0n1"), kind("loop0", record.KindLoop), kind("ram0", record.KindRAM), kind("zram0", record.KindZRAM),
			kind("sr0", record.KindOptical), kind("nbd0", record.KindNetwork), disk("fd0"), disk("zd16"), disk("mtdblock0"),
			made("dm-0", record.KindDM), made("bcache0", record.KindDisk, "sda", "sdb"), {Name: "sdx", Kind: record.KindDisk},
		}, nil, nil, []string{
			"", "a loop device: what is measured is the file below" + named, "it is memory" + named, "it is memory" + named,
			"an optical drive" + named, "a network device" + named, "a floppy drive" + named, "a ZFS volume, made of other devices" + named, "raw flash memory" + named,
			"made of other devices" + named, "made of sda, sdb" + named, noSize,
		}},
		{
			"hard disks, unless named", []record.Device{
				turning("sas", "naa.5000c500a0000002"), turning("sata", "t10.ATA     ST4000NM0035   ZC1", "ata-ST4000NM0035_ZC1", "wwn-0x5000c500a0000003"),
				turning("scsi", "naa.5000c500a0000004"), // passed through by a RAID controller, such as those of megaraid_sas
			}, nil, nil, []string{hard + named, hard + named, hard + named},
		},
		{
			"hard disks, by transport", []record.Device{turning("sas", "naa.5000c500a0000002")},
			[]device.Rule{{Transport: "sas"}}, nil, []string{hard + named},
		},
		{
			"hard disks, by name", []record.Device{turning("sas", "naa.5000c500a0000002")},
			[]device.Rule{{Name: "sd*"}}, nil, []string{""},
		},
		{
			"called rotational, for want of a word that they are not", []record.Device{
				turning("virtio", ""),
				turning("virtio", "naa.5000c500a0000002"), // given manually to a virtio-scsi disk
				turning("xen", ""),
				turning("sata", "t10.ATA     QEMU HARDDISK                           QM00001", "ata-QEMU_HARDDISK_QM00001"),
				turning("sas", "naa.6000c29a0000000000000000000001", "wwn-0x6000c29a0000000000000000000001"),  // VMware
				turning("scsi", "naa.600508b1001c000000000000000000", "wwn-0x600508b1001c000000000000000000"), // a volume of a RAID controller
				turning("usb", "naa.5000c500a0000002"), // the bridge may not pass on that it is an SSD
				still,
			}, nil, nil, []string{"", "", "", "", "", "", "", ""},
		},
		{
			"no size, though included", []record.Device{{Name: "sdx", Kind: record.KindDisk}},
			[]device.Rule{{Name: "sdx"}}, nil, []string{noSize},
		},
		{
			"no medium", []record.Device{{Name: "sdx", Kind: record.KindDisk, Removable: true}},
			nil, nil, []string{"it has no size: there is no medium in it"},
		},
		{
			"patterns", []record.Device{disk("nvme0n1"), disk("nvme1n1"), disk("sda")},
			[]device.Rule{{Name: "nvme*"}, {ID: "id-sd[a]"}},
			[]device.Rule{{ByID: "nvme-nvme1?1"}}, []string{"", excluded + "by-id nvme-nvme1?1", ""},
		},
		{
			"a slash is like any other character", []record.Device{
				{Name: "sdb", Model: "Generic- SD/MMC", Kind: record.KindDisk, SizeBytes: 100},
				{Name: "cciss/c0d0", Model: "PERC 6/i", Kind: record.KindDisk, SizeBytes: 100},
			},
			[]device.Rule{{Name: "*"}},
			[]device.Rule{{Model: "Generic*"}, {Name: "cciss/*", Model: "PERC 6?i"}},
			[]string{excluded + "model Generic*", excluded + "name cciss/*, model PERC 6?i"},
		},
		{
			"all that is set must match", []record.Device{disk("nvme0n1")},
			[]device.Rule{{Name: "nvme*", Model: "Model B"}, {Model: "Model *", Transport: "sata"}, {MinSizeBytes: 101}, {MaxSizeBytes: 99}},
			nil,
			[]string{"no include rule matches it"},
		},
		{
			"sizes, themselves included", []record.Device{disk("nvme0n1")},
			[]device.Rule{{MinSizeBytes: 100, MaxSizeBytes: 100}}, nil, []string{""},
		},
		{
			"empty and malformed rules match nothing", []record.Device{disk("nvme0n1")},
			nil,
			[]device.Rule{{}, {Name: "["}},
			[]string{""},
		},
		{
			"what excludes is told", []record.Device{disk("nvme0n1")},
			nil,
			[]device.Rule{{Transport: "sata"}, {Transport: "pcie", MinSizeBytes: 1, MaxSizeBytes: 2e12}},
			[]string{excluded + "transport pcie, at least 1 B, at most 2.00 TB"},
		},
		{
			"a rule on size names nothing", []record.Device{disk("sda"), made("dm-0", record.KindDM, "sda"), kind("loop0", record.KindLoop)},
			[]device.Rule{{MinSizeBytes: 1}}, nil,
			[]string{"", "made of sda" + named, "a loop device: what is measured is the file below" + named},
		},
		{
			"a loop device by name", []record.Device{kind("loop0", record.KindLoop)},
			[]device.Rule{{Name: "loop0"}}, nil, []string{""},
		},
		{
			"an array and not its members", []record.Device{made("md0", record.KindMD, "sda", "sdb1"), disk("sda"), parted, disk("sdc")},
			[]device.Rule{{Name: "*"}}, nil,
			[]string{"", "part of md0, which is watched", "part of md0, which is watched", ""},
		},
		{
			"the top of a stack only", []record.Device{disk("sda"), made("dm-0", record.KindDM, "sda"), made("dm-1", record.KindDM, "dm-0")},
			[]device.Rule{{Name: "*"}}, nil,
			[]string{"part of dm-1, which is watched", "part of dm-1, which is watched", ""},
		},
		{
			"members, when the array is excluded", []record.Device{made("md0", record.KindMD, "sda"), disk("sda")},
			[]device.Rule{{Name: "*"}},
			[]device.Rule{{Name: "md*"}},
			[]string{excluded + "name md*", ""},
		},
		{
			"through one that is not included", []record.Device{made("dm-1", record.KindDM, "dm-0"), made("dm-0", record.KindDM, "sda"), disk("sda")},
			[]device.Rule{{Name: "dm-1"}, {Name: "sda"}}, nil,
			[]string{"", "no include rule matches it", "part of dm-1, which is watched"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			picks := device.Select(test.devices, test.include, test.exclude)
			want := make([]device.Pick, len(test.devices))
			for i, d := range test.devices {
				want[i] = device.Pick{Device: d, Reason: test.want[i]}
			}
			assert.Equal(t, want, picks)
		})
	}
}

func TestRuleSaysWhatItAsksFor(t *testing.T) {
	assert.Equal(t, "name nvme*, id eui.*, model M, by-id b, transport pcie, at least 1.00 TB, at most 2.00 TB", device.Rule{
		Name: "nvme*", ID: "eui.*", Model: "M", ByID: "b", Transport: "pcie", MinSizeBytes: 1e12, MaxSizeBytes: 2e12,
	}.String())
}

// Several devices may claim one identity if they are paths of one multipath device, or if the rules
// leave only one of them.
func TestChooseAmongThoseOfOneIdentity(t *testing.T) {
	a, b, c := built{name: "sda", wwid: "naa.6001"}, built{name: "sdb", wwid: "naa.6001"}, built{name: "sdc", wwid: "naa.6001"}
	paths := dm("dm-0", "mpath-36001", "mpatha", "sda", "sdb")
	const path = "a path of dm-0, which is watched when an include rule names it"
	const part = "part of dm-0, which is watched"
	const made = "made of sda, sdb; watched only when an include rule names it"
	const excludedB, excluded = "excluded by the rule: name sdb", "excluded by the rule: name sd*"
	for _, test := range []struct {
		name             string
		devices          []built
		include, exclude []device.Rule
		want             map[string]string // reasons, without the devices that are refused
		refused          string
	}{
		{"paths", []built{a, b, paths}, nil, nil, map[string]string{"dm-0": made, "sda": path, "sdb": path}, ""},
		{"paths of a watched device", []built{a, b, paths}, []device.Rule{{Name: "*"}}, nil, map[string]string{"dm-0": "", "sda": part, "sdb": part}, ""},
		{"excluded paths", []built{a, b, paths}, nil, []device.Rule{{Name: "sd*"}}, map[string]string{"dm-0": made, "sda": excluded, "sdb": excluded}, ""},
		{"a path that is not in use yet", []built{a, b, c, paths}, []device.Rule{{Name: "*"}}, nil, map[string]string{"dm-0": "", "sda": part, "sdb": part}, "sda (1.05 MB) and by sdb (1.05 MB) and by sdc (1.05 MB);"},
		{"all but one excluded", []built{a, b}, nil, []device.Rule{{Name: "sdb"}}, map[string]string{"sda": "", "sdb": excludedB}, ""},
		{"all excluded", []built{a, b, c}, nil, []device.Rule{{Name: "sd*"}}, map[string]string{"sda": excluded, "sdb": excluded, "sdc": excluded}, ""},
		{"two are left", []built{a, b, c}, nil, []device.Rule{{Name: "sdb"}}, map[string]string{"sdb": excludedB}, "sda (1.05 MB) and by sdc (1.05 MB);"},
		{"copies", []built{a, b}, nil, nil, map[string]string{}, "sda (1.05 MB) and by sdb (1.05 MB);"},
		{"copies in an array", []built{a, b, md("md0", "raid1", "sda", "sdb")}, nil, nil, map[string]string{"md0": made}, "sda (1.05 MB) and by sdb (1.05 MB);"},
	} {
		t.Run(test.name, func(t *testing.T) {
			fs := build(t, test.devices...)
			picks, err := device.Choose(fs, test.include, test.exclude)
			got := map[string]string{}
			for _, p := range picks {
				got[p.Device.Name] = p.Reason
			}
			assert.Equal(t, test.want, got)
			if test.refused == "" {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, device.ErrAmbiguousID)
				require.ErrorContains(t, err, "ambiguous identity naa.6001: claimed by "+test.refused)
				assert.NotContains(t, err.Error(), "\n", "told once")
			}
			_, err = device.Find(fs, "naa.6001")
			require.ErrorIs(t, err, device.ErrAmbiguousID, "which of them is not said")
		})
	}
}

func TestScanLeavesOutPaths(t *testing.T) {
	devices, err := device.Scan(build(t, built{name: "sda", wwid: "naa.6001"}, built{name: "sdb", wwid: "naa.6001"}, dm("dm-0", "mpath-36001", "mpatha", "sda", "sdb")))
	require.NoError(t, err)
	require.Len(t, devices, 1)
	assert.Equal(t, []string{"sda", "sdb"}, devices[0].Members)
}
