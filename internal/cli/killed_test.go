package cli_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// ssdprobe is killed in the middle of a run that overwrites a device, with a job file that requests processes.
// fio ends, whether it was started directly or by a script with its name, and the device stays exclusively open
// until then.
func TestFioDoesNotOutliveAKilledRun(t *testing.T) {
	real := testenv.Installed(t, "fio")
	wrapper := t.TempDir()
	// The shell stays in between: the kernel's signal at the death of ssdprobe ends only the shell.
	require.NoError(t, os.WriteFile(filepath.Join(wrapper, "fio"), fmt.Appendf(nil, "#!/bin/sh\n%s \"$@\"\nexit $?\n", real), 0o700))
	for name, environment := range map[string][]string{"directly": nil, "by a script": {"PATH=" + wrapper + ":" + os.Getenv("PATH")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loop := testenv.LoopDevice(t, 16<<20, testenv.Options{Random: true})
			job := file(t, "my.fio", "[global]\nthread=0\n[a]\nthread=0\nnumjobs=2\nrw=randwrite\nbs=4k\nioengine=psync\nruntime=10m\ntime_based\nrate_iops=100\n")
			p := testenv.Start(t, environment, "run", "--config", calm(t), "--state-dir", t.TempDir(), "--job", job, "-t", loop.Path,
				"--destroy", "name:"+filepath.Base(loop.Path))
			eventually(t, "fio works on the device", func() bool { return len(fioOn(t, loop.Path)) > 0 })
			_, err := os.OpenFile(loop.Path, os.O_RDONLY|unix.O_EXCL, 0)
			require.ErrorIs(t, err, unix.EBUSY, "the run holds it")

			p.Signal(t, syscall.SIGKILL)
			p.Wait(t)
			eventually(t, "the device is given back", func() bool {
				f, err := os.OpenFile(loop.Path, os.O_RDONLY|unix.O_EXCL, 0)
				require.True(t, err == nil || errors.Is(err, unix.EBUSY), err)
				return err == nil && assert.NoError(t, f.Close())
			})
			assert.Empty(t, fioOn(t, loop.Path), "nobody may take the device while fio writes to it")
		})
	}
}

// ssdprobe is killed while fio reads from, or writes to, a file in a directory. The file stays, and the next run says so. One
// that reads uses a file that is only read again, and keeps it, because it may belong to a daemon. Nobody else has a file
// that is written: one that writes makes it again, and then removes it.
func TestARunAfterAKilledOne(t *testing.T) {
	testenv.Installed(t, "fio")
	const found, left, removed = " MiB) was made by a daemon, with --keep-file, or by a run that was killed: it is used and stays; remove it when no daemon uses it",
		" was left by a run that was killed: remove it, or the next run that writes there does", ", which was left by a run that was killed"
	const reads, writes = "quick", "sequential-vs-random"
	for name, c := range map[string]struct {
		killed, next string
		left         string
		says         string
		stays        bool
	}{
		"read":             {reads, reads, "ssdprobe.dat", "%s (16" + found, true},
		"written":          {writes, writes, "ssdprobe-write.dat", "removed %s" + removed, false},
		"written, is read": {writes, reads, "ssdprobe-write.dat", "%s" + left, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, state, config := testenv.OnDisk(t), t.TempDir(), calm(t)
			run := func(suite, time string) []string {
				return []string{"run", suite, "--config", config, "--state-dir", state, "-t", dir, "--size", "16MiB", "--set", "time=" + time}
			}
			p := testenv.Start(t, nil, run(c.killed, "10m")...)
			eventually(t, "fio works on a file", func() bool { return len(fioOn(t, dir)) > 0 })
			p.Signal(t, syscall.SIGKILL)
			p.Wait(t)
			eventually(t, "fio has ended", func() bool { return len(fioOn(t, dir)) == 0 })
			left := filepath.Join(dir, c.left)
			assert.FileExists(t, left)

			next := run(c.next, "100ms")
			if c.next == writes {
				next = append(next, "--keep-file")
			}
			got := ssdprobe(t, next...)
			assert.Zero(t, got.code, got.stderr)
			assert.Equal(t, c.next == writes, strings.Contains(got.stderr, left+" will be removed all the same, because the suite writes to it"), got.stderr)
			assert.Contains(t, got.stderr, fmt.Sprintf(c.says, left))
			if c.stays {
				assert.Equal(t, []string{c.left}, testenv.Names(t, dir))
			} else {
				assert.Empty(t, testenv.Names(t, dir))
			}
			assert.Equal(t, c.left != "ssdprobe.dat", strings.Contains(got.stderr, "fill "), got.stderr)
		})
	}
}
