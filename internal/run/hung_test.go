package run_test

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/run"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// returns fails the test if f, which uses a filesystem that hangs, does not return.
func returns(t *testing.T, f func() error) error {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Minute):
		require.Fail(t, "it hangs")
		return nil
	}
}

// A lock directory that hangs, as it may be on the drive of the state directory, holds a run for ever neither at its
// beginning nor at its end: the daemon makes no other meanwhile.
func TestALockDirectoryThatHangs(t *testing.T) {
	testenv.Root(t)
	testenv.Installed(t, "bindfs")
	dir := t.TempDir()
	server := exec.CommandContext(context.WithoutCancel(t.Context()), "bindfs", "-f", t.TempDir(), dir)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait() // it was killed, so there is always an error
		assert.NoError(t, unix.Unmount(dir, unix.MNT_DETACH))
	})
	testenv.Eventually(t, "it is mounted", func() bool {
		var st unix.Statfs_t
		return unix.Statfs(dir, &st) == nil && st.Type == unix.FUSE_SUPER_MAGIC
	})
	begin := func(id string) (*run.Session, error) {
		return run.Begin(t.Context(), measure.Subject{LockID: id}, run.Options{Limits: admit.Unlimited(), LockDir: dir})
	}
	session, err := begin("one")
	require.NoError(t, err)
	require.NoError(t, server.Process.Signal(syscall.SIGSTOP))
	begun := make(chan error, 1)
	go func() {
		_, err := begin("other")
		begun <- err
	}()
	err = returns(t, func() error { _, err := session.End(); return err })
	require.True(t, guard.Hangs(err), "%v", err)
	err = returns(t, func() error { return <-begun })
	require.ErrorContains(t, err, "the filesystem of "+dir+" does not answer: ")
	require.True(t, guard.Hangs(err), "%v", err)
}
