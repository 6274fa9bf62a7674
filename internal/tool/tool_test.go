package tool_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/internal/tool"
)

// program writes a shell program for the test.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700))
	return path
}

func TestFind(t *testing.T) {
	path := program(t, "")
	t.Setenv("PATH", filepath.Dir(path))
	found, err := tool.Find("program")
	require.NoError(t, err)
	assert.Equal(t, path, found)
	_, err = tool.Find("no-such-program")
	require.ErrorIs(t, err, exec.ErrNotFound)
}

func TestAsk(t *testing.T) {
	file, err := os.Open(program(t, "a file"))
	require.NoError(t, err)
	defer file.Close()
	got, err := tool.Ask(t.Context(), program(t, "echo $1 $LC_ALL; cat <&3 >&2; exit 8\n"), []string{"hello"}, file)
	require.NoError(t, err)
	assert.Equal(t, tool.Answer{Stdout: []byte("hello C\n"), Stderr: []byte("#!/bin/sh\na file"), ExitCode: 8}, got)
}

func TestAskWhatGivesNoAnswer(t *testing.T) {
	_, err := tool.Ask(t.Context(), program(t, "exec yes\n"), nil)
	require.ErrorContains(t, err, "program: it says more than 1048576 bytes")
	_, err = tool.Ask(t.Context(), program(t, "kill -KILL $$\n"), nil)
	require.ErrorContains(t, err, "program: signal: killed")
	_, err = tool.Ask(t.Context(), filepath.Join(t.TempDir(), "absent"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A program that hangs is killed with everything that it started.
func TestAskEndsWhatHangs(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pid")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan string, 1)
	go func() {
		text, err := os.ReadFile(pipe)
		assert.NoError(t, err)
		started <- string(text)
		cancel()
	}()
	_, err := tool.Ask(ctx, program(t, "sleep 1000 &\necho $! >"+pipe+"\nwait\n"), nil)
	require.ErrorIs(t, err, context.Canceled)
	pid, err := strconv.Atoi(strings.TrimSpace(<-started))
	require.NoError(t, err)
	testenv.Eventually(t, "it has ended", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) })
}

// zombie reports whether a process has ended but was not waited for.
func zombie(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(text), ") Z ")
}
