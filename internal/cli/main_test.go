package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/cli"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, cli.Main)) }

// eventually polls for a condition of which nothing gives notice.
var eventually = testenv.Eventually

// start starts the program and lets it run.
func start(t *testing.T, args ...string) *testenv.Program {
	t.Helper()
	return testenv.Start(t, nil, args...)
}

// done is the result of a command.
type done struct {
	code           int
	stdout, stderr string
}

// ssdprobe runs the program and waits for its end.
func ssdprobe(t *testing.T, args ...string) done {
	t.Helper()
	p := start(t, args...)
	code := p.Wait(t)
	return done{code, p.Stdout.Text(), p.Stderr.Text()}
}

// file writes a file to a directory of its own and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// asNobody runs the program as an unprivileged user, and returns its exit code and its output.
func asNobody(t *testing.T, args ...string) (code int, says string) {
	t.Helper()
	testenv.Root(t)
	c := testenv.Command(t, nil, args...)
	c.Path = "/proc/self/exe" // that user may execute it, wherever go test put it
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.CombinedOutput()
	if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
		require.NoError(t, err)
	}
	return c.ProcessState.ExitCode(), string(out)
}
