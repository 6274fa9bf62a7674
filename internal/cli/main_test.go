package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/cli"
)

// beProgram makes the test binary be ssdprobe itself, race detector included.
const beProgram = "SSDPROBE_TEST_BE_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(beProgram) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// patience bounds waiting for what a test observes; nothing takes that long.
const patience = 60 * time.Second

// command returns a ready ssdprobe, which is killed when the test ends.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Env = append(os.Environ(), beProgram+"=1", "GORACE=halt_on_error=1 exitcode=66")
	return c
}

// done is how a command ended.
type done struct {
	code           int
	stdout, stderr string
}

// ssdprobe runs the program to its end.
func ssdprobe(t *testing.T, args ...string) done {
	t.Helper()
	c := command(t, args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		t.Fatalf("run ssdprobe %v: %v", args, err)
	}
	return done{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

// program is an ssdprobe that runs on.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout *output
	stderr *output
	ended  chan struct{}
}

// start starts the program and lets it run.
func start(t *testing.T, args ...string) *program {
	t.Helper()
	c := command(t, args...)
	p := &program{t: t, cmd: c, stdout: newOutput(), stderr: newOutput(), ended: make(chan struct{})}
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	stderr, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	var reading sync.WaitGroup
	reading.Go(func() { p.stdout.read(stdout) })
	reading.Go(func() { p.stderr.read(stderr) })
	go func() {
		reading.Wait()
		_ = c.Wait() // the state has it
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill() // it may have ended
		<-p.ended
		if t.Failed() {
			t.Logf("output of ssdprobe %v:\n%s%s", args, p.stdout.text(), p.stderr.text())
		}
	})
	return p
}

// signal sends a signal to the program.
func (p *program) signal(s syscall.Signal) {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(s))
}

// wait waits for the program to end and returns its exit code.
func (p *program) wait() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatal("the program does not end")
	}
	return p.cmd.ProcessState.ExitCode()
}

// output gathers what a program writes and tells who waits for it.
type output struct {
	mu      sync.Mutex
	b       strings.Builder
	changed chan struct{} // closed at each change
	closed  bool
}

func newOutput() *output { return &output{changed: make(chan struct{})} }

func (o *output) read(r io.Reader) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		o.mu.Lock()
		o.b.WriteString(line)
		o.closed = err != nil
		close(o.changed)
		o.changed = make(chan struct{})
		o.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// find waits until the output matches and returns the groups of the match.
func (o *output) find(t *testing.T, pattern string) []string {
	t.Helper()
	wanted := regexp.MustCompile(pattern)
	late := time.After(patience)
	for {
		o.mu.Lock()
		text, changed, closed := o.b.String(), o.changed, o.closed
		o.mu.Unlock()
		if match := wanted.FindStringSubmatch(text); match != nil {
			return match
		}
		require.Falsef(t, closed, "the output ended without %q:\n%s", pattern, text)
		select {
		case <-changed:
		case <-late:
			t.Fatalf("no %q in:\n%s", pattern, text)
		}
	}
}

// eventually polls what can only be asked for.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	patient(t, patience, what, holds)
}

// patient polls for as long as is needed for what takes its time.
func patient(t *testing.T, patience time.Duration, what string, holds func() bool) {
	t.Helper()
	late := time.After(patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("never: %s", what)
		}
	}
}

// file writes a file of the test's own.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
