package manifesttest

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// exposure is the maximum result of `systemd-analyze security`, in tenths: 25 is 2.5, on a scale
// where an ordinary service has 9.6.
const exposure = "25"

// unitRoot returns a root directory with the units and everything that they name.
func unitRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	units := filepath.Join(root, "usr", "lib", "systemd", "system")
	for _, name := range []string{"ssdprobe.service", "ssdprobe.socket"} {
		write(t, filepath.Join(units, name), read(t, at("deploy", "systemd", name)), 0o644)
	}
	targets, err := filepath.Glob("/usr/lib/systemd/system/*.target")
	require.NoError(t, err)
	require.NotEmpty(t, targets)
	for _, target := range targets {
		write(t, filepath.Join(units, filepath.Base(target)), read(t, target), 0o644)
	}
	for _, program := range []string{"/bin/kill", "/usr/bin/ssdprobe"} {
		write(t, filepath.Join(root, program), "", 0o755)
	}
	return root
}

func TestUnitsAreValid(t *testing.T) {
	need(t, "systemd-analyze", "systemd")
	root := unitRoot(t)
	stdout, stderr, err := try(t, "systemd-analyze", "verify", "--man=no", "--root="+root, "ssdprobe.service", "ssdprobe.socket")
	require.NoErrorf(t, err, "%s%s", stdout, stderr)
	assert.Empty(t, stdout+stderr, "warnings count as well")
}

func TestServiceIsHardened(t *testing.T) {
	need(t, "systemd-analyze", "systemd")
	run(t, "systemd-analyze", "security", "--offline=true", "--threshold="+exposure, at("deploy", "systemd", "ssdprobe.service"))
}

// serviceCommand returns the command of the service, with another configuration.
func serviceCommand(t *testing.T, configuration string) []string {
	t.Helper()
	match := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindStringSubmatch(read(t, at("deploy", "systemd", "ssdprobe.service")))
	require.NotNil(t, match)
	var args []string
	for _, arg := range strings.Fields(match[1]) {
		switch arg {
		case "/usr/bin/ssdprobe":
			arg = program(t)
		case "/etc/ssdprobe/ssdprobe.yaml":
			arg = configuration
		case "$SSDPROBE_ARGS":
			continue
		}
		args = append(args, arg)
	}
	return args
}

// systemd's own tool passes the same sockets as systemd does.
func TestServiceTakesSystemdsSocket(t *testing.T) {
	t.Parallel()
	need(t, "systemd-socket-activate", "systemd")
	dir := t.TempDir()
	configuration := filepath.Join(dir, "ssdprobe.yaml")
	write(t, configuration, "devices: {enabled: false}\nfallback_file: false\nstate_dir: "+dir+"/state\nlock_dir: "+dir+"/locks\n", 0o644)
	args := append(serviceCommand(t, configuration), "--web.systemd-socket")

	path := filepath.Join(dir, "socket")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := exec.CommandContext(ctx, "systemd-socket-activate", append([]string{"--listen=" + path, "--"}, args...)...)
	c.Cancel = func() error { return c.Process.Signal(unix.SIGTERM) }
	stderr, err := c.StderrPipe()
	require.NoError(t, err)
	c.Stdout = os.Stdout
	require.NoError(t, c.Start())
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "Listening on") {
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, stderr) // so that it never blocks on its output
	}()

	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}}
	answer, err := client.Get("http://ssdprobe/-/healthy")
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	assert.Equal(t, "healthy\n", string(body))

	cancel()
	<-drained
	_ = c.Wait() // ended by the signal
	assert.Zero(t, c.ProcessState.ExitCode())
}

// The packages ship an empty configuration and the list of all keys, so both have to be valid as they are.
func TestShippedConfigurationIsValid(t *testing.T) {
	for _, path := range []string{at("deploy", "packages", "ssdprobe.yaml"), at("deploy", "ssdprobe.yaml")} {
		out := run(t, program(t), "config", "check", path)
		assert.Contains(t, out, "valid")
	}
}
