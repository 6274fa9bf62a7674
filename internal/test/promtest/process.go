package promtest

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Program finds a program of one of Debian's packages.
func Program(t testing.TB, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	require.NoError(t, err, "this test needs %s: scripts/install.sh %s", name, debian)
	return path
}

// stopTimeout is how long a program may take to exit after it was asked to.
const stopTimeout = 10 * time.Second

// run starts a program that serves until the test ends. If the test fails, the program's output is in its log.
func run(t testing.TB, program string, arguments ...string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background()) // the test's context ends before its cleanups
	var log bytes.Buffer
	command := exec.CommandContext(ctx, program, arguments...)
	command.Stderr = &log
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = stopTimeout
	if err := command.Start(); err != nil {
		stop()
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		stop()
		_ = command.Wait() // an error is expected, because it was told to stop
		if t.Failed() {
			t.Logf("%s:\n%s", filepath.Base(program), log.String())
		}
	})
}

// free returns an address on loopback that was free a moment ago.
func free(t testing.TB) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// write creates a temporary file and returns its path.
func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}
