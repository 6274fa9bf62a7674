package cli_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/check"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// watched is a node with a daemon that watches three files and that learned something about each of them
// earlier.
type watched struct {
	state, config string
	targets       []record.TargetStatus
}

// watch starts a daemon once, so that its targets are known.
func watch(t *testing.T) watched {
	t.Helper()
	w := watched{state: testenv.OnDisk(t)}
	dir := testenv.OnDisk(t)
	var files []string
	for i := range 3 {
		path := filepath.Join(dir, fmt.Sprint(i))
		require.NoError(t, os.Mkdir(path, 0o700))
		files = append(files, fmt.Sprintf("{path: %s, size: 16MiB}", path))
	}
	w.config = file(t, "c.yaml", fmt.Sprintf("node: stor-07\nlock_dir: %s\ndevices: {enabled: false}\nfiles: [%s]\n", filepath.Join(dir, "locks"), strings.Join(files, ", "))+onceAnHour)
	p, _ := w.daemon(t)
	p.Signal(t, syscall.SIGTERM)
	require.Equal(t, 0, p.Wait(t), p.Stderr.Text())
	return w
}

// daemon starts the daemon and waits until it has judged all targets.
func (w *watched) daemon(t *testing.T) (p *testenv.Program, url string) {
	t.Helper()
	p, url = startDaemon(t, w.state, w.config)
	eventually(t, "the files are watched and judged", func() bool {
		code, body := get(t, url+"api/v1/snapshot")
		require.Equal(t, http.StatusOK, code, body)
		var s record.Snapshot
		require.NoError(t, json.Unmarshal([]byte(body), &s))
		w.targets = s.Targets
		for _, target := range s.Targets {
			if target.Verdict == nil || len(target.Conditions.Kernel) == 0 || target.Problem != "" { // a probe file is being filled
				return false
			}
		}
		return len(s.Targets) == 3 && s.NotReady == ""
	})
	return p, url
}

// check runs check with this state.
func (w watched) check(t *testing.T, args ...string) done {
	t.Helper()
	return ssdprobe(t, append([]string{"check", "--state-dir", w.state, "--config", w.config}, args...)...)
}

func TestCheckOfARunningDaemon(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		host, drive float64
		code, npd   int
		says        string
	}{
		"healthy":  {1, 1, 0, 0, `^healthy: 3 drives on stor-07\n$`},
		"degraded": {1, 1.5, 1, 1, `^degraded: \S+/1 is degraded: \d\d % slower \(.*\) than before, since .*, by its probes; 3 drives on stor-07\n$`},
		"severe":   {1, 3, 2, 1, `^severe: \S+/1 is severe: [23]\.\d times slower .*, since .*\n$`},
		"the host": {1.4, 1, 1, 1, `^degraded: the host is degraded: \d\d % slower .* than before, .*; 3 drives on stor-07\n$`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := watch(t)
			dir, err := state.Open(w.state)
			require.NoError(t, err)
			learn(t, dir, w.targets, c.host, w.targets[1].ID, c.drive)
			p, url := w.daemon(t)
			eventually(t, "it says so", func() bool { return w.check(t).code == c.code })
			got := w.check(t)
			assert.Equal(t, c.code, got.code)
			assert.Regexp(t, c.says, got.stdout)
			assert.Empty(t, got.stderr)

			npd := w.check(t, "--format", "npd", "--url", url)
			assert.Equal(t, c.npd, npd.code)
			figures := regexp.MustCompile(`\d+`) // figures may change in between
			assert.Equal(t, figures.ReplaceAllString(got.stdout, "n"), figures.ReplaceAllString(npd.stdout, "n"))
			assert.Regexp(t, `^SSDPROBE (OK|WARNING|CRITICAL) - .* \| drives=3;;;0 .*\n$`, w.check(t, "--format", "nagios").stdout)
			document := w.check(t, "--format", "json")
			assert.Equal(t, c.code, document.code)
			var r check.Result
			require.NoError(t, json.Unmarshal([]byte(document.stdout), &r))
			assert.Len(t, r.Drives, 3)

			other := w.check(t, w.targets[0].ID)
			assert.Equal(t, 0, other.code, "another one is fine: %s", other.stdout)
			wrong := w.check(t, "nvme9n9")
			assert.Equal(t, 3, wrong.code)
			assert.Regexp(t, `^unknown: the daemon at http://\S+ watches no target "nvme9n9"; want one of \S+/0, \S+/1, \S+/2\n$`, wrong.stdout)
			assert.Equal(t, 2, w.check(t, "nvme9n9", "--output", "npd").code, "as other commands call it")

			// While the daemon is restarted, the stored result holds. An hour later, it does not.
			p.Signal(t, syscall.SIGTERM)
			require.Equal(t, 0, p.Wait(t), p.Stderr.Text())
			stored := w.check(t)
			assert.Equal(t, c.code, stored.code, stored.stdout)
			assert.Regexp(t, `; no daemon answers, so this is what was stored last; the last round was (now|\d+ \w+ ago)`, stored.stdout)
			kept, _, err := dir.Node()
			require.NoError(t, err)
			for i := range kept.Judge.Drives {
				if kept.Judge.Drives[i].ID == w.targets[1].ID {
					kept.Judge.Drives[i].Removed = time.Now() // of such a drive, state remains for a day
				}
			}
			require.NoError(t, dir.SaveNode(kept.Judge))
			without := w.check(t)
			assert.NotContains(t, without.stdout, "/1 is ")
			assert.Contains(t, without.stdout, "2 drives on stor-07")
			assert.Contains(t, w.check(t, w.targets[1].ID).stdout, "1 drive on stor-07", "unless it is named")
			listed := ssdprobe(t, "drift", "--state-dir", w.state, "--config", w.config)
			assert.Contains(t, listed.stdout, w.targets[0].Path)
			assert.NotContains(t, listed.stdout, w.targets[1].Path)
			for i := range kept.Judge.Drives {
				kept.Judge.Drives[i].Last = time.Now().Add(-time.Hour)
			}
			require.NoError(t, dir.SaveNode(kept.Judge))
			old := w.check(t)
			assert.Equal(t, 3, old.code)
			assert.Regexp(t, `^unknown: no daemon answers at http://\S+, and the last round that is stored in \S+ was 1 h ago\n$`, old.stdout)
			assert.Equal(t, 2, w.check(t, "--format", "npd").code)
		})
	}
}

func TestCheckWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	nothing := ssdprobe(t, append(nobody(t), "check")...)
	assert.Equal(t, 3, nothing.code)
	assert.Regexp(t, `^unknown: no daemon answers at http://127.0.0.1:1, and nothing is stored in \S+\n$`, nothing.stdout)
	gone := ssdprobe(t, "check", "--state-dir", filepath.Join(t.TempDir(), "none"), "--config", file(t, "c.yaml", "listen: [127.0.0.1:1]\n"))
	assert.Equal(t, 3, gone.code)
	assert.Regexp(t, `^unknown: no daemon answers at http://127.0.0.1:1, and nothing is stored in \S+/none\n$`, gone.stdout)

	// The daemon was killed before the first round of its drives.
	killed, err := state.Open(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, killed.SaveNode(judge.State{Drives: []judge.DriveState{{ID: "a"}}}))
	early := ssdprobe(t, "check", "--state-dir", killed.Dir(), "--config", file(t, "c.yaml", "listen: [127.0.0.1:1]\n"))
	assert.Equal(t, 3, early.code)
	assert.Regexp(t, `^unknown: no daemon answers at http://127.0.0.1:1, and no round is stored in \S+\n$`, early.stdout)

	// The connection succeeds, but nothing answers.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	for format, code := range map[string]int{"text": 3, "nagios": 3, "npd": 2, "json": 3} {
		hung := ssdprobe(t, append(nobody(t), "check", "--url", "http://"+silent.Addr().String(), "--format", format)...)
		assert.Equal(t, code, hung.code, format)
		assert.Contains(t, hung.stdout, "the daemon at http://"+silent.Addr().String()+" does not answer")
	}
	// The daemon rejects the password.
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer locked.Close()
	client := file(t, "client.yml", "basic_auth: {username: me, password: wrong}\n")
	for format, code := range map[string]int{"text": 3, "nagios": 3, "npd": 2, "json": 3} {
		refused := in(append(nobody(t), "check", "--url", locked.URL, "--http.config.file", client, "--format", format)...)
		assert.Equal(t, code, refused.code, format)
		assert.Contains(t, refused.stdout, "it refuses the user or the password")
		assert.NotContains(t, refused.stdout, "wrong")
	}
	// The filesystem of the configuration hangs.
	dir := t.TempDir()
	testenv.HungFilesystem(t, dir)
	stuck := ssdprobe(t, "check", "--config", filepath.Join(dir, "c.yaml"))
	assert.Equal(t, 3, stuck.code)
	assert.Contains(t, stuck.stdout, "unknown: the filesystem of the configuration or of the state directory hangs")
}

// Exit code 2 means severe for check, so wrong usage has another one.
func TestCheckMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		args           []string
		stdout, stderr string
	}{
		"no such format": {[]string{"--format", "xml"}, "", `ssdprobe: --format: "xml": want text, nagios, npd or json; see ssdprobe check --help`},
		"no such flag":   {[]string{"--foo"}, "", "unknown flag: --foo; see ssdprobe check --help"},
		"a near flag":    {[]string{"--formt", "npd"}, "", "unknown flag: --formt; did you mean --format?"},
		"half a url":     {[]string{"--url", "http://[::1"}, `--url: "http://[::1" is not the URL of a daemon`, ""},
		"no url":         {[]string{"--url", "here"}, `--url: "here" is not the URL of a daemon`, ""},
		"no config":      {[]string{"--config", "/no/such/file"}, "/no/such/file", ""},
		"a bad config":   {[]string{"--config", file(t, "bad.yaml", "probs: 1\nlisten: 3\n")}, "probs", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := in(append(append(nobody(t), "check"), c.args...)...)
			assert.Equal(t, 3, got.code)
			assert.Contains(t, got.stdout, c.stdout)
			assert.Contains(t, got.stderr, c.stderr)
			plain(t, got.stdout+got.stderr)
			assert.Equal(t, c.stderr == "", got.stdout != "" && strings.Count(got.stdout, "\n") == 1, "one line, or none")
		})
	}
}

// pluginConfig has the documented fields of a custom plugin monitor:
// https://github.com/kubernetes/node-problem-detector/blob/master/docs/custom_plugin_monitor.md
type pluginConfig struct {
	Plugin       string `json:"plugin"`
	PluginConfig struct {
		InvokeInterval  string `json:"invoke_interval"`
		Timeout         string `json:"timeout"`
		MaxOutputLength int    `json:"max_output_length"`
		Concurrency     int    `json:"concurrency"`
		MessageChanges  bool   `json:"enable_message_change_based_condition_update"`
	} `json:"pluginConfig"`
	Source           string `json:"source"`
	MetricsReporting bool   `json:"metricsReporting"`
	Conditions       []struct {
		Type    string `json:"type"`
		Reason  string `json:"reason"`
		Message string `json:"message"`
	} `json:"conditions"`
	Rules []struct {
		Type      string   `json:"type"`
		Condition string   `json:"condition"`
		Reason    string   `json:"reason"`
		Path      string   `json:"path"`
		Args      []string `json:"args"`
		Timeout   string   `json:"timeout"`
	} `json:"rules"`
}

func TestThePluginOfNodeProblemDetector(t *testing.T) {
	f, err := os.Open("../../deploy/node-problem-detector/ssdprobe.json")
	require.NoError(t, err)
	defer f.Close()
	var c pluginConfig
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&c))
	assert.Equal(t, "custom", c.Plugin)
	require.Len(t, c.Conditions, 1)
	require.Len(t, c.Rules, 1)
	rule := c.Rules[0]
	assert.Equal(t, "permanent", rule.Type)
	assert.Equal(t, c.Conditions[0].Type, rule.Condition, "one without a default condition is refused")
	assert.Equal(t, "SlowDrive", rule.Condition)
	for _, reason := range []string{rule.Reason, c.Conditions[0].Reason} {
		assert.Regexp(t, `^[A-Z][A-Za-z]*$`, reason, "of a condition of Kubernetes")
	}
	whole, err := time.ParseDuration(c.PluginConfig.Timeout)
	require.NoError(t, err)
	timeout, err := time.ParseDuration(rule.Timeout)
	require.NoError(t, err)
	assert.LessOrEqual(t, timeout, whole, "else it is refused")
	assert.GreaterOrEqual(t, timeout, 5*time.Second, "check has ended by then")
	every, err := time.ParseDuration(c.PluginConfig.InvokeInterval)
	require.NoError(t, err)
	assert.LessOrEqual(t, every, 5*time.Minute)
	assert.Positive(t, c.PluginConfig.Concurrency)
	assert.Greater(t, c.PluginConfig.MaxOutputLength, 80, "the default cuts the reason")
	assert.True(t, filepath.IsAbs(rule.Path))
	assert.Equal(t, "ssdprobe", filepath.Base(rule.Path))
	got := in(append(nobody(t), rule.Args...)...)
	assert.Equal(t, 2, got.code, "unknown: %s", got.stderr)
	assert.Regexp(t, `^unknown: `, got.stdout)
}

// script returns a shell script of docs/check.md.
func script(t *testing.T, name string) string {
	t.Helper()
	document, err := os.ReadFile("../../docs/check.md")
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)```\n(#!/bin/sh\n# " + regexp.QuoteMeta(name) + ".*?)```").FindSubmatch(document)
	require.NotNil(t, found, name)
	return string(found[1])
}

// The scripts of the document run with an ssdprobe that ends in each way.
func TestScriptsOfTheDocument(t *testing.T) {
	dir := t.TempDir()
	program := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o700))
	}
	program("scontrol", `echo "scontrol $*"`)
	program("mail", `echo "mail $*"; cat`)
	for code, want := range []struct{ slurm, cron string }{
		{"", ""},
		{"", "degraded: it is\n"},
		{"scontrol update NodeName=stor-07 State=DRAIN Reason=ssdprobe: degraded: it is\n", "degraded: it is\n"},
		{"", "degraded: it is\n"},
	} {
		program("ssdprobe", fmt.Sprintf("echo 'degraded: it is'\nexit %d\n", code))
		for name, want := range map[string]string{"Slurm": want.slurm, "cron": want.cron} {
			path := file(t, name, script(t, name))
			c := exec.CommandContext(t.Context(), "sh", path)
			c.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SLURMD_NODENAME=stor-07")
			out, err := c.CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.Equal(t, want, string(out), "%s, %d", name, code)
		}
	}
}
