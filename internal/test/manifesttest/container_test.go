package manifesttest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// patience bounds waiting for what a test observes; nothing takes that long.
const patience = 5 * time.Minute

// container is a container with an ssdprobe in it, run by runc.
type container struct {
	t         *testing.T
	id, state string
	url       string
}

// containers counts the containers of this process. An id also names a control group, which no
// other test may use at the same time.
var containers atomic.Int64

func newContainer(t *testing.T, name string) *container {
	t.Helper()
	need(t, "runc", "runc")
	return &container{t: t, id: fmt.Sprintf("ssdprobe-test-%d-%s-%d", os.Getpid(), name, containers.Add(1)), state: t.TempDir()}
}

// runc returns a command of runc with a state directory of its own.
func (c *container) runc(args ...string) *exec.Cmd {
	return exec.CommandContext(c.t.Context(), "runc", append([]string{"--root", c.state}, args...)...)
}

// run starts the container and returns the path of its output.
func (c *container) run(bundle string, spec object) string {
	c.t.Helper()
	text, err := json.MarshalIndent(spec, "", "  ")
	require.NoError(c.t, err)
	write(c.t, filepath.Join(bundle, "config.json"), string(text), 0o644)
	out, err := os.Create(filepath.Join(bundle, "output"))
	require.NoError(c.t, err)
	// This is not bound to the test's context, which ends before the clean-up.
	runc := exec.Command("runc", "--root", c.state, "run", "--bundle", bundle, c.id)
	runc.Stdout, runc.Stderr = out, out
	require.NoError(c.t, runc.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = runc.Wait() // it is killed at the end
	}()
	c.t.Cleanup(func() {
		// Both fail if it has ended by itself; then there is nothing to do.
		_ = exec.Command("runc", "--root", c.state, "kill", c.id, "KILL").Run()
		<-ended
		_ = exec.Command("runc", "--root", c.state, "delete", "--force", c.id).Run()
		if c.t.Failed() {
			c.t.Logf("output of the container:\n%s", read(c.t, out.Name()))
		}
		assert.NoError(c.t, out.Close())
	})
	return out.Name()
}

// exec runs a command in the container.
func (c *container) exec(args ...string) string {
	c.t.Helper()
	out, err := c.runc(append([]string{"exec", c.id}, args...)...).CombinedOutput()
	require.NoErrorf(c.t, err, "%v:\n%s", args, out)
	return string(out)
}

// eventually polls until a condition holds, seldom because most conditions run a command in the container.
func (c *container) eventually(what string, holds func() bool) {
	c.t.Helper()
	testenv.EventuallyWithin(c.t, patience, 500*time.Millisecond, what, holds)
}

// awaitURL waits until the daemon has printed where it listens: in its banner, or in its JSON log.
func (c *container) awaitURL(output func() string) {
	c.t.Helper()
	listens := regexp.MustCompile(`(?:metrics +|"status":\[")(http[^"\s]+/)(?:metrics|")`)
	c.eventually("it listens", func() bool {
		match := listens.FindStringSubmatch(output())
		if match != nil {
			c.url = match[1]
		}
		return match != nil
	})
}

// get returns the daemon's answer at a path.
func (c *container) get(path string) string {
	c.t.Helper()
	_, body := testenv.Get(c.t, patience, c.url+path)
	return body
}

// measures waits until a round on the device was good.
func (c *container) measures(device string) {
	c.t.Helper()
	round := regexp.MustCompile(`(?m)^ssdprobe_probe_rounds_total\{device="` + device + `",.*outcome="ok".*\} [1-9]`)
	c.eventually("a good round on "+device, func() bool { return round.MatchString(c.get("metrics")) })
	assert.NotRegexp(c.t, `(?m)^ssdprobe_collector_success\{.*\} 0`, c.get("metrics"))
	assert.NotRegexp(c.t, `(?m)^ssdprobe_finding\{.*code="(disturbance|throttle)_blind`, c.get("metrics"))
}

// pid returns the id of the container's first process.
func (c *container) pid() int {
	c.t.Helper()
	out, err := c.runc("state", c.id).Output()
	require.NoError(c.t, err)
	var state struct{ Pid int }
	require.NoError(c.t, json.Unmarshal(out, &state))
	return state.Pid
}

// process returns a line of a process's /proc/PID/status.
func (c *container) process(pid int, key string) string {
	c.t.Helper()
	for line := range strings.Lines(read(c.t, fmt.Sprintf("/proc/%d/status", pid))) {
		if value, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	require.Fail(c.t, "no "+key)
	return ""
}

// noCapability asserts that a process has no capabilities and cannot gain any.
func (c *container) noCapability(pid int) {
	c.t.Helper()
	for _, set := range []string{"CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb"} {
		assert.Equal(c.t, "0000000000000000", c.process(pid, set), set)
	}
	assert.Equal(c.t, "1", c.process(pid, "NoNewPrivs"))
}
