package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// onSlowLink returns the root of a host on which a loop device is behind a PCIe link of that speed and one lane. "2.5 GT/s"
// are 250 MB/s.
func onSlowLink(t *testing.T, loop testenv.Loop, speed string) (root string) {
	t.Helper()
	root = t.TempDir()
	name := filepath.Base(loop.Path)
	const port = "sys/devices/pci0000:00/0000:00:01.0"
	disk := port + "/block/" + name
	size, err := os.ReadFile("/sys/block/" + name + "/size")
	require.NoError(t, err)
	counters, err := os.ReadFile("/proc/diskstats")
	require.NoError(t, err)
	sysfstest.Add(t, root, map[string]string{
		port + "/current_link_speed": speed + " PCIe\n", port + "/max_link_speed": "8.0 GT/s PCIe\n",
		port + "/current_link_width": "1\n", port + "/max_link_width": "4\n",
		disk + "/dev": testenv.DeviceNumber(t, loop.Path) + "\n", disk + "/size": string(size),
		"proc/diskstats": string(counters),
	}, map[string]string{"sys/block/" + name: "/" + disk})
	return root
}

// A loop device answers from memory, faster than its pretended link. The figures are then not shown as a result
// anywhere, and the run fails.
func TestRunBeyondPhysics(t *testing.T) {
	t.Parallel()
	loop := testenv.LoopDevice(t, 64<<20, testenv.Options{Random: true})
	config := file(t, "c.yaml", "host_root: "+onSlowLink(t, loop, "0.25 GT/s")+"\nlock_dir: "+t.TempDir()+
		"\nadmission: {max_utilisation: 1, max_in_flight: 100000, max_io_pressure: 1, max_cpu_wait: 1}\n")
	state := t.TempDir()
	// With so few I/Os per second, the small blocks stay far below the link's speed, and the large ones far above it.
	p := testenv.StartCommand(t, testenv.InCGroup(testenv.Command(t, nil, "run", "quick", "--config", config, "--state-dir", state, "-t", loop.Path,
		"--set", "time=300ms", "--set", "sequential-block=1MiB", "--save-baseline", "--output", "json"), testenv.Throttled(t, loop.Number, 1000)))
	got := done{p.Wait(t), p.Stdout.Text(), p.Stderr.Text()}
	assert.Equal(t, 1, got.code, got.stderr)
	assert.Contains(t, got.stderr, "ssdprobe: run quick on "+loop.Path+": no result in ")
	assert.Contains(t, got.stderr, "; no baseline was saved")
	saved, err := filepath.Glob(filepath.Join(state, "run-baselines", "*"))
	require.NoError(t, err)
	assert.Empty(t, saved)

	var d report.Document
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &d))
	last := d.Report.Steps[len(d.Report.Steps)-1]
	require.True(t, last.Impossible())
	require.NotNil(t, last.Read, "the evidence")
	assert.Greater(t, last.Read.BytesPerSecond, 25e6)
	require.NotEmpty(t, d.Summary)
	for _, s := range d.Summary {
		assert.NotEqual(t, last.Name, s.Step)
	}
	if d.Report.Analysis != nil {
		for _, b := range d.Report.Analysis.Bounds {
			assert.NotEqual(t, last.Name, b.Step)
		}
	}

	path := file(t, "run.json", got.stdout)
	brief, full := ssdprobe(t, "report", path).stdout, ssdprobe(t, "report", "--verbose", path).stdout
	assert.Regexp(t, `sequential-read-qd8 +impossible +\S*`, brief)
	for _, text := range []string{brief, full} {
		assert.NotContains(t, text, "(sequential-read-qd8 read)", "it is not the best of anything")
	}
	assert.Contains(t, full, "read (impossible)", "the evidence is marked")
	assert.Contains(t, ssdprobe(t, "compare", path, path).stdout, "MB/s is more than the PCIe link (0.25 GT/s x1) can carry, 25 MB/s")
}

// The same holds for probes, whose rounds are checked one by one.
func TestProbesBeyondPhysics(t *testing.T) {
	t.Parallel()
	loop := testenv.LoopDevice(t, 64<<20, testenv.Options{Random: true})
	config := file(t, "c.yaml", "host_root: "+onSlowLink(t, loop, "0.025 GT/s")+"\nlock_dir: "+t.TempDir()+
		"\nadmission: {max_utilisation: 1, max_in_flight: 100000, max_io_pressure: 1, max_cpu_wait: 1}\n"+
		"probes: [{name: read-8m, block_size: 8MiB, ios: 4, warmup_ios: 1}]\n") // however busy the machine is, it reads such a block in less than the link's 3.4 s
	state := t.TempDir()
	got := ssdprobe(t, "run", "--config", config, "--state-dir", state, "-t", loop.Path,
		"--probe", "read-8m", "--rounds", "1", "--save-baseline")
	assert.Equal(t, 1, got.code, got.stdout)
	assert.Contains(t, got.stderr, "ssdprobe: run probe on "+loop.Path+": no result in 1 of 1 steps: ")
	assert.Contains(t, got.stderr, "; no baseline was saved")
}
