package device_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// lsblkDevice is what util-linux reports about a device, as an independent reference.
type lsblkDevice struct {
	Name    string `json:"name"`
	Number  string `json:"maj:min"`
	Size    int64  `json:"size"`
	ReadOn  bool   `json:"ro"`
	Remov   bool   `json:"rm"`
	Rota    bool   `json:"rota"`
	Logical int    `json:"log-sec"`
	Phys    int    `json:"phy-sec"`
	Sched   string `json:"sched"`
}

func lsblk(t *testing.T, args ...string) []lsblkDevice {
	t.Helper()
	args = append([]string{"--json", "-b", "-d", "-o", "NAME,MAJ:MIN,SIZE,RO,RM,ROTA,LOG-SEC,PHY-SEC,SCHED"}, args...)
	out, err := exec.CommandContext(t.Context(), "lsblk", args...).Output()
	require.NoError(t, err)
	var list struct {
		Devices []lsblkDevice `json:"blockdevices"`
	}
	require.NoError(t, json.Unmarshal(out, &list))
	return list.Devices
}

// TestThisMachine compares the devices of this machine with lsblk.
func TestThisMachine(t *testing.T) {
	fs := sysfs.New("/")
	// Loop devices and compressed memory are left out: others attach and detach them meanwhile.
	witness := slices.DeleteFunc(lsblk(t, "--exclude", "7"), func(d lsblkDevice) bool { return strings.HasPrefix(d.Name, "zram") })
	require.NotEmpty(t, witness)
	for _, want := range witness {
		t.Run(want.Name, func(t *testing.T) { assertSame(t, fs, want) })
	}
}

func assertSame(t *testing.T, fs sysfs.FS, want lsblkDevice) {
	t.Helper()
	d, err := device.Find(fs, want.Number)
	require.NoError(t, err)
	conditions, _, err := device.Conditions(fs, d)
	require.NoError(t, err)
	assert.Equal(t, want, lsblkDevice{
		d.Name, d.Number, d.SizeBytes, d.ReadOnly, d.Removable, d.Rotational, d.LogicalBlockBytes, d.PhysicalBlockBytes, conditions.Scheduler,
	})
}

// TestLoopDevice attaches a loop device, read-only and with 4 KiB blocks.
func TestLoopDevice(t *testing.T) {
	file := filepath.Join(t.TempDir(), "image")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Truncate(file, 8<<20))
	node := testenv.Losetup(t, "--find", "--show", "--read-only", "--sector-size", "4096", file)
	t.Cleanup(func() { testenv.Losetup(t, "--detach", node) })

	d, err := device.Find(sysfs.New("/"), node)
	require.NoError(t, err)
	name := filepath.Base(node)
	assert.Equal(t, record.Device{
		ID: "name:" + name, Name: name, Number: d.Number, Kind: record.KindLoop, SizeBytes: 8 << 20,
		LogicalBlockBytes: 4096, PhysicalBlockBytes: 4096, ReadOnly: true, Rotational: d.Rotational, NUMANode: -1,
	}, d)
	assertSame(t, sysfs.New("/"), lsblk(t, node)[0])
	pick := device.Select([]record.Device{d}, nil, nil)
	assert.Equal(t, "a loop device: what is measured is the file below; watched only when an include rule names it", pick[0].Reason)
}

// TestBelowThisDirectory compares with findmnt.
func TestBelowThisDirectory(t *testing.T) {
	for _, path := range []string{t.TempDir(), "/", "/proc/self", "/dev"} {
		out, err := exec.CommandContext(t.Context(), "findmnt", "--json", "--first-only", "-o", "FSTYPE,MAJ:MIN,VFS-OPTIONS,FS-OPTIONS", "--target", path).Output()
		require.NoError(t, err)
		var list struct {
			Filesystems []struct {
				Type   string `json:"fstype"`
				Number string `json:"maj:min"`
				VFS    string `json:"vfs-options"`
				FS     string `json:"fs-options"`
			} `json:"filesystems"`
		}
		require.NoError(t, json.Unmarshal(out, &list))
		require.Len(t, list.Filesystems, 1)
		want := list.Filesystems[0]

		got, err := device.NewFilesystems(sysfs.New("/")).BelowFile(filepath.Join(path, "not-yet", "there"))
		require.NoError(t, err)
		assert.Equal(t, want.Type, got.Conditions.Filesystem, path)
		for option := range strings.SplitSeq(want.VFS+","+want.FS, ",") {
			assert.Contains(t, strings.Split(got.Conditions.MountOptions, ","), option, path)
		}
		if strings.HasPrefix(want.Number, "0:") {
			assert.Contains(t, codes(got.Warnings), record.WarnFilesystemUnknown)
			assert.Empty(t, got.Device)
			continue
		}
		// The disk that lsblk finds at the bottom, going from the filesystem's device down.
		link, err := os.Readlink("/sys/dev/block/" + want.Number)
		require.NoError(t, err)
		out, err = exec.CommandContext(t.Context(), "lsblk", "--inverse", "-n", "-l", "-o", "MAJ:MIN", "/dev/"+filepath.Base(link)).Output()
		require.NoError(t, err)
		assert.Contains(t, strings.Fields(string(out)), got.Device.Number, path)
	}
}

// TestCapture captures a fixture of this machine and reads it back: it holds everything except what
// identifies the machine.
func TestCapture(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "captured.txtar")
	out, err := exec.CommandContext(t.Context(), "../../scripts/capture-fixture.sh", archive).CombinedOutput()
	require.NoError(t, err, string(out))
	devices, err := device.Scan(sysfs.New("/"))
	require.NoError(t, err)
	captured := map[string]record.Device{}
	copies, err := device.Scan(sysfstest.Unpack(t, archive))
	if err != nil { // others detach them while they are captured
		for line := range strings.Lines(err.Error()) {
			assert.Regexp(t, "device (loop|zram)", line)
		}
	}
	for _, d := range copies {
		captured[d.Name] = d
	}
	text, err := os.ReadFile(archive)
	require.NoError(t, err)
	for _, d := range devices {
		if d.Kind == record.KindLoop || d.Kind == record.KindRAM || d.Kind == record.KindZRAM {
			continue // others attach and detach them meanwhile
		}
		c := captured[d.Name]
		if len(d.Serial) >= 3 {
			assert.NotContains(t, string(text), d.Serial)
			assert.Len(t, c.Serial, len(d.Serial))
		}
		assert.Len(t, c.ByID, len(d.ByID))
		assert.Len(t, c.ID, len(d.ID))
		c.ID, c.Serial, c.WWID, c.ByID = d.ID, d.Serial, d.WWID, d.ByID
		assert.Equal(t, d, c)
	}
}
