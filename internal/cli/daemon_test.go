package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// quickProbes makes rounds start every second, so that tests need not wait.
const quickProbes = `
probes:
  - {name: read-4k, interval: 1s, ios: 64}
  - {name: durable-write-4k, direction: write, pattern: sequential, datasync: true, interval: 1s, ios: 4, targets: files}
`

// onFile returns a configuration that watches only a small file and is not disturbed by other load or other
// tests.
func onFile(dir string) string {
	return fmt.Sprintf(`
lock_dir: %s
devices: {enabled: false}
discovery_interval: 1s
files: [{path: %s, size: 16MiB}]
admission: {max_utilisation: 1, max_in_flight: 100000, max_io_pressure: 1, max_cpu_wait: 1}
`, filepath.Join(dir, "locks"), dir) + quickProbes
}

// startDaemon starts a daemon and returns it with the URL of its server.
func startDaemon(t *testing.T, state, config string, more ...string) (*testenv.Program, string) {
	t.Helper()
	args := append([]string{"daemon", "--config", config, "--state-dir", state, "--web.listen-address", "127.0.0.1:0"}, more...)
	p := start(t, args...)
	if slices.Contains(more, "--log.format=json") {
		return p, p.Stderr.Find(t, `"msg":"started".*"status":\["(http://[^"]+/)"`)[1]
	}
	return p, p.Stdout.Find(t, `status +(http://\S+/)`)[1]
}

// Someone who waits for a daemon may start before it does, when it is not known yet where it will listen.
func TestReadyWaitsForADaemonThatIsNotThereYet(t *testing.T) {
	t.Parallel()
	state, dir := testenv.OnDisk(t), testenv.OnDisk(t)
	config := file(t, "c.yaml", onFile(dir)+"listen: ['127.0.0.1:1']\n")
	waits := start(t, "ready", "--wait", "2m", "--config", config, "--state-dir", state)
	_, url := startDaemon(t, state, config)
	assert.Equal(t, 0, waits.Wait(t), waits.Stderr.Text())
	assert.Contains(t, waits.Stdout.Text(), url+": ready\n") // the probe file may still be filled
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(body)
}

// scrape returns the metrics of a daemon.
func scrape(t *testing.T, url string) map[string]*dto.MetricFamily {
	t.Helper()
	code, body := get(t, url+"metrics")
	require.Equal(t, http.StatusOK, code, body)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	require.NoError(t, err)
	return families
}

// value returns the value of the series of a family with these labels; false when there is none.
func value(families map[string]*dto.MetricFamily, name string, labels map[string]string) (float64, bool) {
	for _, m := range families[name].GetMetric() {
		have := map[string]string{}
		for _, l := range m.Label {
			have[l.GetName()] = l.GetValue()
		}
		matches := true
		for k, v := range labels {
			matches = matches && have[k] == v
		}
		if matches {
			return m.GetGauge().GetValue() + m.GetCounter().GetValue(), true
		}
	}
	return 0, false
}

func good(probe string) map[string]string { return map[string]string{"probe": probe, "outcome": "ok"} }

// awaitRounds waits until a probe has had that many good rounds.
func awaitRounds(t *testing.T, url, probe string, n float64) {
	t.Helper()
	eventually(t, fmt.Sprintf("%v good rounds of %s", n, probe), func() bool {
		got, _ := value(scrape(t, url), "ssdprobe_probe_rounds_total", good(probe))
		return got >= n
	})
}

func TestDaemonProbesAFile(t *testing.T) {
	state, dir := testenv.OnDisk(t), testenv.OnDisk(t)
	p, url := startDaemon(t, state, file(t, "c.yaml", onFile(dir)))
	awaitRounds(t, url, "read-4k", 2)
	awaitRounds(t, url, "durable-write-4k", 1)

	code, body := get(t, url+"metrics")
	require.Equal(t, http.StatusOK, code)
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	require.NoError(t, err)
	assert.Empty(t, problems)

	families := scrape(t, url)
	read, _ := value(families, "ssdprobe_probe_read_bytes_total", map[string]string{"probe": "read-4k"})
	rounds := 0.0
	for _, outcome := range []string{"ok", "disturbed"} { // as while this process has no CPU
		n, _ := value(families, "ssdprobe_probe_rounds_total", map[string]string{"probe": "read-4k", "outcome": outcome})
		rounds += n
	}
	assert.Equal(t, rounds*(64+8)*4096, read, "each round reads its I/Os and its warm-up, and nothing else")
	for _, path := range []string{"", "-/healthy", "-/ready", "api/v1/status", "api/v1/devices", "api/v1/drift"} {
		code, body := get(t, url+path)
		assert.Equal(t, http.StatusOK, code, "%s: %s", path, body)
	}
	assert.FileExists(t, filepath.Join(dir, "ssdprobe.dat"))

	p.Signal(t, syscall.SIGTERM)
	assert.Equal(t, 0, p.Wait(t), "a clean stop")
	saved, err := filepath.Glob(filepath.Join(state, "targets", "*.json"))
	require.NoError(t, err)
	assert.Len(t, saved, 1, "what was learned is kept")
	shown := ssdprobe(t, "drift", "--state-dir", state, "--config", file(t, "c.yaml", "listen: [127.0.0.1:1]"))
	assert.Equal(t, 0, shown.code, shown.stderr)
	assert.Contains(t, shown.stderr, "no daemon answers at "+strings.TrimSuffix(url, "/"))
	assert.Contains(t, shown.stdout, "read-4k")
}

func TestDaemonReload(t *testing.T) {
	t.Parallel()
	state, dir := testenv.OnDisk(t), testenv.OnDisk(t)
	path := file(t, "c.yaml", onFile(dir))
	p, url := startDaemon(t, state, path)
	awaitRounds(t, url, "read-4k", 1)

	require.NoError(t, os.WriteFile(path, []byte("probes: [{name: read-4k, block_size: 5KiB}]\nfoo: 1\n"), 0o600))
	p.Signal(t, syscall.SIGHUP)
	p.Stderr.Find(t, `refused; the old one stays.*block_size`)
	eventually(t, "the reload shows as failed", func() bool {
		ok, found := value(scrape(t, url), "ssdprobe_collector_success", map[string]string{"collector": "configuration"})
		return found && ok == 0
	})
	before, _ := value(scrape(t, url), "ssdprobe_probe_rounds_total", good("read-4k"))
	awaitRounds(t, url, "read-4k", before+1) // the old configuration is in force

	require.NoError(t, os.WriteFile(path, []byte(onFile(dir)+"  - {name: read-8k, block_size: 8KiB, interval: 1s, ios: 16}\n"), 0o600))
	p.Signal(t, syscall.SIGHUP)
	awaitRounds(t, url, "read-8k", 1)
	ok, _ := value(scrape(t, url), "ssdprobe_collector_success", map[string]string{"collector": "configuration"})
	assert.Equal(t, 1.0, ok)

	require.NoError(t, os.WriteFile(path, []byte("quiet_hours: [{schedule: '* * * * *', duration: 1m}]\n"+onFile(dir)), 0o600))
	p.Signal(t, syscall.SIGHUP)
	p.Stderr.Find(t, `msg=configuration warning="nothing is ever measured: quiet_hours cover all of the time"`) // as at the start

	require.NoError(t, os.WriteFile(path, []byte("node: another\n"+onFile(dir)), 0o600))
	p.Signal(t, syscall.SIGHUP)
	p.Stderr.Find(t, `refused; the old one stays.*node cannot change`)
}

func TestDaemonTwice(t *testing.T) {
	t.Parallel()
	state, dir := testenv.OnDisk(t), testenv.OnDisk(t)
	config := file(t, "c.yaml", onFile(dir))
	startDaemon(t, state, config)
	second := ssdprobe(t, "daemon", "--config", config, "--state-dir", state, "--web.listen-address", "127.0.0.1:0")
	assert.Equal(t, 1, second.code)
	assert.Contains(t, second.stderr, "another ssdprobe daemon uses the state directory")
}

func TestDaemonPortInUse(t *testing.T) {
	t.Parallel()
	state, dir := testenv.OnDisk(t), testenv.OnDisk(t)
	config := file(t, "c.yaml", onFile(dir))
	_, url := startDaemon(t, state, config)
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")
	second := ssdprobe(t, "daemon", "--config", config, "--state-dir", testenv.OnDisk(t), "--web.listen-address", address)
	assert.Equal(t, 1, second.code)
	assert.Contains(t, second.stderr, address)
	assert.Contains(t, second.stderr, "address already in use")
}

func TestDaemonWithDamagedState(t *testing.T) {
	t.Parallel()
	state, dir := testenv.OnDisk(t), testenv.OnDisk(t)
	config := file(t, "c.yaml", onFile(dir))
	p, url := startDaemon(t, state, config)
	awaitRounds(t, url, "read-4k", 1)
	p.Signal(t, syscall.SIGTERM)
	require.Equal(t, 0, p.Wait(t))

	saved, err := filepath.Glob(filepath.Join(state, "targets", "*.json"))
	require.NoError(t, err)
	require.Len(t, saved, 1)
	text, err := os.ReadFile(saved[0])
	require.NoError(t, err)
	damaged := append(text[:len(text)/2:len(text)/2], []byte("!")...)
	require.NoError(t, os.WriteFile(saved[0], damaged, 0o600))

	p, url = startDaemon(t, state, config)
	p.Stderr.Find(t, `is damaged .* it was set aside as`)
	awaitRounds(t, url, "read-4k", 1) // the daemon continues all the same
	aside, err := filepath.Glob(saved[0] + ".damaged-*")
	require.NoError(t, err)
	require.Len(t, aside, 1)
	kept, err := os.ReadFile(aside[0])
	require.NoError(t, err)
	assert.Equal(t, damaged, kept, "what was there is kept as it was")
}

func TestDaemonIsKilled(t *testing.T) {
	t.Parallel()
	state, dir := testenv.OnDisk(t), testenv.OnDisk(t)
	config := file(t, "c.yaml", onFile(dir)+"drift: {baseline_rounds: 10}\nlisten: [127.0.0.1:1]\n")
	p, url := startDaemon(t, state, config)
	p.Stderr.Find(t, `baseline learned`)
	awaitRounds(t, url, "read-4k", 11)
	p.Signal(t, syscall.SIGKILL)
	p.Wait(t)

	shown := ssdprobe(t, "drift", "--config", config, "--state-dir", state)
	assert.Equal(t, 0, shown.code, shown.stderr)
	_, url = startDaemon(t, state, config)
	eventually(t, "the baseline is there again", func() bool {
		_, found := value(scrape(t, url), "ssdprobe_baseline_value", map[string]string{"probe": "read-4k"})
		return found
	})
}

// Problems of the drive with the state directory must not stop the probing.
func TestDaemonWhenStateCannotBeSaved(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, mount string){
		"disk full": func(t *testing.T, mount string) {
			f, err := os.Create(filepath.Join(mount, "filler"))
			require.NoError(t, err)
			for err == nil {
				_, err = f.Write(make([]byte, 1<<20))
			}
			for err = nil; err == nil; {
				_, err = f.Write(make([]byte, 512))
			}
			require.ErrorIs(t, err, syscall.ENOSPC)
			require.NoError(t, f.Close())
		},
		"gone": func(t *testing.T, mount string) {
			require.NoError(t, os.RemoveAll(filepath.Join(mount, "state", "targets")))
			require.NoError(t, os.WriteFile(filepath.Join(mount, "state", "targets"), nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			mount, dir := testenv.Ext4(t, 16<<20), testenv.OnDisk(t)
			state := filepath.Join(mount, "state")
			p, url := startDaemon(t, state, file(t, "c.yaml", onFile(dir)+"drift: {baseline_rounds: 10}\n"))
			awaitRounds(t, url, "read-4k", 1)
			spoil(t, mount)
			eventually(t, "the trouble shows", func() bool {
				ok, found := value(scrape(t, url), "ssdprobe_collector_success", map[string]string{"collector": "state"})
				return found && ok == 0
			})
			p.Stderr.Find(t, "the stored state has a problem")
			before, _ := value(scrape(t, url), "ssdprobe_probe_rounds_total", good("read-4k"))
			awaitRounds(t, url, "read-4k", before+2)
			p.Signal(t, syscall.SIGTERM)
			assert.Equal(t, 0, p.Wait(t))
		})
	}
}

func TestDaemonRefusesAReadOnlyStateDirectory(t *testing.T) {
	mount := testenv.Ext4(t, 16<<20)
	testenv.RemountReadOnly(t, mount)
	got := ssdprobe(t, "daemon", "--state-dir", filepath.Join(mount, "state"), "--web.listen-address", "127.0.0.1:0")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "read-only file system")
	assert.Contains(t, got.stderr, "--state-dir")
}

// A directory that others can write to is refused, because its contents decide what is measured and compared.
func TestDirectoriesOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	open, private := t.TempDir(), t.TempDir()
	require.NoError(t, os.Chmod(open, 0o777))
	config := file(t, "c.yaml", onFile(testenv.OnDisk(t))+"listen: [127.0.0.1:0]\n")
	mend := open + " is writable by all users: if only ssdprobe uses " + open + ", run `chmod -R o-w " + open + "`"
	for _, command := range [][]string{
		{"daemon"}, {"run", "-t", private}, {"drift"}, {"baseline", "show"}, {"baseline", "reset", private},
	} {
		got := ssdprobe(t, append(command, "--config", config, "--state-dir", open)...)
		assert.Equal(t, 1, got.code, "%v", command)
		assert.Contains(t, got.stderr, mend, "%v", command)
		assert.Empty(t, testenv.Names(t, open), "%v", command)
	}
	locks := file(t, "c.yaml", "lock_dir: "+open+"\ndevices: {enabled: false}\nadmission: {max_utilisation: 1, max_in_flight: 100000, max_io_pressure: 1, max_cpu_wait: 1}\n")
	for _, command := range [][]string{{"daemon", "--web.listen-address", "127.0.0.1:0"}, {"run", "-t", testenv.OnDisk(t), "--size", "16MiB"}} {
		got := ssdprobe(t, append(command, "--config", locks, "--state-dir", private)...)
		assert.NotZero(t, got.code, "%v", command)
		assert.Contains(t, got.stderr, mend, "%v", command)
		assert.Empty(t, testenv.Names(t, open), "%v", command)
	}
}

// Names of directories are escaped wherever they are shown.
func TestPathsThatDoNotShow(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"text", "json"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			const odd, escaped = "a\u202eb\u200b\x1b[2J", `a\u202eb\u200b`
			dir, state := filepath.Join(testenv.OnDisk(t), odd), t.TempDir()
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, os.Mkdir(filepath.Join(state, "requests"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(state, "requests", odd+".json"), nil, 0o600))
			shown := map[string]string{}
			got := ssdprobe(t, "run", "--config", calm(t), "--state-dir", t.TempDir(), "--target", dir, "--size", "16MiB", "--rounds", "1", "-o", form)
			require.Equal(t, 0, got.code, got.stderr)
			shown["run"], shown["progress"] = got.stdout, got.stderr

			p, url := startDaemon(t, state, file(t, "c.yaml", onFile(testenv.OnDisk(t))), "--log.format="+form)
			p.Stderr.Find(t, "is damaged")
			awaitRounds(t, url, "read-4k", 1)
			p.Signal(t, syscall.SIGTERM)
			require.Equal(t, 0, p.Wait(t))
			shown["log"] = p.Stderr.Text()
			if form == "json" { // the log of a container contains both outputs
				assert.Empty(t, p.Stdout.Text())
				for line := range strings.Lines(shown["log"]) {
					assert.True(t, json.Valid([]byte(line)), line)
				}
			}
			for name, text := range shown {
				assert.Contains(t, text, escaped, name)
				assert.False(t, strings.ContainsAny(text, "\u202e\u200b\x1b"), name)
			}
		})
	}
}

// The garbage collector uses the memory limit of the control group: the lowest limit in the hierarchy.
func TestMemoryLimitOfTheControlGroup(t *testing.T) {
	t.Parallel()
	group := testenv.MemoryCGroup(t, 300<<20, 400<<20)
	dir := testenv.OnDisk(t)
	for name, test := range map[string]struct {
		environment []string
		want        float64
	}{
		"as the group has it":  {[]string{"GOMEMLIMIT="}, 300 << 20 / 10 * 9},
		"as the user wants it": {[]string{"GOMEMLIMIT=123MiB"}, 123 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			c := testenv.InCGroup(testenv.Command(t, test.environment, "daemon", "--config", file(t, "c.yaml", onFile(dir)),
				"--state-dir", t.TempDir(), "--web.listen-address", "127.0.0.1:0"), group)
			p := testenv.StartCommand(t, c)
			url := p.Stdout.Find(t, `status +(http://\S+/)`)[1]
			limit, found := value(scrape(t, url), "go_gc_gomemlimit_bytes", nil)
			require.True(t, found)
			assert.Equal(t, test.want, limit)
			p.Signal(t, syscall.SIGTERM)
			require.Equal(t, 0, p.Wait(t))
		})
	}
}
