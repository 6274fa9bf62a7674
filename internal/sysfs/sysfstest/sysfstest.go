package sysfstest

import (
	"bufio"
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Unpack creates the files of a txtar archive in a temporary directory of the test.
func Unpack(t testing.TB, archive string) sysfs.FS {
	t.Helper()
	a, err := txtar.ParseFile(archive)
	require.NoError(t, err)
	files, links := map[string]string{}, map[string]string{}
	for _, f := range a.Files {
		if f.Name == "SYMLINKS" {
			maps.Copy(links, parseLinks(t, f.Data))
			continue
		}
		files[f.Name] = string(f.Data)
	}
	require.NotEmpty(t, files, "%s holds no files", archive)
	return Make(t, files, links)
}

// Make creates files, and links from name to target, in a temporary directory of the test. All
// names are relative to the root; targets are used unchanged.
func Make(t testing.TB, files, links map[string]string) sysfs.FS {
	t.Helper()
	root := inMemory(t)
	Add(t, root, files, links)
	return sysfs.New(root)
}

// inMemory returns a temporary directory of the test: in memory as /sys is, where the machine has a directory for that. A
// machine has thousands of files, and to create and remove them on a disk takes ten times as long.
func inMemory(t testing.TB) string {
	t.Helper()
	root, err := os.MkdirTemp("/dev/shm", "sysfstest-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(root)) })
	return root
}

// Add creates files and links below a root.
func Add(t testing.TB, root string, files, links map[string]string) {
	t.Helper()
	for name, data := range files {
		full := inside(t, root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(data), 0o644))
	}
	for name, target := range links {
		full := inside(t, root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.Symlink(target, full))
	}
}

func inside(t testing.TB, root, name string) string {
	t.Helper()
	require.True(t, filepath.IsLocal(name), "%q leaves the root", name)
	return filepath.Join(root, name)
}

func parseLinks(t testing.TB, data []byte) map[string]string {
	t.Helper()
	links := map[string]string{}
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		if s.Text() == "" {
			continue
		}
		name, target, ok := strings.Cut(s.Text(), " -> ")
		require.True(t, ok, "SYMLINKS: %q is not \"link -> target\"", s.Text())
		links[name] = target
	}
	return links
}
