package device_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func TestConditions(t *testing.T) {
	for _, test := range []struct {
		fixture, name string
		want          record.Conditions
		warnings      []string
	}{
		{"nvme-slow-link", "nvme0n1", record.Conditions{
			Model: "Samsung SSD 990 PRO 2TB", Firmware: "4B2QJXD7", Transport: "pcie", Format: record.BlockFormat{LogicalBytes: 512, PhysicalBytes: 512},
			PCIeLink: record.LinkRate{GTs: 8, Lanes: 2}, ASPM: record.ASPM{States: "L1", Policy: "default"}, Scheduler: "none", NrRequests: record.NumberOf(1023), WriteCache: "write through",
			Polling: record.Polling{Mode: record.Off}, Governor: "powersave (preference balance_performance)", Kernel: "6.8.0-45-generic",
		}, []string{record.WarnLinkBelowMaximum}},
		{"nvme-slow-link", "nvme1n1", record.Conditions{
			Model: "WD_BLACK SN850X 1000GB", Firmware: "620361WD", Transport: "pcie", Format: record.BlockFormat{LogicalBytes: 512, PhysicalBytes: 512},
			PCIeLink: record.LinkRate{GTs: 8, Lanes: 4}, ASPM: record.ASPM{States: "off", Policy: "default"}, Scheduler: "none", NrRequests: record.NumberOf(1023), WriteCache: "write through",
			Polling: record.Polling{Mode: record.On, Queues: record.NumberOf(4)}, Governor: "powersave (preference balance_performance)", Kernel: "6.8.0-45-generic",
		}, nil},
		{"nvme-multipath", "nvme0n1", record.Conditions{ // scheduler and requests are those of the path
			Model: "KIOXIA KCM71RUG3T84", Firmware: "0105", Transport: "pcie", Format: record.BlockFormat{LogicalBytes: 4096, PhysicalBytes: 4096},
			PCIeLink: record.LinkRate{GTs: 32, Lanes: 2}, NUMANode: record.NumberOf(1), Scheduler: "mq-deadline", NrRequests: record.NumberOf(255), WriteCache: "write through",
			Polling: record.Polling{Mode: record.Off}, Kernel: "6.8.0-45-generic",
		}, nil},
		{"zoned", "nvme0n1", record.Conditions{ // the link is down
			Model: "WZS4C8T4TDSP303", Firmware: "R2210000", Transport: "pcie",
			Format: record.BlockFormat{LogicalBytes: 4096, PhysicalBytes: 4096, MetadataBytes: 8, Protection: "T10-DIF-TYPE1-CRC"}, NUMANode: record.NumberOf(0), Scheduler: "mq-deadline",
			NrRequests: record.NumberOf(1023), WriteCache: "write through", Polling: record.Polling{Mode: record.Off}, Kernel: "6.8.0-45-generic",
		}, nil},
		{"md-raid1", "md0", record.Conditions{
			Model: "raid1", Format: record.BlockFormat{LogicalBytes: 512, PhysicalBytes: 512}, Scheduler: "none", NrRequests: record.NumberOf(128), WriteCache: "write back", Polling: record.Polling{Mode: record.Off},
			Governor: "mixed: performance on 2 CPUs, powersave on 6 CPUs", Kernel: "6.8.0-45-generic",
			Stack: "raid1 on eui.000000000000000100a0752236000101, eui.000000000000000100a0752236000201",
		}, []string{record.WarnStacked, record.WarnGovernor}},
		{"nvme-tcp", "nvme3n1", record.Conditions{
			Model: "Linux", Firmware: "6.8.0-45", Transport: "tcp", Format: record.BlockFormat{LogicalBytes: 512, PhysicalBytes: 512}, Scheduler: "none", NrRequests: record.NumberOf(127),
			WriteCache: "write through", Polling: record.Polling{Mode: record.Off}, Kernel: "6.8.0-45-generic",
		}, []string{record.WarnRemote}},
		{"virtio-vm", "vda", record.Conditions{
			Transport: "virtio", Format: record.BlockFormat{LogicalBytes: 512, PhysicalBytes: 4096}, Scheduler: "mq-deadline", NrRequests: record.NumberOf(256), WriteCache: "write back",
			Polling: record.Polling{Mode: record.Off}, Kernel: "6.18.44-fc-v657",
		}, nil},
	} {
		t.Run(test.fixture+"/"+test.name, func(t *testing.T) {
			fs := sysfstest.Unpack(t, "testdata/"+test.fixture+".txtar")
			dev, err := device.Find(fs, test.name)
			require.NoError(t, err)
			got, warnings, err := device.Conditions(fs, dev)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
			assert.Equal(t, test.warnings, codes(warnings))
		})
	}
}

func TestWarningsOfADevice(t *testing.T) {
	fs := sysfstest.Make(t, map[string]string{"sys/block/x/size": "1"}, nil)
	for _, test := range []struct {
		name string
		dev  record.Device
		want []record.Warning
	}{
		{"none", record.Device{ID: "eui.1", Link: &record.PCIeLink{CurrentGTs: 8, MaxGTs: 8, CurrentLanes: 4, MaxLanes: 4}}, nil},
		{"narrow link", record.Device{ID: "eui.1", PCIAddress: "0000:01:00.0", Link: &record.PCIeLink{CurrentGTs: 8, MaxGTs: 8, CurrentLanes: 1, MaxLanes: 4}}, []record.Warning{{
			Code: record.WarnLinkBelowMaximum,
			Text: "the PCIe link runs at 8 GT/s x1 although both ends can do 8 GT/s x4",
		}}},
		{"no identity", record.Device{ID: "path:pci-0000:01:00.0"}, []record.Warning{{
			Code: record.WarnIdentity,
			Text: "no wwid, no serial number and no name of its own in /dev/disk/by-id: another drive in the same place is not noticed",
		}}},
		{"over a network", record.Device{ID: "uuid.1", Transport: "rdma"}, []record.Warning{{
			Code: record.WarnRemote, Text: "reached over a network (rdma), which is measured along with the drive",
		}}},
		{"a network block device", record.Device{ID: "uuid.1", Kind: record.KindNetwork}, []record.Warning{{
			Code: record.WarnRemote, Text: "reached over a network, which is measured along with the drive",
		}}},
		{"a loop device", record.Device{ID: "uuid.1", Kind: record.KindLoop}, []record.Warning{{
			Code: record.WarnStacked, Text: "made of a file: what is measured is its filesystem and the device below",
		}}},
		{"a stack", record.Device{ID: "uuid.1", Model: "raid1", Kind: record.KindMD, Members: []string{"a", "b"}}, []record.Warning{{
			Code: record.WarnStacked, Text: "x (raid1) on a, b: what is measured is all of them together",
		}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.dev.Name = "x"
			_, warnings, err := device.Conditions(fs, test.dev)
			require.NoError(t, err)
			assert.Equal(t, test.want, warnings)
		})
	}
}

// Since Linux 5.19, nothing can be read of a policy whose CPUs are all offline.
func TestGovernorBesideOfflineCPUs(t *testing.T) {
	offline := testenv.RemoteFile(t)
	offline.FailReads(unix.EBUSY)
	const policies = "sys/devices/system/cpu/cpufreq/policy"
	files := map[string]string{"sys/block/x/size": "1"}
	for name, value := range map[string]string{"affected_cpus": "0", "scaling_governor": "performance", "scaling_driver": "acpi-cpufreq"} {
		files[policies+"0/"+name] = value + "\n"
	}
	links := map[string]string{}
	for _, name := range []string{"affected_cpus", "scaling_governor", "scaling_driver"} {
		links[policies+"1/"+name] = offline.Path
	}
	conditions, warnings, err := device.Conditions(sysfstest.Make(t, files, links), record.Device{Name: "x", ID: "eui.1", NUMANode: -1})
	require.NoError(t, err)
	assert.Equal(t, record.Conditions{Governor: "performance"}, conditions)
	assert.Empty(t, warnings)
}

func TestGovernor(t *testing.T) {
	type policy struct{ cpus, governor, driver, preference string }
	for _, test := range []struct {
		name     string
		policies []policy
		want     string
		warning  string
	}{
		{"none, as in a virtual machine", nil, "", ""},
		{"performance", []policy{{"0 1", "performance", "acpi-cpufreq", ""}, {"2 3", "performance", "acpi-cpufreq", ""}}, "performance", ""},
		{"offline CPUs do not count", []policy{{"0", "performance", "acpi-cpufreq", ""}, {"", "powersave", "acpi-cpufreq", ""}}, "performance", ""},
		{"powersave", []policy{{"0 1", "powersave", "intel_cpufreq", ""}}, "powersave",
			"the governor of 2 of 2 CPUs saves power (powersave), which makes each I/O slower"},
		{"the default of intel_pstate", []policy{{"0", "powersave", "intel_pstate", "balance_power"}}, "powersave (preference balance_power)", ""},
		{"intel_pstate on a processor without HWP", []policy{{"0", "powersave", "intel_pstate", ""}}, "powersave", ""},
		{"the default of amd-pstate", []policy{{"0", "powersave", "amd-pstate-epp", "balance_performance"}}, "powersave (preference balance_performance)", ""},
		{"told to save power", []policy{{"0", "powersave", "intel_pstate", "power"}}, "powersave (preference power)",
			"the governor of 1 of 1 CPUs saves power (powersave (preference power)), which makes each I/O slower"},
		{"mixed", []policy{{"0", "schedutil", "cpufreq-dt", ""}, {"1 2 3", "powersave", "cpufreq-dt", ""}}, "mixed: powersave on 3 CPUs, schedutil on 1 CPUs",
			"the governor of 3 of 4 CPUs saves power (mixed: powersave on 3 CPUs, schedutil on 1 CPUs), which makes each I/O slower"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{"sys/block/x/size": "1", "sys/devices/system/cpu/cpufreq/boost": "1"}
			for i, p := range test.policies {
				dir := "sys/devices/system/cpu/cpufreq/policy" + string(rune('0'+i)) + "/"
				files[dir+"affected_cpus"] = p.cpus + "\n"
				files[dir+"scaling_governor"] = p.governor + "\n"
				files[dir+"scaling_driver"] = p.driver + "\n"
				if p.preference != "" {
					files[dir+"energy_performance_preference"] = p.preference + "\n"
				}
			}
			conditions, warnings, err := device.Conditions(sysfstest.Make(t, files, nil), record.Device{Name: "x", ID: "eui.1", NUMANode: -1})
			require.NoError(t, err)
			assert.Equal(t, record.Conditions{Governor: test.want}, conditions)
			var want []record.Warning
			if test.warning != "" {
				want = []record.Warning{{Code: record.WarnGovernor, Text: test.warning}}
			}
			assert.Equal(t, want, warnings)
		})
	}
}

func TestConditionsOfWhatIsGone(t *testing.T) {
	_, _, err := device.Conditions(sysfs.New(t.TempDir()), record.Device{Name: "sda"})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// The error reports what cannot be read; the rest is still returned.
func TestConditionsInPart(t *testing.T) {
	root := t.TempDir()
	sysfstest.Add(t, root, map[string]string{"sys/block/x/queue/nr_requests": "64\n"}, nil)
	require.NoError(t, os.Mkdir(filepath.Join(root, "sys/block/x/queue/scheduler"), 0o700)) // reading answers EISDIR
	got, _, err := device.Conditions(sysfs.New(root), record.Device{Name: "x", ID: "eui.1", NUMANode: -1})
	require.ErrorIs(t, err, unix.EISDIR)
	require.ErrorContains(t, err, "read conditions of x: ")
	assert.Equal(t, record.Conditions{NrRequests: record.NumberOf(64)}, got)
}
