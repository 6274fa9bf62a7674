package lab

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Build compiles a main package of this module for the guest, without cgo, and returns the path of
// a copy that lives as long as the test. It is fast if nothing has changed since the last build.
func Build(t testing.TB, importPath string) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), path.Base(importPath))
	err := withBuild(importPath, func(program string) error { return copyProgram(copied, program) })
	if err != nil {
		t.Fatal(err)
	}
	return copied
}

// withBuild compiles the package and calls use with the program. The program stays in the cache, so that go
// build links it again only if necessary. Other test processes use the same file, so all of this holds a lock.
func withBuild(importPath string, use func(program string) error) error {
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	dir := filepath.Join(cache, "bin")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close() // which also unlocks
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	program := filepath.Join(dir, path.Base(importPath))
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, importPath) //nolint:noctx // the next test needs it too
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", importPath, err, out)
	}
	return use(program)
}

func copyProgram(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	file, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, source)
	return errors.Join(err, file.Close())
}
