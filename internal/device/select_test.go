package device_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

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
	parted := disk("sdb")
	parted.Children = []string{"sdb1"}

	const excluded = "excluded by the rule: "
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
			"made of other devices" + named, "made of sda, sdb" + named, "it has no size: there is no medium in it",
		}},
		{
			"no size, though included", []record.Device{{Name: "sdx", Kind: record.KindDisk}},
			[]device.Rule{{Name: "sdx"}}, nil, []string{"it has no size: there is no medium in it"},
		},
		{
			"patterns", []record.Device{disk("nvme0n1"), disk("nvme1n1"), disk("sda")},
			[]device.Rule{{Name: "nvme*"}, {ID: "id-sd[a]"}},
			[]device.Rule{{ByID: "nvme-nvme1?1"}}, []string{"", excluded + "by-id nvme-nvme1?1", ""},
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
			[]string{excluded + "transport pcie, at least 1 B, at most 2.0 TB"},
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
	assert.Equal(t, "name nvme*, id eui.*, model M, by-id b, transport pcie, at least 1.0 TB, at most 2.0 TB", device.Rule{
		Name: "nvme*", ID: "eui.*", Model: "M", ByID: "b", Transport: "pcie", MinSizeBytes: 1e12, MaxSizeBytes: 2e12,
	}.String())
}
