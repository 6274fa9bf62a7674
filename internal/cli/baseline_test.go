package cli_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// hasBaseline reports whether the daemon compares read-4k with a baseline.
func hasBaseline(t *testing.T, url string) bool {
	t.Helper()
	_, found := value(scrape(t, url), "ssdprobe_baseline_value", map[string]string{"probe": "read-4k"})
	return found
}

func TestBaselineOfARunningDaemon(t *testing.T) {
	t.Parallel()
	state, dir := testenv.OnDisk(t), testenv.OnDisk(t)
	config := file(t, "c.yaml", onFile(dir)+"drift: {baseline_rounds: 10}\n")
	p, url := startDaemon(t, state, config)
	eventually(t, "a baseline", func() bool { return hasBaseline(t, url) })
	asked := ssdprobe(t, "drift", "--url", strings.TrimSuffix(url, "/"))
	assert.Equal(t, 0, asked.code, asked.stderr)
	assert.Contains(t, asked.stdout, dir)

	// The daemon saves when it has learned, so there is something to export.
	exported := ssdprobe(t, "baseline", "export", dir, "--state-dir", state)
	require.Equal(t, 0, exported.code, exported.stderr)
	var list struct {
		Format    string           `json:"format"`
		Baselines []map[string]any `json:"baselines"`
	}
	require.NoError(t, json.Unmarshal([]byte(exported.stdout), &list))
	assert.Equal(t, "ssdprobe/baselines", list.Format)
	require.NotEmpty(t, list.Baselines)

	unknown := ssdprobe(t, "baseline", "reset", dir, "--probe", "read-5k", "--state-dir", state)
	assert.Equal(t, 2, unknown.code)
	assert.Contains(t, unknown.stderr, `nothing is stored about a probe "read-5k"`)
	reset := ssdprobe(t, "baseline", "reset", dir, "--probe", "read-4k", "--state-dir", state)
	require.Equal(t, 0, reset.code, reset.stderr)
	assert.Regexp(t, `^baseline of read-4k on \S+ forgotten\n$`, reset.stderr)
	p.Stderr.Find(t, `request carried out.*asked="forget baselines"`)
	eventually(t, "it learns anew", func() bool {
		_, learning := value(scrape(t, url), "ssdprobe_drift_state", map[string]string{"probe": "read-4k", "state": "learning"})
		return learning
	})
	p.Signal(t, syscall.SIGTERM)
	require.Equal(t, 0, p.Wait(t))

	elsewhere := regexp.MustCompile(`"kernel": "[^"]*"`).ReplaceAllString(exported.stdout, `"kernel": "1.2.3"`)
	imported := ssdprobe(t, "baseline", "import", file(t, "e.json", elsewhere), "--state-dir", state)
	require.Equal(t, 0, imported.code, imported.stderr)
	assert.Regexp(t, `(?m)^baseline of read-4k for \S+ imported; not used now, as the conditions differ: kernel 1\.2\.3 → \S+$`, imported.stderr)
	imported = ssdprobe(t, "baseline", "import", file(t, "b.json", exported.stdout), "--state-dir", state)
	require.Equal(t, 0, imported.code, imported.stderr)
	assert.Regexp(t, `(?m)^baseline of read-4k for \S+ imported$`, imported.stderr)
	shown := ssdprobe(t, "baseline", "show", dir, "--state-dir", state, "-o", "json")
	assert.Equal(t, 0, shown.code, shown.stderr)
	assert.Contains(t, shown.stdout, `"probe": "read-4k"`)
	_, url = startDaemon(t, state, config)
	eventually(t, "the imported baseline is in force", func() bool { return hasBaseline(t, url) })
}

// An export of the previous version, which has conditions as text, can be imported.
func TestImportOfVersion1(t *testing.T) {
	state := t.TempDir()
	export := `{"format": "ssdprobe/baselines", "version": 1, "baselines": [{"target_id": "eui.1", "probe": "read-4k", "epoch": 1, "current": true,
		"baseline": {"conditions": {"firmware": "A", "pcie_link": "8 GT/s x4", "coalescing": "off"}, "learned": "2026-11-01T00:00:00Z", "rounds": 120,
		"values": {"iops": 11000, "latency_p50_seconds": 0.00008, "latency_p95_seconds": 0.0001, "latency_p99_seconds": 0.0002}, "sureness": "young"}}]}`
	imported := ssdprobe(t, "baseline", "import", file(t, "b.json", export), "--state-dir", state)
	require.Equal(t, 0, imported.code, imported.stderr)
	shown := ssdprobe(t, "baseline", "show", "--state-dir", state)
	assert.Contains(t, shown.stdout, "firmware A, PCIe link 8 GT/s x4, coalescing off")
	again := ssdprobe(t, "baseline", "export", "--state-dir", state)
	assert.Contains(t, again.stdout, `"version": 2`)
	assert.Contains(t, again.stdout, `"maturity": "early"`)
}

// A target of which only a run is saved has no state of a daemon.
func TestSavedRunsOfTargetsThatNoDaemonWatched(t *testing.T) {
	at := t.TempDir()
	dir, err := state.Open(at)
	require.NoError(t, err)
	for _, name := range []string{"a", "b"} {
		require.NoError(t, dir.SaveRunBaseline(record.RunReport{
			Suite: "quick", TargetID: "file:/srv/" + name, Target: "/srv/" + name + "/ssdprobe.dat", Device: record.Device{Name: "sda"},
		}))
	}
	baseline := func(args ...string) done {
		return in(append(append([]string{"baseline"}, args...), "--state-dir", at)...)
	}
	for _, name := range []string{"/srv/a", "file:/srv/a", "/srv/a/ssdprobe.dat"} {
		got := baseline("show", name)
		assert.Equal(t, 0, got.code, got.stderr)
		assert.Contains(t, got.stdout, "Saved run of quick on /srv/a/ssdprobe.dat")
		assert.NotContains(t, got.stdout, "/srv/b")
	}
	both := baseline("show", "sda", "--output", "json")
	assert.Equal(t, 0, both.code, both.stderr)
	assert.Equal(t, 2, strings.Count(both.stdout, `"suite": "quick"`), both.stdout)
	none := baseline("show", "/srv/c")
	assert.Equal(t, 2, none.code)
	assert.Contains(t, none.stderr, `nothing is known about a target "/srv/c"`)

	// A saved run is not forgotten by a name that may be another's.
	either := baseline("reset", "sda", "--run", "quick")
	assert.Equal(t, 2, either.code)
	assert.Regexp(t, `"sda" matches 2 targets; name one by its id: file:/srv/[ab], file:/srv/[ab]\n`, either.stderr)
	assert.Equal(t, 0, baseline("reset", "/srv/a", "--run", "quick").code)
	assert.Equal(t, 0, baseline("reset", "sda", "--run", "quick").code)
}

func TestBaselineMistakes(t *testing.T) {
	state := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no state directory": {[]string{"baseline", "show", "--state-dir", state + "/none"}, 1, "--state-dir"},
		"unknown target":     {[]string{"baseline", "reset", "sdz", "--state-dir", state}, 2, `a target "sdz" in ` + state + "; see ssdprobe devices; --run SUITE forgets a saved run\n"},
		"nothing to export":  {[]string{"baseline", "export", "--state-dir", state}, 1, "no baseline has been learned yet"},
		"not an export":      {[]string{"baseline", "import", file(t, "x", "{}"), "--state-dir", state}, 2, `its format is ""`},
		"not JSON":           {[]string{"baseline", "import", file(t, "x", "hello"), "--state-dir", state}, 2, "not what baseline export writes"},
		"probe and run":      {[]string{"baseline", "reset", "sdz", "--run", "quick", "--probe", "p", "--state-dir", state}, 2, "--probe and --run"},
		"gone and probe":     {[]string{"baseline", "reset", "sdz", "--gone", "--probe", "p", "--state-dir", state}, 2, "--gone: is about all that was learned; leave out --probe and --run"},
		"no probe file":      {[]string{"baseline", "reset", "nvme0n1", "--gone", "--state-dir", learned(t)}, 2, "--gone: /dev/nvme0n1 is no probe file"},
		"no such run":        {[]string{"baseline", "reset", "sdz", "--run", "quick", "--state-dir", state}, 2, `no run of quick is saved for "sdz"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := in(c.args...)
			assert.Equal(t, c.code, got.code, got.stderr)
			assert.Contains(t, got.stderr, c.says)
			assert.Empty(t, got.stdout)
		})
	}
}
