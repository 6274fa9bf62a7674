package faulttest_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"regexp"
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
	// The tests wait for their daemons most of the time.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// patience bounds waiting for what a test observes; nothing takes that long.
const patience = 2 * time.Minute

// eventually polls what can only be asked for.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for !holds() {
		select {
		case <-again.C:
		case <-late.C:
			require.FailNow(t, "waited in vain", what)
		}
	}
}

// program is a started ssdprobe.
type program struct {
	cmd            *exec.Cmd
	stdout, stderr *output
	ended          chan struct{}
}

// start starts ssdprobe with more environment; it is killed when the test ends.
func start(t *testing.T, environment []string, args ...string) *program {
	t.Helper()
	c := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], args...)
	c.Env = append(append(os.Environ(), beProgram+"=1", "GORACE=halt_on_error=1 exitcode=66"), environment...)
	p := &program{cmd: c, stdout: newOutput(), stderr: newOutput(), ended: make(chan struct{})}
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

func (p *program) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(s))
}

// wait waits for the program to end and returns its exit code.
func (p *program) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		require.FailNow(t, "the program does not end")
	}
	return p.cmd.ProcessState.ExitCode()
}

// done is how a command ended.
type done struct {
	code           int
	stdout, stderr string
}

// ssdprobe runs the program to its end.
func ssdprobe(t *testing.T, environment []string, args ...string) done {
	t.Helper()
	p := start(t, environment, args...)
	code := p.wait(t)
	return done{code, p.stdout.text(), p.stderr.text()}
}

// output gathers what a program writes and tells who waits for it.
type output struct {
	mu      sync.Mutex
	b       bytes.Buffer
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

var errOutputEnded = errors.New("the output has ended")

// await waits until what comes after the first skip bytes of the output matches, and returns the groups of the match.
func (o *output) await(ctx context.Context, skip int, wanted *regexp.Regexp) ([]string, error) {
	for {
		o.mu.Lock()
		text, changed, closed := o.b.String(), o.changed, o.closed
		o.mu.Unlock()
		if match := wanted.FindStringSubmatch(text[skip:]); match != nil {
			return match, nil
		}
		if closed {
			return nil, errOutputEnded
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// find waits until the output matches and returns the groups of the match.
func (o *output) find(t *testing.T, pattern string) []string {
	t.Helper()
	return o.findAfter(t, 0, pattern)
}

// findAfter is find in what comes after the first skip bytes.
func (o *output) findAfter(t *testing.T, skip int, pattern string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	match, err := o.await(ctx, skip, regexp.MustCompile(pattern))
	require.NoError(t, err, "no %q in:\n%s", pattern, o.text())
	return match
}

// said is how much the output holds now.
func (o *output) said() int { return len(o.text()) }
