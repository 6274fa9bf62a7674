package device

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/moby/sys/mountinfo"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

func TestParseGTs(t *testing.T) {
	for text, want := range map[string]float64{
		"2.5 GT/s PCIe": 2.5, "5.0 GT/s PCIe": 5, "8.0 GT/s PCIe": 8, "8 GT/s": 8, "16.0 GT/s PCIe": 16, "64.0 GT/s PCIe": 64,
	} {
		got, ok := parseGTs(text)
		assert.True(t, ok, text)
		assert.InDelta(t, want, got, 0, text)
	}
	for _, text := range []string{"", "Unknown", "Unknown speed", "8.0", "8.0 MT/s", "0 GT/s", "-8 GT/s", "NaN GT/s", "Inf GT/s", "1e9 GT/s", "8.0 GT/s PCIe x4"} {
		_, ok := parseGTs(text)
		assert.False(t, ok, text)
	}
}

func TestParseLanes(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "4": 4, "16": 16, "32": 32} {
		got, ok := parseLanes(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "0", "33", "63", "255", "-1", "x4", "4.0"} {
		_, ok := parseLanes(text)
		assert.False(t, ok, text)
	}
}

func TestSelected(t *testing.T) {
	for text, want := range map[string]string{
		"[none] mq-deadline kyber bfq": "none", "none [mq-deadline] kyber": "mq-deadline", "none": "none",
		"[default] performance": "default", "": "", "mq-deadline none": "", "[[none": "", "a [b c": "", "[a b]": "", "a [] b": "",
	} {
		assert.Equal(t, want, selected(text), text)
	}
}

func TestIsPCIAddress(t *testing.T) {
	for _, name := range []string{"0000:01:00.0", "10000:e1:00.0", "ffff:ff:1f.7"} {
		assert.True(t, isPCIAddress(name), name)
	}
	for _, name := range []string{"", "pci0000:00", "01:00.0", "0000:01:00", "0000:1:00.0", "0000:01:00.10", "0000:01:0g.0", "0:0:0:0", "0000:01:00.0x", "2-1:1.0", "000:01:00.0"} {
		assert.False(t, isPCIAddress(name), name)
	}
}

func TestSCSITransport(t *testing.T) {
	for dir, want := range map[string]string{
		"/sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda":                                 "sata",
		"/sys/devices/pci0000:00/0000:00:01.0/host2/port-2:0/expander-2:0/port-2:0:1/end_device-2:0:1/target/0/block/a": "sas",
		"/sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host4/target4:0:0/4:0:0:0/block/sda":                     "usb",
		"/sys/devices/pci0000:00/0000:00:01.0/host3/rport-3:0-1/target3:0:0/3:0:0:0/block/sda":                          "fc",
		"/sys/devices/platform/host5/session1/target5:0:0/5:0:0:0/block/sda":                                            "tcp",
		"/sys/devices/pci0000:00/0000:00:05.0/virtio2/host0/target0:0:0/0:0:0:0/block/sda":                              "virtio",
		"/sys/devices/pci0000:00/0000:00:10.0/host2/target2:0:0/2:0:0:0/block/sda":                                      "scsi",
	} {
		assert.Equal(t, want, scsiTransport(dir), dir)
		assert.Contains(t, record.Transports(), want)
	}
}

func TestUnitSerial(t *testing.T) {
	page := func(length byte, text string) []byte { return append([]byte{0, 0x80, 0, length}, text...) }
	for _, test := range []struct {
		name string
		page []byte
		want string
	}{
		{"padded in front", page(12, "    WD-WX123"), "WD-WX123"},
		{"padded behind", page(12, "S1\x00\x00        "), "S1"},
		{"longer than it says", page(2, "S1garbage"), "S1"},
		{"shorter than it says", page(20, "S1"), "S1"},
		{"with a tab", page(4, "S\t 1"), "S 1"},
		{"blank", page(4, "    "), ""},
		{"another page", []byte{0, 0x83, 0, 2, 'S', '1'}, ""},
		{"cut short", []byte{0, 0x80, 0}, ""},
		{"absent", nil, ""},
	} {
		assert.Equal(t, test.want, unitSerial(test.page), test.name)
	}
}

func TestWWID(t *testing.T) {
	for text, want := range map[string]string{
		"eui.0025384a41500001":                      "eui.0025384a41500001",
		"naa.5002538f02000001\n":                    "naa.5002538f02000001",
		"eui.0000000000000000":                      "",
		"naa.0000000000000000":                      "",
		"uuid.00000000-0000-0000-0000-000000000000": "",
		"":                                     "",
		"t10.ATA     Samsung SSD    S6PT \x00": "t10.ATA_Samsung_SSD_S6PT",
		"nvme.144d-53310000-4d6f64656c2020-00000001":       "nvme.144d-5331-4d6f64656c-00000001",
		"nvme.144d-5330-4d30-00000001":                     "nvme.144d-5330-4d30-00000001",
		"nvme.1234-202020-20-00000001":                     "nvme.1234---00000001",
		"nvme.odd":                                         "nvme.odd",
		"nvme.0001-53312020-4d6f64656c20202020202-0000001": "nvme.0001-5331-4d6f64656c20202020202-0000001",
	} {
		assert.Equal(t, want, wwid(text), text)
	}
}

func TestSerialThatStandsForNone(t *testing.T) {
	for _, text := range []string{"", "0000000000", "0x00000000", "0", "- -"} {
		assert.Empty(t, serial(text), text)
	}
	for _, text := range []string{"S1", "0x00000001", "00000000a"} {
		assert.Equal(t, text, serial(text))
	}
}

// Baselines are stored by identity, so the usual texts of the kernel and of makers must keep the
// identity they have always had. Invisible and non-ASCII characters keep drives apart.
func TestIdentitiesStay(t *testing.T) {
	identityOf := func(wwidText, serialText string) (string, string) {
		a := &attributes{fs: sysfstest.Make(t, map[string]string{
			"sys/block/x/wwid": wwidText + "\n", "sys/block/x/serial": serialText + "\n",
		}, nil), dir: "/sys/block/x"}
		id := wwid(a.words("wwid"))
		require.NoError(t, a.err("x"))
		return id, identity(record.Device{Model: "M", Serial: a.words("serial")}, "x")
	}
	for text, want := range map[string]string{
		`ATA ACME/X 5% S1\000\000`: "ATA_ACME_X_5%_S1_000_000", // as the kernel writes NUL: %*pE in scsi_vpd_lun_id
		"ATA     MODEL   S1  ":     "ATA_MODEL_S1",
		"a\tb":                     "a_b",
		"a\"b'c`d$e\\f":            "a_b_c_d_e_f",
		"a\u202eb":                 "a%5Cu202eb",
		`a\u202eb`:                 "a_u202eb",
		"a%5Cu202eb":               "a%255Cu202eb",
		"a\x01b":                   "a%5Cx01b",
		"a_b":                      "a_b",
		"aüb":                      "a%C3%BCb",
		"a\xffb":                   "a%5Cxffb",
	} {
		id, bySerial := identityOf("t10."+text, text)
		assert.Equal(t, "t10."+want, id, text)
		assert.Equal(t, "M_"+want, bySerial, text)
	}
}

// Each step of the choice, from identities that belong to the drive to those that do not.
func TestIdentity(t *testing.T) {
	d := record.Device{
		Name: "nvme0n2", Transport: "pcie", Controllers: []string{"nvme0"}, PCIAddress: "0000:01:00.0",
		Model: "Model X", Serial: "S 1", WWID: "eui.1",
		ByID: []string{"lvm-pv-uuid-1", "nvme-Model", "wwn-1"},
	}
	var ids []string
	for _, forget := range []func(){
		func() {}, func() { d.WWID = "" }, func() { d.Model = "" }, func() { d.Serial = "" }, func() { d.ByID = d.ByID[:1] }, func() { d.PCIAddress = "" },
	} {
		forget()
		ids = append(ids, identity(d, d.Name))
	}
	assert.Equal(t, []string{"eui.1", "Model_X_S_1_ns2", "pcie_S_1_ns2", "wwn-1", "path:pci-0000:01:00.0-ns2", "name:nvme0n2"}, ids)
	for i, id := range ids {
		assert.Equal(t, i < 4, stable(id), id)
	}
	vda := record.Device{Name: "vda", Transport: "virtio", PCIAddress: "0000:00:04.0"}
	assert.Equal(t, "path:pci-0000:00:04.0", identity(vda, "vda"))
	sda := record.Device{Name: "sda", Transport: "virtio", PCIAddress: "0000:00:04.0"}
	assert.Equal(t, "name:sda", identity(sda, "sda"), "an adapter may have several disks")
}

// The directory of a path determines its controller, whatever the number in its name: nvme0c1n1 is
// a path of nvme0 here, because Linux 4.15 to 5.1 use the CNTLID.
func TestPathsOf(t *testing.T) {
	files, links := map[string]string{}, map[string]string{}
	for name, controller := range map[string]string{
		"nvme0c1n1": "nvme0", "nvme0c0n1": "nvme2", "nvme0c33n1": "nvme10",
		"nvme0c2n11": "nvme1", "nvme1c1n1": "nvme1", "nvme0cXn1": "nvme1", "nvme0n1": "nvme-subsys0", "sda": "nvme1", "nvme0c4n1": "elsewhere",
	} {
		files["sys/devices/"+controller+"/"+name+"/queue/scheduler"] = "[" + controller + "]\n"
		links["sys/block/"+name] = "../devices/" + controller + "/" + name
	}
	files["sys/devices/nvme0/transport"] = "pcie\n"
	files["sys/devices/nvme0/state"] = "live\n"
	links["sys/devices/nvme-subsys0/nvme0n1/device"] = ".."
	links["sys/devices/nvme-subsys0/subsystem"] = "../../class/nvme-subsystem"
	a := &attributes{fs: sysfstest.Make(t, files, links), dir: "/sys/devices/nvme-subsys0/nvme0n1"}
	assert.Equal(t, []string{"/sys/devices/nvme0/nvme0c1n1", "/sys/devices/nvme2/nvme0c0n1", "/sys/devices/nvme10/nvme0c33n1"}, pathsOf(a, "nvme0n1"))
	assert.Empty(t, pathsOf(a, "sda"))

	d := record.Device{Name: "nvme0n1"}
	assert.Equal(t, "/sys/devices/nvme0", readNVMe(a, "nvme0n1", &d))
	assert.Equal(t, []string{"nvme0", "nvme2", "nvme10"}, d.Controllers)
	assert.Equal(t, "pcie", d.Transport)
	assert.Equal(t, "nvme0", selected(a.queue(d).text("queue/scheduler")))
	assert.NoError(t, a.err("nvme0n1"))
}

func FuzzLink(f *testing.F) {
	for _, seed := range []string{"8.0 GT/s PCIe", "Unknown", "2.5 GT/s", "255", "4", "1e3 GT/s", "0x1p3 GT/s", "NaN GT/s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		gts, ok := parseGTs(text)
		require.Equal(t, ok, gts > 0 && gts < 1024 && !math.IsNaN(gts), "%q", text)
		lanes, ok := parseLanes(text)
		require.Equal(t, ok, lanes >= 1 && lanes <= 32, "%q", text)
	})
}

func FuzzSelected(f *testing.F) {
	for _, seed := range []string{"[none] mq-deadline", "none", "", "]a[", "[[a]]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := selected(text)
		require.Contains(t, text, got)
		require.False(t, strings.ContainsAny(got, "[] "), "%q", got)
	})
}

func FuzzCPUList(f *testing.F) {
	for _, seed := range []string{"0-3,8,10-11", "", "0", "5-1", "0-99999999", "1,1,1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cpus, err := parseCPUList(text)
		if err != nil {
			require.Empty(t, cpus)
			return
		}
		require.True(t, slices.IsSorted(cpus))
		require.Len(t, slices.Compact(slices.Clone(cpus)), len(cpus))
	})
}

func FuzzUnitSerial(f *testing.F) {
	f.Add([]byte{0, 0x80, 0, 2, 'S', '1'})
	f.Add([]byte{0, 0x80, 0xff, 0xff})
	f.Add([]byte{0, 0x80, 0, 1, 0x7f})
	f.Fuzz(func(t *testing.T, page []byte) {
		// An invisible byte is escaped as four characters.
		require.LessOrEqual(t, len(unitSerial(page)), 4*max(0, len(page)-4))
	})
}

func FuzzIdentifiers(f *testing.F) {
	f.Add("nvme.144d-53310000-4d6f64656c2020-00000001")
	f.Add("t10.ATA     Samsung SSD")
	f.Add("eui.0000")
	f.Fuzz(func(t *testing.T, text string) {
		id := wwid(text)
		require.True(t, urlEscape.MatchString(id) || id == wwid(id), "one spelling")
		require.NotContains(t, id, " ")
		require.NotContains(t, id, "/")
		for _, r := range safe(text) {
			require.True(t, r > ' ' && r <= '~')
		}
	})
}

func FuzzMounts(f *testing.F) {
	f.Add("1 0 0:1 / / rw - ext4 a rw\n2 1 8:1 /x /a\\040b rw shared:1 - xfs /dev/sda1 rw,noquota\n", "/a b/c")
	f.Add("1 2 0:1 / / rw - ext4 a rw\n2 1 0:1 / / rw - ext4 a rw\n", "/")
	f.Add("1 1 0:1 / /x rw - ext4 a rw\n", "/y")
	f.Add("1 1 0:1 / / w,,,,,, - ext4 a rw,,w\n", "/y")
	f.Fuzz(func(t *testing.T, text, path string) {
		mounts, err := mountinfo.GetMountsFromReader(strings.NewReader(text), nil)
		if err != nil {
			return
		}
		m, ok := walk(mounts, path)
		if ok {
			require.True(t, Inside(m.Mountpoint, path))
			options := strings.Split(mountOptions(m), ",")
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(options))), len(options), "each once")
			require.True(t, len(options) == 1 || !slices.Contains(options, ""))
		}
	})
}
