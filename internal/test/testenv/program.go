package testenv

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// beProgram is the variable that makes a test binary run the program that it tests, with the race detector.
const beProgram = "SSDPROBE_TEST_BE_PROGRAM"

// Main is for the TestMain of a package that starts the program. The test binary acts as the
// program when Command or CommandLine starts it. Main returns the exit code.
func Main(m *testing.M, program func(arguments []string, stdout, stderr io.Writer) int) int {
	Be(program)
	// Tests send SIGHUP to the programs. If this process ignores the signal, as under nohup, they would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	// Such tests mostly wait for their programs.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	return m.Run()
}

// Be runs the program and exits with its code, if the process was started for that.
func Be(program func(arguments []string, stdout, stderr io.Writer) int) {
	if os.Getenv(beProgram) != "" {
		os.Exit(program(os.Args[1:], os.Stdout, os.Stderr))
	}
}

// CommandLine returns the command line of the program, for tests that start it themselves.
func CommandLine(t testing.TB, arguments ...string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{"env", beProgram + "=1", self}, arguments...)
}

// Children returns the processes that a process has started and not reaped.
func Children(t testing.TB, pid int) []int {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // of each thread
	if err != nil {
		t.Fatal(err)
	}
	var children []int
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) { // the thread has ended
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		for _, field := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			children = append(children, child)
		}
	}
	return children
}

// Command returns the program, with more environment, ready to be started.
func Command(t testing.TB, environment []string, arguments ...string) *exec.Cmd {
	t.Helper()
	whole(t)
	c := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], arguments...)
	c.Env = append(append(os.Environ(), beProgram+"=1", "GORACE="+os.Getenv("GORACE")+" halt_on_error=1 exitcode=66"), environment...)
	return c
}

// Program is a started program.
type Program struct {
	Cmd            *exec.Cmd
	Stdout, Stderr *Output
	ended          chan struct{}
}

// Start starts the program with more environment; it is killed when the test ends.
func Start(t testing.TB, environment []string, arguments ...string) *Program {
	t.Helper()
	return StartCommand(t, Command(t, environment, arguments...))
}

// StartIn is like Start, in an environment that a shell script prepares in a mount namespace of its own. The script ends
// with the command that changes the rights of the program, such as "setpriv --bounding-set=-sys_ptrace", or with "exec".
func StartIn(t testing.TB, world string, environment []string, arguments ...string) *Program {
	t.Helper()
	Root(t)
	c := Command(t, environment, arguments...)
	c.Path = Installed(t, "unshare")
	c.Args = append([]string{"unshare", "--mount", "--propagation", "private", "sh", "-ec", world + ` "$0" "$@"`}, c.Args...)
	return StartCommand(t, c)
}

// StartTool starts another program that a test needs.
func StartTool(t testing.TB, name string, arguments ...string) *Program {
	t.Helper()
	c := exec.CommandContext(context.WithoutCancel(t.Context()), Installed(t, name), arguments...)
	// An automounter does not mount for processes of its own group.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return StartCommand(t, c)
}

// StartCommand starts a command; it is killed when the test ends.
func StartCommand(t testing.TB, c *exec.Cmd) *Program {
	t.Helper()
	p := &Program{Cmd: c, Stdout: newOutput(), Stderr: newOutput(), ended: make(chan struct{})}
	p.Cmd.Stdout, p.Cmd.Stderr = p.Stdout, p.Stderr
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.Cmd.Wait() // the result is in ProcessState
		p.Stdout.end()
		p.Stderr.end()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.Cmd.Process.Kill() // it may have ended already
		<-p.ended
		if t.Failed() {
			t.Logf("output of %v:\n%s%s", c.Args[1:], p.Stdout.Text(), p.Stderr.Text())
		}
	})
	return p
}

// Signal sends a signal to the program.
func (p *Program) Signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := p.Cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Wait waits for the program to end and returns its exit code.
func (p *Program) Wait(t testing.TB) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(Patience):
		t.Fatal("the program does not end")
	}
	return p.Cmd.ProcessState.ExitCode()
}
