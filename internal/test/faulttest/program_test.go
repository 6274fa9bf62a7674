package faulttest_test

import (
	"io"
	"os"
	"testing"

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
	start      = testenv.Start
	eventually = testenv.Eventually
	names      = testenv.Names
)

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
