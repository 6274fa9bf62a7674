package faulttest_test

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/cli"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, program)) }

// program is ssdprobe, with a failing system call if a test wants that.
func program(arguments []string, stdout, stderr io.Writer) int {
	if err := failTheCall(); err != nil {
		panic(err)
	}
	return cli.Main(arguments, stdout, stderr)
}

// patience bounds waiting for what a test observes.
const patience = testenv.Patience

var (
	start = testenv.Start
	names = testenv.Names
)

// eventually polls until a condition holds, seldom because most conditions scrape a daemon that runs with the race
// detector.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	testenv.EventuallyWithin(t, patience, 500*time.Millisecond, what, holds)
}

// done is the result of a command.
type done struct {
	code           int
	stdout, stderr string
}

// ssdprobe runs the program to its end.
func ssdprobe(t *testing.T, environment []string, args ...string) done {
	t.Helper()
	p := start(t, environment, args...)
	code := p.Wait(t)
	return done{code, p.Stdout.Text(), p.Stderr.Text()}
}
