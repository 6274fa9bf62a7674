package promtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// Program finds a program of one of Debian's packages.
func Program(t testing.TB, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	require.NoError(t, err, "this test needs %s: scripts/install.sh %s", name, debian)
	return path
}

// run starts a program that serves until the test ends, and returns the address on which it listens. The program asks for
// a free port itself, because others could take a port that was found for it. If the test fails, the program's output is
// in its log.
func run(t testing.TB, program string, arguments ...string) (address string) {
	t.Helper()
	p := testenv.StartCommand(t, exec.CommandContext(context.WithoutCancel(t.Context()), program, append(arguments, "--web.listen-address=127.0.0.1:0")...))
	t.Cleanup(func() {
		_ = p.Cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
		p.Wait(t)
	})
	return p.Stderr.Find(t, `msg="Listening on" address=(\S+)`)[1]
}

// write creates a temporary file and returns its path.
func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}
