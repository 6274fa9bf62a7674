package testenv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Readers reads random blocks of 4 KiB of a device or file with fio, atOnce at a time, until the
// test ends or the program is stopped. It goes before other processes: waiting for a CPU, it would leave the device idle.
func Readers(t testing.TB, path string, atOnce int) *Program {
	t.Helper()
	Root(t)
	return StartCommand(t, readers(t, path, "--nice=-10", "--ioengine=libaio", fmt.Sprintf("--iodepth=%d", atOnce)))
}

// StarvedReaders makes some processes read a device that is limited to few I/Os per second. They
// wait for I/O nearly all the time, like readers of a failing drive.
func StarvedReaders(t testing.TB, device Loop, processes int) *Program {
	t.Helper()
	c := readers(t, device.Path, "--ioengine=psync", fmt.Sprintf("--numjobs=%d", processes))
	return StartCommand(t, InCGroup(c, Throttled(t, device.Number, processes)))
}

func readers(t testing.TB, path string, how ...string) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), Installed(t, "fio"), append([]string{
		"--name=readers", "--filename=" + path, "--rw=randread", "--bs=4k", "--direct=1", "--thread", "--time_based", "--runtime=1h",
	}, how...)...)
}

// Throttled creates a control group that is limited to perSecond reads and perSecond writes per
// second on a device, and returns its directory. The group is removed when the test ends.
func Throttled(t testing.TB, number string, perSecond int) string {
	t.Helper()
	Root(t)
	dir, limits := "/sys/fs/cgroup", map[string]string{"io.max": fmt.Sprintf("%s riops=%[2]d wiops=%[2]d", number, perSecond)}
	if _, err := os.Stat(dir + "/cgroup.controllers"); errors.Is(err, fs.ErrNotExist) {
		limit := fmt.Sprintf("%s %d", number, perSecond)
		dir, limits = dir+"/blkio", map[string]string{"blkio.throttle.read_iops_device": limit, "blkio.throttle.write_iops_device": limit}
	} else if err := os.WriteFile(dir+"/cgroup.subtree_control", []byte("+io"), 0o600); err != nil {
		missing(t, "control groups that may limit I/O: "+err.Error())
	}
	inner, err := os.MkdirTemp(dir, "ssdprobe-test-")
	if err != nil {
		missing(t, "control groups that may limit I/O: "+err.Error())
	}
	t.Cleanup(func() {
		// The kernel releases ended processes a moment later.
		Eventually(t, "the control group is empty", func() bool { return os.Remove(inner) == nil })
	})
	for file, limit := range limits {
		if err := os.WriteFile(filepath.Join(inner, file), []byte(limit), 0o600); err != nil {
			missing(t, "control groups that may limit I/O: "+err.Error())
		}
	}
	return inner
}
