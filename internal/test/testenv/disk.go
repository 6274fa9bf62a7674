package testenv

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// OnDisk returns a directory on the filesystem of the package under test, which is that of a
// drive where t.TempDir may be memory; or in /var/tmp, where root tests another user's
// tree: state is not kept below that. It is gone when the test ends.
func OnDisk(t testing.TB) string {
	t.Helper()
	parent := "."
	info, err := os.Stat(parent)
	if err != nil {
		t.Fatal(err)
	}
	if int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
		parent = "/var/tmp"
	}
	dir, err := os.MkdirTemp(parent, ".test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	dir, err = filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Names lists what is in a directory.
func Names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
