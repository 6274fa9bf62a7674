package manifesttest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// at returns the path of a file of the repository.
func at(elements ...string) string {
	return filepath.Join(append([]string{"..", "..", ".."}, elements...)...)
}

// run runs a command to its end and returns its standard output. Its standard error is shown if it fails.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, errs, err := try(t, name, args...)
	require.NoErrorf(t, err, "%s %s:\n%s%s", name, strings.Join(args, " "), out, errs)
	return out
}

// try is like run, for commands that may fail.
func try(t *testing.T, name string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	c := exec.CommandContext(t.Context(), name, args...)
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	return out.String(), errs.String(), err
}

// tool returns the path of a tool of a pinned version, and builds it if necessary.
func tool(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSpace(run(t, at("scripts", "build-tool.sh"), name))
}

// need fails the test if a command of a Debian package is missing.
func need(t *testing.T, command, debian string) {
	t.Helper()
	_, err := exec.LookPath(command)
	require.NoErrorf(t, err, "install it with scripts/install.sh %s", debian)
}

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "ssdprobe-manifesttest-"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(scratch); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// scratch is the directory for what is created once for all tests.
var scratch string

// build builds ssdprobe as it is shipped.
var build = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "ssdprobe")
	c := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, at("cmd", "ssdprobe"))
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build ssdprobe: %w:\n%s", err, out)
	}
	return path, nil
})

// program returns the path of ssdprobe.
func program(t *testing.T) string {
	t.Helper()
	path, err := build()
	require.NoError(t, err)
	return path
}

// read returns the text of a file.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// write writes a file and the directories above it.
func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), mode))
}
