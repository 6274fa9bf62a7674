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

// eventually polls what can only be asked for.
var eventually = testenv.Eventually

// start starts the program and lets it run.
func start(t *testing.T, args ...string) *testenv.Program {
	t.Helper()
	return testenv.Start(t, nil, args...)
}

// done is how a command ended.
type done struct {
	code           int
	stdout, stderr string
}

// ssdprobe runs the program to its end.
func ssdprobe(t *testing.T, args ...string) done {
	t.Helper()
	p := start(t, args...)
	code := p.Wait(t)
	return done{code, p.Stdout.Text(), p.Stderr.Text()}
}

// file writes a file of the test's own.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// asNobody runs the program as a user without rights, and returns its exit code and what it wrote.
func asNobody(t *testing.T, args ...string) (code int, says string) {
	t.Helper()
	testenv.Root(t)
	c := testenv.Command(t, nil, args...)
	c.Path = "/proc/self/exe" // which that user may execute, wherever go test has put it
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.CombinedOutput()
	if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
		require.NoError(t, err)
	}
	return c.ProcessState.ExitCode(), string(out)
}
