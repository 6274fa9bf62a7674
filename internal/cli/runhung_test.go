package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// mayHang mounts a FUSE filesystem on disk. hang stops its server, so that whoever uses the filesystem from
// then on waits in the kernel. end ends the server, upon which everything that waits fails.
func mayHang(t *testing.T) (dir string, hang, end func()) {
	t.Helper()
	testenv.Root(t)
	behind, dir := testenv.OnDisk(t), t.TempDir()
	server := exec.CommandContext(context.WithoutCancel(t.Context()), "bindfs", "-f", behind, dir)
	require.NoError(t, server.Start(), "apt-get install bindfs")
	end = sync.OnceFunc(func() {
		_ = server.Process.Kill()
		_ = server.Wait() // it was killed, so there is always an error
		assert.NoError(t, unix.Unmount(dir, unix.MNT_DETACH))
	})
	t.Cleanup(end)
	eventually(t, "it is mounted", func() bool {
		var st unix.Statfs_t
		require.NoError(t, unix.Statfs(dir, &st))
		return st.Type == unix.FUSE_SUPER_MAGIC
	})
	return dir, func() { require.NoError(t, server.Process.Signal(syscall.SIGSTOP)) }, end
}

// exits reports whether a process has called exit. Its threads are gone, are releasing their files, or will be
// killed once the server answers the requests it already has; the kernel does not release them earlier.
func exits(t *testing.T, pid int) bool {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	require.NoError(t, err)
	killed := regexp.MustCompile(`(?m)^SigPnd:\t[0-9a-f]*[13579bdf][0-9a-f]{2}$`)
	for _, thread := range threads {
		status, err := os.ReadFile(thread)
		if hasMemory := bytes.Contains(status, []byte("\nVmSize:")); err == nil && hasMemory && !killed.Match(status) {
			return false
		}
	}
	return true
}

// The filesystem of the target does not answer any more. A signal ends the run nevertheless, whatever it is
// doing, with the exit code of a stopped run, and the output says what is left behind.
func TestSignalsEndARunThatHangs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   []string
		signal syscall.Signal
		hangs  string // what the run is doing when the filesystem begins to hang
		says   []string
	}{
		"filling":  {[]string{"quick", "--size", "1GiB"}, syscall.SIGINT, `fill +\d+ %`, []string{"does not answer", "*.ssdprobe-filling"}},
		"rounds":   {[]string{"probe", "--size", "16MiB", "--rounds", "10000"}, syscall.SIGTERM, `read-4k`, []string{"ssdprobe.dat: the filesystem does not answer, so the file is left there"}},
		"fio":      {[]string{"quick", "--size", "16MiB", "--set", "time=10m"}, syscall.SIGHUP, `step 1 of`, []string{"ssdprobe.dat: the filesystem does not answer, so the file is left there"}},
		"own file": {[]string{"durable-write", "--size", "16MiB", "--set", "time=10m"}, syscall.SIGINT, `step 1 of`, []string{"ssdprobe-write.dat: the filesystem does not answer, so the file is left there"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, hang, end := mayHang(t)
			p := start(t, append(append([]string{"run"}, c.args...), "--config", calm(t), "--state-dir", t.TempDir(), "-t", dir)...)
			p.Stderr.Find(t, c.hangs)
			hang()
			t.Cleanup(end) // before waiting for the program
			p.Signal(t, c.signal)
			eventually(t, "it exits", func() bool { return exits(t, p.Cmd.Process.Pid) })
			end()
			assert.Equal(t, 128+int(c.signal), p.Wait(t))
			for _, says := range c.says {
				assert.Contains(t, p.Stderr.Text(), says)
			}
			assert.Empty(t, fioOn(t, dir))
		})
	}
}

// On a target that hangs from the start, the run does not wait for ever, nor after a signal.
func TestRunOnATargetThatHangs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testenv.HungFilesystem(t, dir)
	for name, target := range map[string]string{"directory": dir, "file": filepath.Join(dir, "file")} {
		for _, args := range [][]string{{"probe"}, {"quick"}, {"quick", "--dry-run"}} {
			t.Run(name+" "+args[len(args)-1], func(t *testing.T) {
				t.Parallel()
				p := start(t, append(append([]string{"run"}, args...), "--config", calm(t), "--state-dir", t.TempDir(), "-t", target)...)
				eventually(t, "it looks at the target", stuck(t, p.Cmd.Process.Pid))
				p.Signal(t, syscall.SIGINT)
				assert.Equal(t, 130, p.Wait(t))
				assert.Contains(t, p.Stderr.Text(), "find "+target+": interrupt signal received")
			})
		}
	}
	t.Run("something else hangs", func(t *testing.T) {
		t.Parallel()
		p := start(t, "run", "--config", calm(t), "--state-dir", t.TempDir(), "-t", testenv.OnDisk(t), "--job", filepath.Join(dir, "my.fio"))
		eventually(t, "it opens the job file", stuck(t, p.Cmd.Process.Pid))
		p.Signal(t, syscall.SIGINT)
		assert.Equal(t, 130, p.Wait(t))
		assert.Contains(t, p.Stderr.Text(), "interrupt signal received: the run has not ended 30 s later: something that it uses hangs")
	})
	t.Run("without a signal", func(t *testing.T) {
		t.Parallel()
		got := ssdprobe(t, "run", "--config", calm(t), "--state-dir", t.TempDir(), "-t", dir)
		assert.Equal(t, 1, got.code)
		assert.Contains(t, got.stderr, "find "+dir+": the filesystem there does not answer")
	})
}

// stuck returns a function that reports whether a thread of a process has waited in the kernel since the last
// call.
func stuck(t *testing.T, pid int) func() bool {
	t.Helper()
	inKernel := regexp.MustCompile(`(?s)\nState:\tD.*\nPid:\t(\d+)\n.*\nvoluntary_ctxt_switches:\t(\d+)\n`)
	before := map[string]string{} // how often each thread has waited, by thread id
	return func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
		require.NoError(t, err)
		now, found := map[string]string{}, false
		for _, thread := range threads {
			status, _ := os.ReadFile(thread) // a thread may end in between
			if m := inKernel.FindStringSubmatch(string(status)); m != nil {
				now[m[1]] = m[2]
				found = found || before[m[1]] == m[2]
			}
		}
		before = now
		return found
	}
}
