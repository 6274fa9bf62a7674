package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// oddSize is a size that no other device of this machine has.
const oddSize = 67<<20 + 7*4096

// onLoop returns a configuration that watches only loop devices of that size.
func onLoop(locks string) string {
	return fmt.Sprintf(`
lock_dir: %s
fallback_file: false
discovery_interval: 1s
devices: {include: [{name: "loop*", min_size: %d, max_size: %d}]}
admission: {max_utilisation: 1, max_in_flight: 1000, max_io_pressure: 1, max_cpu_wait: 1}
`, locks, oddSize, oddSize) + quickProbes
}

func TestDaemonFollowsDevices(t *testing.T) {
	loop := testenv.LoopDevice(t, oddSize, testenv.Options{Random: true})
	name := filepath.Base(loop.Path)
	before := sum(t, loop.Backing)
	_, url := startDaemon(t, testenv.OnDisk(t), file(t, "c.yaml", onLoop(t.TempDir())))
	awaitRounds(t, url, "read-4k", 1)
	families := scrape(t, url)
	size, _ := value(families, "ssdprobe_device_size_bytes", map[string]string{"device": name})
	assert.Equal(t, float64(oddSize), size)
	_, writes := value(families, "ssdprobe_probe_rounds_total", good("durable-write-4k"))
	assert.False(t, writes, "write probes never run on raw devices")

	// The device leaves and its series end. When it comes back, it is found again.
	loop.Away(t, func() {
		eventually(t, "its series end", func() bool {
			_, there := value(scrape(t, url), "ssdprobe_device_info", map[string]string{"device": name})
			return !there
		})
	})
	eventually(t, "it is watched again", func() bool {
		rounds, _ := value(scrape(t, url), "ssdprobe_probe_rounds_total", good("read-4k"))
		return rounds > 0
	})
	assert.Equal(t, before, sum(t, loop.Backing), "bit-identical")
}

func TestDevices(t *testing.T) {
	loop := testenv.LoopDevice(t, oddSize, testenv.Options{})
	name := filepath.Base(loop.Path)
	row := func(config string) report.DeviceRow {
		t.Helper()
		got := ssdprobe(t, "devices", "--output", "json", "--config", config, "--state-dir", t.TempDir())
		require.Equal(t, 0, got.code, got.stderr)
		var list report.DeviceList
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &list))
		for _, r := range list.Devices {
			if r.Device.Name == name {
				return r
			}
		}
		t.Fatalf("%s is not among %d devices", name, len(list.Devices))
		return report.DeviceRow{}
	}
	left := row(file(t, "default.yaml", ""))
	assert.False(t, left.Watched)
	assert.Contains(t, left.Reason, "loop")
	assert.Equal(t, int64(oddSize), left.Device.SizeBytes)
	assert.NotEmpty(t, left.Conditions.Scheduler)

	taken := row(file(t, "loop.yaml", onLoop(t.TempDir())))
	assert.True(t, taken.Watched, taken.Reason)
}

// The running daemon determines what is shown as watched, whatever configuration the command has.
func TestDevicesBesideADaemonOfAnotherConfiguration(t *testing.T) {
	watched := testenv.LoopDevice(t, oddSize, testenv.Options{Random: true})
	other := testenv.LoopDevice(t, oddSize+4096, testenv.Options{})
	dir, state := testenv.OnDisk(t), testenv.OnDisk(t)
	only := strings.Replace(onLoop(t.TempDir()), "loop*", filepath.Base(watched.Path), 1)
	p, _ := startDaemon(t, state, file(t, "c.yaml", only+"files: [{path: "+dir+", size: 16MiB}]\n"))
	config := file(t, "other.yaml", "listen: [127.0.0.1:1]\nfiles: [{path: /srv/other}]\ndevices: {include: [{name: "+filepath.Base(other.Path)+"}]}\n")
	ready := ssdprobe(t, "ready", "--wait", "2m", "--config", config, "--state-dir", state)
	require.Equal(t, 0, ready.code, ready.stderr)

	devices := func() (report.DeviceList, string) {
		t.Helper()
		text := ssdprobe(t, "devices", "--config", config, "--state-dir", state)
		require.Equal(t, 0, text.code, text.stderr)
		var list report.DeviceList
		document := ssdprobe(t, "devices", "--config", config, "--state-dir", state, "--output", "json")
		require.NoError(t, json.Unmarshal([]byte(document.stdout), &list))
		return list, text.stdout
	}
	rowOf := func(list report.DeviceList, path string) report.DeviceRow {
		t.Helper()
		i := slices.IndexFunc(list.Devices, func(r report.DeviceRow) bool { return r.Device.Name == filepath.Base(path) })
		require.GreaterOrEqual(t, i, 0)
		return list.Devices[i]
	}
	list, text := devices()
	assert.True(t, list.Daemon)
	assert.Equal(t, []any{true, ""}, []any{rowOf(list, watched.Path).Watched, rowOf(list, watched.Path).Reason})
	assert.False(t, rowOf(list, other.Path).Watched)
	assert.Contains(t, rowOf(list, other.Path).Reason, "no include rule matches it", "the reason of the daemon")
	require.Len(t, list.Files, 1)
	assert.Equal(t, dir, list.Files[0].Path)
	assert.Contains(t, text, "Probe file: "+dir)
	assert.NotContains(t, text, "/srv/other")
	assert.Contains(t, strings.Join(strings.Fields(text), " "), "the daemon watches 1 of them and 1 probe file")

	p.Signal(t, syscall.SIGTERM)
	require.Equal(t, 0, p.Wait(t))
	list, text = devices()
	assert.False(t, list.Daemon)
	assert.False(t, rowOf(list, watched.Path).Watched)
	assert.True(t, rowOf(list, other.Path).Watched, rowOf(list, other.Path).Reason)
	assert.Contains(t, text, "Probe file: /srv/other\n")
	assert.Contains(t, strings.Join(strings.Fields(text), " "), "no daemon answers; one with this configuration would watch 1 of them and 1 probe file")
}

func TestDevicesSaysZoned(t *testing.T) {
	t.Parallel()
	root := fakeHost(t, "S1", "S2")
	sysfstest.Add(t, root, map[string]string{"sys/devices/virtio0/block/vda/queue/zoned": "host-managed\n", "sys/devices/virtio1/block/vdb/queue/zoned": "none\n"}, nil)
	config := file(t, "c.yaml", "host_root: "+root+"\n")
	text := ssdprobe(t, "devices", "--config", config)
	require.Equal(t, 0, text.code, text.stderr)
	assert.Equal(t, 1, strings.Count(text.stdout, "zoned"), text.stdout)
	assert.Contains(t, text.stdout, "zoned: host-managed; ")
	document := ssdprobe(t, "devices", "--config", config, "--output", "json")
	assert.Equal(t, 1, strings.Count(document.stdout, `"zoned": "host-managed"`))
}

// fakeHost returns the root of a machine whose virtio disks have these serial numbers.
func fakeHost(t *testing.T, serials ...string) string {
	t.Helper()
	root := t.TempDir()
	for i, serial := range serials {
		name := fmt.Sprintf("vd%c", 'a'+i)
		disk := fmt.Sprintf("sys/devices/virtio%d/block/%s", i, name)
		sysfstest.Add(t, root, map[string]string{
			disk + "/dev": fmt.Sprintf("253:%d\n", i), disk + "/size": "1048576\n", disk + "/serial": serial,
		}, map[string]string{
			"sys/block/" + name: "/" + disk,
			disk + "/device":    "../..",
			fmt.Sprintf("sys/devices/virtio%d/subsystem", i): "/sys/bus/virtio",
		})
	}
	return root
}

// A device whose driver hangs is named, and the others are shown.
func TestDevicesBesideOneThatHangs(t *testing.T) {
	t.Parallel()
	root := fakeHost(t, "S1", "S2")
	serial := filepath.Join(root, "sys/devices/virtio0/block/vda/serial")
	require.NoError(t, os.Remove(serial))
	require.NoError(t, unix.Mkfifo(serial, 0o600)) // nobody ever writes to it
	got := ssdprobe(t, "devices", "--config", file(t, "c.yaml", "host_root: "+root+"\n"))
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "read device vda: it hangs, and has not answered before: no answer since ")
	assert.Contains(t, got.stdout, "virtio_S2")
}

// A drive can have any serial number. No character in it may change how a line is read, and what is shown must
// be what one has to type.
func TestDevicesWithSerialsThatDoNotShow(t *testing.T) {
	t.Parallel()
	serials := []string{"S3\u202e1", `S3\u202e1`, "S3_1", "S3\xff1", `S3\xff1`, "S3\u200b1", "S3\x1b[2J1", "S31"}
	config := file(t, "c.yaml", "host_root: "+fakeHost(t, serials...)+"\n")
	text := ssdprobe(t, "devices", "--config", config)
	document := ssdprobe(t, "devices", "--config", config, "--output", "json")
	for _, got := range []done{text, document} {
		require.Equal(t, 0, got.code, got.stderr)
		for _, r := range got.stdout + got.stderr {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("%q is in the output", r)
			}
		}
	}
	var list report.DeviceList
	require.NoError(t, json.Unmarshal([]byte(document.stdout), &list))
	rows := list.Devices
	require.Len(t, rows, len(serials), "none is taken for another one")
	ids := map[string]bool{}
	for _, row := range rows {
		ids[row.Device.ID] = true
		assert.Contains(t, text.stdout, "serial "+safety.Name(row.Device), "what --destroy asks for")
	}
	assert.Len(t, ids, len(serials))
	assert.Equal(t, `S3\u202e1`, rows[0].Device.Serial)
	assert.Equal(t, `S3\\u202e1`, rows[1].Device.Serial)
}

// While a daemon runs, problems come from the daemon. Otherwise they come from what is seen and stored.
func TestDevicesShowsWhatIsWrong(t *testing.T) {
	t.Parallel()
	state, missing := testenv.OnDisk(t), filepath.Join(file(t, "file", ""), "probe.dat") // below a file instead of a directory
	config := file(t, "c.yaml", "host_root: "+fakeHost(t, "S1", "")+"\ndevices: {enabled: false}\nlisten: [127.0.0.1:1]\nstate_dir: "+state+"\n")
	alone := ssdprobe(t, "devices", "--config", config)
	require.Equal(t, 0, alone.code, alone.stderr)
	assert.Empty(t, alone.stderr)
	assert.Regexp(t, `(?s)^warning: this node: no device is both selected and readable.*\(fallback_file\)\n    → let ssdprobe read a device`, alone.stdout)
	assert.NotContains(t, alone.stdout, "(identity)", "nobody measures vdb")
	assert.Contains(t, ssdprobe(t, "devices", "--config", config, "-o", "json").stdout, `"code": "fallback_file"`)

	watching := file(t, "w.yaml", strings.Replace(onFile(t.TempDir()), "{path: ", "{path: "+missing+"}, {path: ", 1))
	p, url := startDaemon(t, state, watching)
	eventually(t, "it cannot be probed", func() bool {
		_, body := get(t, url+"api/v1/status")
		return strings.Contains(body, `"cannot_probe"`)
	})
	got := ssdprobe(t, "devices", "--config", watching, "--state-dir", state)
	require.Equal(t, 0, got.code, got.stderr)
	assert.Regexp(t, `critical: \S+/file/probe.dat: cannot be probed: `, got.stdout)
	drift := ssdprobe(t, "drift", "--config", watching, "--state-dir", state)
	assert.Regexp(t, `critical: \S+/file/probe.dat: cannot be probed: `, drift.stdout)
	document := ssdprobe(t, "drift", "--config", watching, "--state-dir", state, "--output", "json")
	assert.Contains(t, document.stdout, `"code": "cannot_probe"`)

	p.Signal(t, syscall.SIGTERM)
	require.Equal(t, 0, p.Wait(t))
	got = ssdprobe(t, "devices", "--config", watching, "--state-dir", state)
	require.Equal(t, 0, got.code, got.stderr)
	assert.NotContains(t, got.stdout, "cannot_probe", "nobody tries any more")
}

// Interrupts of every queue are shown on request, including those taken far from the drive.
func TestDevicesWithInterrupts(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const function = "sys/devices/pci0000:00/0000:00:03.0"
	const disk = function + "/virtio0/block/vda"
	sysfstest.Add(t, root, map[string]string{
		disk + "/dev": "253:0\n", disk + "/size": "1048576\n", disk + "/serial": "S1", function + "/numa_node": "1\n",
		"sys/devices/system/node/node1/cpulist": "1\n", "proc/irq/37/smp_affinity_list": "0-1\n", "proc/irq/37/effective_affinity_list": "0\n",
		"proc/interrupts": "           CPU0       CPU1\n 36: 3 0 PCI-MSIX-0000:00:03.0 0-edge virtio0-config\n 37: 700 41 PCI-MSIX-0000:00:03.0 1-edge virtio0-req.0\n",
	}, map[string]string{
		"sys/block/vda": "/" + disk, disk + "/device": "../..", function + "/virtio0/subsystem": "/sys/bus/virtio",
	})
	config := file(t, "c.yaml", "host_root: "+root+"\nlisten: [127.0.0.1:1]\nstate_dir: "+t.TempDir()+"\n")
	var list report.DeviceList
	require.NoError(t, json.Unmarshal([]byte(ssdprobe(t, "devices", "--config", config, "--output", "json", "--interrupts").stdout), &list))
	require.Len(t, list.Devices, 1)
	require.Len(t, list.Devices[0].Interrupts, 1)
	got := list.Devices[0].Interrupts[0]
	assert.Equal(t, []any{"virtio0", 1}, []any{got.Controller, got.NUMANode})
	assert.Equal(t, []record.QueueInterrupts{
		{Queue: "config", Number: "36", Count: 3, Local: new(uint64(0)), Remote: new(uint64(3))},
		{Queue: "req.0", Number: "37", Count: 741, CPUs: "0", Affinity: "0-1", Local: new(uint64(41)), Remote: new(uint64(700))},
	}, got.Queues)
	text := ssdprobe(t, "devices", "--config", config, "--interrupts").stdout
	assert.Contains(t, text, "virtio0: vda, NUMA node 1\n")
	assert.Regexp(t, `req\.0 +37 +0-1 +0 +741 +41 +700\n`, text)
	assert.NotContains(t, ssdprobe(t, "devices", "--config", config).stdout, "req.0", "not unless asked for")
}
