package docstest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// patience bounds waiting for what a test observes; nothing takes that long.
const patience = 3 * time.Minute

// relaxed is a configuration for machines that are busy while tests run.
const relaxed = `
devices: {enabled: false}
files: [{path: PROBED, size: 16MiB}]
admission: {max_io_pressure: 1, max_cpu_wait: 1, max_utilisation: 1, max_in_flight: 100000}
probes:
  - {name: read-4k, interval: 1s, ios: 64, timeout: 10s}
`

// reader is a user who follows README.md in a clone, with a state, a target and an address for the test.
type reader struct {
	t     *testing.T
	clone string
	words *strings.Replacer
	// daemon is the running daemon, and url is where it listens.
	daemon *exec.Cmd
	ended  chan struct{}
	said   *output
	url    string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	target := testenv.OnDisk(t)
	configuration := filepath.Join(t.TempDir(), "ssdprobe.yaml")
	require.NoError(t, os.WriteFile(configuration, []byte(strings.Replace(relaxed, "PROBED", target, 1)), 0o600))
	state := "--state-dir " + filepath.Join(testenv.OnDisk(t), "state")
	clone := filepath.Join(t.TempDir(), "ssdprobe")
	require.NoError(t, testenv.CopyTree(t.Context(), root, clone))
	daemon := state + " --web.listen-address 127.0.0.1:0"
	return &reader{t: t, clone: clone, words: strings.NewReplacer(
		"make run ARGS='--web.listen-address 127.0.0.1:9000", "make run ARGS='"+daemon+" --config "+configuration,
		"make run", "make run ARGS='"+daemon+" --config "+configuration+"'",
		"ssdprobe daemon --config", "ssdprobe daemon "+daemon+" --config",
		"ssdprobe run quick", "ssdprobe run quick --even-if-busy "+state+" --config "+configuration,
		"ssdprobe run", "ssdprobe run "+state+" --config "+configuration,
		"/var/tmp --save-baseline", target+" --set time=1s --save-baseline",
		"/var/tmp", target,
	)}
}

// run runs a command to its end.
func (r *reader) run(ctx context.Context, command string) (string, error) {
	c := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", command)
	c.Dir = r.clone
	out, err := c.CombinedOutput()
	return string(out), err
}

// start starts a daemon and waits until it prints where it listens.
func (r *reader) start(command string) {
	r.stop()
	r.said, r.ended = &output{}, make(chan struct{})
	r.daemon = exec.Command("bash", "-c", command)
	r.daemon.Dir, r.daemon.Stdout, r.daemon.Stderr = r.clone, r.said, r.said
	r.daemon.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // make and its children
	require.NoError(r.t, r.daemon.Start())
	go func() {
		defer close(r.ended)
		_ = r.daemon.Wait() // make reports the signal as an error
	}()
	listens := regexp.MustCompile(`status +http://(\S+)/`)
	r.eventually(command+" listens", func() bool {
		match := listens.FindStringSubmatch(r.said.String())
		if match != nil {
			r.url = match[1]
		}
		return match != nil
	})
}

// stop presses Ctrl-C.
func (r *reader) stop() {
	if r.daemon == nil {
		return
	}
	_ = syscall.Kill(-r.daemon.Process.Pid, syscall.SIGINT) // it may have ended already
	<-r.ended
	r.daemon = nil
	assert.NotContains(r.t, r.said.String(), "level=ERROR")
}

func (r *reader) eventually(what string, holds func() bool) {
	r.t.Helper()
	late := time.After(patience)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
			continue
		case <-r.ended:
		case <-late:
		}
		require.FailNow(r.t, "never: "+what, r.said.String())
	}
}

// output is what a daemon has printed.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// TestReadme runs each command of README.md in order, except those that CONTRIBUTING.md exempts and those
// that install into this machine. Other tests run the latter in disposable machines: see elsewhere.
func TestReadme(t *testing.T) {
	r := newReader(t)
	t.Cleanup(r.stop)
	document := text(t, filepath.Join(root, "README.md"))
	not := letOff(t, "README.md")
	for begin := range elsewhere {
		not = append(not, "sudo "+begin)
	}
	not = append(not, "make dist", "sudo install bin/ssdprobe", "sudo ssdprobe")
	ran, saved := 0, false
	for _, command := range commands(document) {
		if slices.ContainsFunc(not, func(begin string) bool { return strings.HasPrefix(command, begin) }) {
			continue
		}
		ran++
		t.Log(command)
		mine := r.words.Replace(command)
		switch {
		case strings.HasPrefix(command, "make run"), strings.Contains(command, "ssdprobe daemon"):
			r.start(mine)
		case strings.HasPrefix(command, "curl"):
			mine = strings.ReplaceAll(mine, "localhost:10040", r.url)
			r.eventually(command, func() bool { _, err := r.run(t.Context(), mine); return err == nil })
		default:
			r.stop()
			out, err := r.run(t.Context(), mine)
			switch { // possible results of short runs on a busy machine
			case saved && strings.HasPrefix(command, "bin/ssdprobe run") && err != nil,
				strings.Contains(command, "compare") && err != nil:
				require.Equal(t, "exit status 3", err.Error(), out) // slower than before
			case strings.Contains(command, "--save-baseline") && err != nil:
				require.Contains(t, out, "save the baseline: ")
			default:
				require.NoErrorf(t, err, "%s:\n%s", mine, out)
			}
			saved = saved || strings.Contains(command, "--save-baseline")
		}
	}
	assert.Greater(t, ran, 14)
	for _, made := range []string{"bin/ssdprobe", "before.json", "after.json", "after.html"} {
		assert.FileExists(t, filepath.Join(r.clone, made))
	}
}

func TestTheListOfBenchmarks(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "run", root+"/internal/test/bench", "-list").CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), "latency")
}
