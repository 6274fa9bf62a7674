package testenv

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// MemoryCGroup creates nested control groups with the given memory limits in bytes, outermost
// first, and returns the directory of the innermost. They are removed when the test ends.
func MemoryCGroup(t testing.TB, limits ...int64) string {
	t.Helper()
	Root(t)
	dir, file := "/sys/fs/cgroup", "memory.max"
	if _, err := os.Stat(dir + "/cgroup.controllers"); errors.Is(err, fs.ErrNotExist) {
		dir, file = dir+"/memory", "memory.limit_in_bytes"
	}
	for _, limit := range limits {
		if file == "memory.max" {
			if err := os.WriteFile(dir+"/cgroup.subtree_control", []byte("+memory"), 0o600); err != nil {
				missing(t, "control groups that may limit memory: "+err.Error())
			}
		}
		inner, err := os.MkdirTemp(dir, "ssdprobe-test-")
		if err != nil {
			missing(t, "control groups that may limit memory: "+err.Error())
		}
		t.Cleanup(func() {
			// The kernel releases ended processes a moment later.
			Eventually(t, "the control group is empty", func() bool { return os.Remove(inner) == nil })
		})
		if err := os.WriteFile(filepath.Join(inner, file), []byte(strconv.FormatInt(limit, 10)), 0o600); err != nil {
			t.Fatal(err)
		}
		dir = inner
	}
	return dir
}

// InCGroup changes a command so that it runs in the control group of a directory from the start.
func InCGroup(c *exec.Cmd, dir string) *exec.Cmd {
	c.Args = append([]string{"sh", "-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, dir, c.Path}, c.Args[1:]...)
	c.Path = "/bin/sh"
	return c
}
