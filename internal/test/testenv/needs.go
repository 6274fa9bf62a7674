package testenv

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Root ends the test if it does not run as root.
func Root(t testing.TB) {
	t.Helper()
	whole(t)
	if os.Geteuid() != 0 {
		missing(t, "root, to make block devices and mounts")
	}
}

// Installed returns the path of a program, and ends the test if it is not installed.
func Installed(t testing.TB, program string) string {
	t.Helper()
	whole(t)
	path, err := exec.LookPath(program)
	if err != nil {
		missing(t, "the program "+program)
	}
	return path
}

// whole ends a test that is not for `make unit`, which uses neither root nor programs.
func whole(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: this test needs more than Go")
	}
}

// missing ends a test because something is missing.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("this test needs %s", what)
	}
	t.Skipf("this test needs %s", what)
}

// commandTimeout is how long a command of this package may take.
const commandTimeout = 5 * time.Minute

// run executes a command and returns what it printed.
func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	path := Installed(t, name)
	// The test's context cannot be used: it has ended when cleanups run.
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", cmd, err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out))
}

// Long skips a test that keeps a CPU busy for a third of a second or more if only short tests are wanted.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: this test keeps a CPU busy for long, and make test runs it")
	}
}
