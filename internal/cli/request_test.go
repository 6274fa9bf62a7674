package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// The command that asked reports what the daemon refused, also by its exit code.
func TestTheDaemonRefuses(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	dir, lock, err := state.Hold(at) // as a daemon does
	require.NoError(t, err)
	exported := file(t, "b.json", `{"format": "ssdprobe/baselines", "version": 2, "baselines": [{"target_id": "eui.1", "probe": "read-4k",
		"baseline": {"learned": "2026-11-01T00:00:00Z", "rounds": 120}}]}`)
	asked := start(t, "baseline", "import", exported, "--state-dir", at)
	var names []string
	eventually(t, "the request is left", func() bool {
		names, err = dir.Requests()
		return err == nil && len(names) == 1
	})
	require.NoError(t, dir.AnswerRequest(names[0], state.Answer{Refused: "the drive is pinned"}))
	assert.Equal(t, 1, asked.Wait(t))
	assert.Equal(t, "ssdprobe: the daemon refused: the drive is pinned\n", asked.Stderr.Text())
	assert.Empty(t, testenv.Names(t, filepath.Join(at, "answers")), "it was taken")
	require.NoError(t, lock.Release())
}

// A request that makes no sense is refused before the watching of its target stops, and is no error of the daemon.
func TestARefusedRequestStopsNothing(t *testing.T) {
	t.Parallel()
	at, target := testenv.OnDisk(t), testenv.OnDisk(t)
	p, _ := startDaemon(t, at, file(t, "c.yaml", onFile(target)))
	dir, err := state.Open(at)
	require.NoError(t, err)
	p.Stderr.Find(t, `msg=watching`)
	for why, r := range map[string]state.Request{
		"nothing to accept":            {Accept: "x"},
		"no baseline has been learned": {Pin: new(true)},
		"nothing is known about":       {Probe: "other"},
	} {
		r.Target = "file:" + target
		name, err := dir.Leave(r)
		require.NoError(t, err)
		var answer state.Answer
		eventually(t, "the answer", func() bool {
			var found bool
			answer, found, err = dir.TakeAnswer(name)
			return err == nil && found
		})
		assert.Contains(t, answer.Refused, why)
		p.Stderr.Find(t, `level=INFO msg="request refused".*`+why)
	}
	assert.NotContains(t, p.Stderr.Text(), "no longer watching")
	assert.NotContains(t, p.Stderr.Text(), "level=ERROR")
}

// exportOf returns an export with a baseline for each of the targets.
func exportOf(t *testing.T, targets ...string) string {
	t.Helper()
	var rows []string
	for _, id := range targets {
		rows = append(rows, `{"target_id": "`+id+`", "probe": "read-4k", "baseline": {"learned": "2026-11-01T00:00:00Z", "rounds": 120, "values":
			{"iops": 11000, "latency_p50_seconds": 0.00008, "latency_p95_seconds": 0.0001, "latency_p99_seconds": 0.0002}}}`)
	}
	return file(t, "b.json", `{"format": "ssdprobe/baselines", "version": 2, "baselines": [`+strings.Join(rows, ",")+"]}")
}

// leftTo starts a command while a daemon seems to run, and returns once the command has left its request.
func leftTo(t *testing.T, dir state.Dir, args ...string) (asked *testenv.Program, name string) {
	t.Helper()
	asked = start(t, append(args, "--state-dir", dir.Dir())...)
	eventually(t, "the request is left", func() bool {
		names, err := dir.Requests()
		if err == nil && len(names) == 1 {
			name = names[0]
		}
		return name != ""
	})
	return asked, name
}

// A daemon that ends before it answers leaves no request for a later one.
func TestTheDaemonEndsBeforeItAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"import":     {[]string{"baseline", "import", exportOf(t, "eui.1")}, 0, "baseline of read-4k for eui.1 imported; it is used once a daemon finds this target under the same conditions\n"},
		"record now": {[]string{"record", "now"}, 1, "ssdprobe: withdrawn: the daemon ended before it took the request\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, lock, err := state.Hold(t.TempDir())
			require.NoError(t, err)
			asked, _ := leftTo(t, dir, c.args...)
			require.NoError(t, lock.Release())
			assert.Equal(t, c.code, asked.Wait(t))
			assert.Equal(t, c.says, asked.Stderr.Text())
			names, err := dir.Requests()
			require.NoError(t, err)
			assert.Empty(t, names)
			_, found, err := dir.Target("eui.1")
			require.NoError(t, err)
			assert.Equal(t, c.code == 0, found, "it is carried out here")
		})
	}
}

// A request that is gone has no answer to wait for.
func TestTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	dir, lock, err := state.Hold(t.TempDir())
	require.NoError(t, err)
	asked, name := leftTo(t, dir, "baseline", "import", exportOf(t, "eui.1"))
	require.NoError(t, dir.Remove("requests", name))
	assert.Equal(t, 1, asked.Wait(t))
	assert.Contains(t, asked.Stderr.Text(), "the daemon took the request and could not leave its answer; its log says")
	require.NoError(t, lock.Release())
}

// A request that could not be left, as on a full disk, is not with the daemon.
func TestARequestThatCannotBeLeft(t *testing.T) {
	t.Parallel()
	dir, lock, err := state.Hold(t.TempDir())
	require.NoError(t, err)
	requests := filepath.Join(dir.Dir(), "requests")
	require.NoError(t, os.Mkdir(requests, 0o700))
	require.NoError(t, os.Chmod(requests, 0o777))
	got := ssdprobe(t, "baseline", "import", exportOf(t, "eui.1"), "--state-dir", dir.Dir())
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "writable by all users")
	assert.NotContains(t, got.stderr, "took the request")
	require.NoError(t, lock.Release())
}

// A target whose baselines were forgotten has no probe to name instead of an unknown one.
func TestAProbeOfATargetThatHasNone(t *testing.T) {
	t.Parallel()
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, dir.SaveTarget(state.Target{ID: "eui.1", Path: "/dev/nvme0n1"}))
	got := ssdprobe(t, "baseline", "reset", "eui.1", "--probe", "read-4k", "--state-dir", dir.Dir())
	assert.Equal(t, 2, got.code)
	assert.Equal(t, `ssdprobe: --probe: nothing is stored about a probe "read-4k" on /dev/nvme0n1; it has none`+"\n", got.stderr)
}

// The printed levels are those that the daemon accepted, whatever was stored before.
func TestTheLevelsOfTheDaemonAreTold(t *testing.T) {
	t.Parallel()
	dir, lock, err := state.Hold(learned(t))
	require.NoError(t, err)
	asked, name := leftTo(t, dir, "drift", "accept", "nvme0n1", "--note", "x")
	require.NoError(t, dir.AnswerRequest(name, state.Answer{Accepted: map[string]drift.Note{
		"read-4k": {Ratios: map[record.Statistic]float64{record.LatencyP50: 1.77}},
	}}))
	assert.Equal(t, 0, asked.Wait(t))
	assert.Equal(t, "level of /dev/nvme0n1 accepted (read-4k p50 1.77×)\n", asked.Stderr.Text())
	require.NoError(t, lock.Release())
}

// Of several requests, those that are not refused are carried out.
func TestOneOfSeveralRequestsIsRefused(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	for _, args := range [][]string{{"baseline", "import", exportOf(t, "eui.2")}, {"baseline", "pin", "eui.2"}} {
		got := ssdprobe(t, append(args, "--state-dir", at)...)
		require.Equal(t, 0, got.code, got.stderr)
	}
	got := ssdprobe(t, "baseline", "import", exportOf(t, "eui.1", "eui.2", "eui.3"), "--state-dir", at)
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "baseline of read-4k for eui.1 imported")
	assert.Contains(t, got.stderr, "the baseline is pinned")
	assert.Contains(t, got.stderr, "baseline of read-4k for eui.3 imported")
}

// A user who may not read the state is told so, rather than that there is no state.
func TestStateOfOthers(t *testing.T) {
	t.Parallel()
	testenv.Root(t)
	at := testenv.OnDisk(t)
	require.NoError(t, os.Chmod(at, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(at, "targets"), 0o700))
	config := filepath.Join(at, "c.yaml")
	require.NoError(t, os.WriteFile(config, []byte("listen: [127.0.0.1:1]\n"), 0o644))
	for _, args := range [][]string{{"baseline", "show"}, {"baseline", "export"}, {"baseline", "reset", "x"}, {"drift"}, {"drift", "explain", "x"}} {
		code, says := asNobody(t, append(args, "--config", config, "--state-dir", at)...)
		assert.Equal(t, 1, code, args)
		assert.Contains(t, says, "permission denied: run as root", args)
		assert.NotContains(t, says, "no baseline", args)
		assert.Equal(t, args[0] == "drift", strings.HasSuffix(says, ", or name its daemon with --url\n"), "%v has that flag: %s", args, says)
		assert.Equal(t, 1, strings.Count(says, "\n"), says)
	}
	_, says := asNobody(t, "run", "-t", "/", "--config", config, "--state-dir", at)
	assert.Equal(t, "ssdprobe: read the state in "+at+"/targets: permission denied: run as root, or name another directory with --state-dir\n", says)
	_, says = asNobody(t, "check", "--config", config, "--state-dir", at)
	assert.Contains(t, says, "no daemon answers at http://127.0.0.1:1: read the state in ")

	// A group that may list the directory may not read the files in it.
	const adm = 4
	require.NoError(t, os.Chown(filepath.Join(at, "targets"), 0, adm))
	require.NoError(t, os.Chmod(filepath.Join(at, "targets"), 0o750))
	_, says = asNobody(t, "baseline", "show", "--config", config, "--state-dir", at)
	assert.Regexp(t, `^ssdprobe: read the state in \S+: permission denied: run as root\n$`, says, "it has no --url")
}

// A daemon that has just started has saved nothing yet, but knows its targets.
func TestRequestsToADaemonThatHasSavedNothing(t *testing.T) {
	t.Parallel()
	const size = 9_437_184 // no other loop device has this size
	loop := testenv.LoopDevice(t, size, testenv.Options{Random: true})
	at := testenv.OnDisk(t)
	config := file(t, "c.yaml", fmt.Sprintf(`lock_dir: %s
devices: {include: [{name: "loop*", min_size: %[2]d, max_size: %[2]d}]}
admission: {max_utilisation: 1, max_in_flight: 100000, max_io_pressure: 1, max_cpu_wait: 1}
`, t.TempDir(), size)+quickProbes)
	_, url := startDaemon(t, at, config)
	eventually(t, "the device is measured", func() bool {
		_, measured := value(scrape(t, url), "ssdprobe_probe_last_success_timestamp_seconds", map[string]string{"probe": "read-4k"})
		return measured
	})
	require.NoError(t, os.RemoveAll(filepath.Join(at, "targets")), "if this took half a minute, it is as if it had not")
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no such probe":  {[]string{"baseline", "reset", loop.Path, "--probe", "read-5k"}, 2, "nothing is known about a target"},
		"no such target": {[]string{"baseline", "reset", "sdz"}, 2, `nothing is known about a target "sdz"`},
	} {
		got := ssdprobe(t, append(c.args, "--state-dir", at)...)
		assert.Equal(t, c.code, got.code, name)
		assert.Contains(t, got.stderr, c.says, name)
	}
	got := ssdprobe(t, "record", "now", loop.Path, "--state-dir", at)
	assert.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stderr, "the daemon records")
	got = ssdprobe(t, "baseline", "reset", loop.Path, "--state-dir", at)
	require.Equal(t, 0, got.code, got.stderr)
	assert.Equal(t, "baselines of "+loop.Path+" forgotten\n", got.stderr)
}
