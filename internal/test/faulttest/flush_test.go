package faulttest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe" //nolint:depguard // seccomp(2) takes a pointer, and there is no wrapper for it

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// failCall is the variable with system calls, by number, that always fail in the program, and the
// errors that they return.
const failCall = "SSDPROBE_TEST_FAIL_CALL"

func failing(errno syscall.Errno, calls ...int) []string {
	return []string{fmt.Sprintf("%s=%d %v", failCall, errno, calls)}
}

// failTheCall makes the kernel refuse the given system calls to this process and its children.
func failTheCall() error {
	text := os.Getenv(failCall)
	if text == "" {
		return nil
	}
	var numbers []uint32
	for _, word := range strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(text)) {
		n, err := strconv.ParseUint(word, 10, 32)
		if err != nil {
			return err
		}
		numbers = append(numbers, uint32(n))
	}
	const loadWord, jumpEqual, giveBack = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	program := []unix.SockFilter{
		{Code: loadWord, K: 0}, // the number of the call: struct seccomp_data of <linux/seccomp.h>
	}
	for _, call := range numbers[1:] {
		program = append(program,
			unix.SockFilter{Code: jumpEqual, K: call, Jf: 1},
			unix.SockFilter{Code: giveBack, K: unix.SECCOMP_RET_ERRNO | numbers[0]})
	}
	program = append(program, unix.SockFilter{Code: giveBack, K: unix.SECCOMP_RET_ALLOW})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&filter))); errno != 0 {
		return errno
	}
	return nil
}

// A drive accepts writes but fails to flush them: its write rounds are errors, and its read rounds are not affected.
func TestFlushFails(t *testing.T) {
	t.Parallel()
	dir := testenv.OnDisk(t)
	id, configuration := fileID(dir), onFiles(t, dir)
	state := t.TempDir()
	d := startDaemon(t, state, configuration)
	d.awaitMore(t, id, "durable-write-4k", "ok", 1)
	d.stop(t)

	d = startDaemonWith(t, failing(unix.EIO, unix.SYS_FDATASYNC), state, configuration)
	d.awaitMore(t, id, "durable-write-4k", "error", 2)
	d.awaitMore(t, id, "read-4k", "ok", 2)
	assert.Positive(t, d.scrape(t).of(t, "ssdprobe_probe_errors_total", labels{"id": id, "probe": "durable-write-4k", "errno": "EIO"}))
	d.Stderr.Find(t, `round not usable.*probe=durable-write-4k outcome=error.*EIO`)
	d.stop(t)
}

// A probe file that cannot be flushed is not used, and is not left behind.
func TestFlushFailsWhileFilling(t *testing.T) {
	t.Parallel()
	for _, call := range []int{unix.SYS_FDATASYNC, unix.SYS_FSYNC} {
		dir := testenv.OnDisk(t)
		d := startDaemonWith(t, failing(unix.EIO, call), t.TempDir(), onFiles(t, dir))
		d.Stderr.Find(t, `cannot open the target.*fill .*input/output error`)
		d.awaitUp(t, fileID(dir), false)
		assert.Empty(t, names(t, dir))
		d.stop(t)
	}
}

// A state that cannot be flushed is not saved, which is logged. The earlier state is kept, and probing continues.
func TestFlushOfTheStateFails(t *testing.T) {
	t.Parallel()
	dir, state := testenv.OnDisk(t), t.TempDir()
	configuration := onFiles(t, dir)
	d := startDaemon(t, state, configuration)
	d.awaitMore(t, fileID(dir), "durable-write-4k", "ok", 1)
	d.stop(t)
	files := saved(t, state)
	require.Len(t, files, 1)
	before, err := os.ReadFile(files[0])
	require.NoError(t, err)

	d = startDaemonWith(t, failing(unix.EIO, unix.SYS_FSYNC), state, configuration)
	d.awaitMore(t, fileID(dir), "read-4k", "ok", 2)
	d.stop(t)
	d.Stderr.Find(t, `the stored state has a problem.*input/output error`)
	after, err := os.ReadFile(files[0])
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
	assert.Equal(t, []string{filepath.Base(files[0])}, names(t, filepath.Dir(files[0])), "nothing half-done beside it")
}
