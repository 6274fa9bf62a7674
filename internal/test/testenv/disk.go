package testenv

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// OnDisk returns a directory on the filesystem of the package under test, which is on a drive,
// while t.TempDir may be in memory. If root tests another user's tree, the directory is in
// /var/tmp, because state is not kept below that tree. It is removed when the test ends.
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

// Names lists the entries of a directory.
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
