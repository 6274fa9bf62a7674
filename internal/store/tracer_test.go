package store_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// begins is the signal that a traced process sends to itself before it saves.
const begins = unix.SIGUSR1

// tracer follows a process by ptrace(2) until it kills it at a chosen moment or the process ends.
type tracer struct {
	pid int
	// bytes is how many bytes the process writes before it is killed; negative if it is killed at a system call.
	bytes int
	// calls is how many entries to and exits from system calls remain until the process is killed.
	calls int
	// saving is the id of the thread that saves; 0 before it begins.
	saving int
}

func afterBytes(n int) tracer { return tracer{bytes: n} }
func atCall(n int) tracer     { return tracer{bytes: -1, calls: n} }

// killedWhileSaving runs a test of this binary, which saves in dir, in a separate process. It returns false if the
// process ended before it could be killed.
func killedWhileSaving(t *testing.T, test, dir string, tr tracer) bool {
	t.Helper()
	runtime.LockOSThread() // the kernel identifies a tracer by its thread
	defer runtime.UnlockOSThread()
	c := exec.Command(os.Args[0], "-test.run=^"+test+"$")
	c.Env = append(os.Environ(), crashEnv+"="+dir)
	c.Stderr = os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setpgid: true}
	require.NoError(t, c.Start())
	tr.pid = c.Process.Pid
	defer func() { require.NoError(t, c.Process.Release()) }() // follow has waited for it
	status := tr.follow(t)
	if status.Signaled() {
		require.Equal(t, syscall.SIGKILL, status.Signal())
		return true
	}
	require.Zero(t, status.ExitStatus(), "the save failed")
	return false
}

// follow continues all threads of the process from stop to stop, and returns how the process ended.
func (tr *tracer) follow(t *testing.T) unix.WaitStatus {
	t.Helper()
	for first := true; ; first = false {
		var status unix.WaitStatus
		thread, err := unix.Wait4(-tr.pid, &status, unix.WALL, nil)
		require.NoError(t, err)
		switch {
		case !status.Stopped() && thread == tr.pid:
			return status
		case !status.Stopped():
			continue // another thread has ended
		case first:
			const options = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL
			require.NoError(t, unix.PtraceSetOptions(thread, options))
		}
		deliver, now := tr.stopped(t, thread, status)
		if now {
			require.NoError(t, unix.Kill(tr.pid, unix.SIGKILL))
			continue
		}
		goOn := unix.PtraceCont
		if thread == tr.saving && tr.bytes < 0 {
			goOn = unix.PtraceSyscall
		}
		if err := goOn(thread, int(deliver)); err != nil {
			require.ErrorIs(t, err, unix.ESRCH, "all that may be is that the process has ended")
		}
	}
}

// stopped handles the stop of a thread. It returns the signal to deliver, and whether to kill the process now.
func (tr *tracer) stopped(t *testing.T, thread int, status unix.WaitStatus) (deliver unix.Signal, now bool) {
	t.Helper()
	const inCall = unix.SIGTRAP | 0x80 // PTRACE_O_TRACESYSGOOD
	switch s := status.StopSignal(); s {
	case begins:
		tr.saving = thread
		if tr.bytes >= 0 {
			// A write(2) that reaches the limit is cut short. The next one raises SIGXFSZ.
			limit := unix.Rlimit{Cur: uint64(tr.bytes), Max: unix.RLIM_INFINITY}
			require.NoError(t, unix.Prlimit(tr.pid, unix.RLIMIT_FSIZE, &limit, nil))
		}
		return 0, false
	case unix.SIGXFSZ:
		return 0, true
	case inCall:
		if changesFiles(t, tr.pid, thread) {
			tr.calls--
		}
		return 0, tr.calls == 0
	case unix.SIGTRAP, unix.SIGSTOP: // at the start of the process and of each thread
		return 0, false
	default:
		return s, false
	}
}

// changesFiles reports whether the system call that a thread enters or leaves is one with which a save does its work.
func changesFiles(t *testing.T, pid, thread int) bool {
	t.Helper()
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/syscall", pid, thread))
	require.NoError(t, err)
	number, _, _ := strings.Cut(string(line), " ")
	n, err := strconv.Atoi(number)
	require.NoError(t, err, "%s", line)
	return slices.Contains([]int{
		unix.SYS_OPENAT, unix.SYS_FCHMOD, unix.SYS_WRITE, unix.SYS_FSYNC, unix.SYS_RENAMEAT, unix.SYS_MKDIRAT, unix.SYS_UNLINKAT,
	}, n)
}
