// Command shell opens an interactive shell in the lab's machine, with a written and a sparse drive, and with
// bin/ssdprobe if that is built. Run it from the module's directory; leave it with exit, or with Control-A X.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

const driveBytes = 256 << 20

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func run() error {
	options := lab.Options{Drives: []lab.Drive{
		{Serial: "WRITTEN", SizeBytes: driveBytes, WrittenRatio: 1},
		{Serial: "SPARSE", SizeBytes: driveBytes},
	}}
	welcome := "drives with serial numbers WRITTEN and SPARSE: see nvme list"
	binary, err := filepath.Abs("bin/ssdprobe")
	if err != nil {
		return err
	}
	switch _, err := os.Stat(binary); {
	case err == nil:
		options.Files = map[string]string{"/usr/local/bin/ssdprobe": binary}
	case errors.Is(err, os.ErrNotExist):
		welcome += "; no bin/ssdprobe, which make build makes"
	default:
		return err
	}
	fmt.Fprintln(os.Stderr, "lab: booting;", welcome+"; leave with exit or Control-A X")

	terminal := lab.Terminal{In: os.Stdin, Out: os.Stdout, Rows: 24, Columns: 80}
	if stdin := int(os.Stdin.Fd()); term.IsTerminal(stdin) {
		state, err := term.GetState(stdin)
		if err != nil {
			return fmt.Errorf("terminal: %w", err)
		}
		defer term.Restore(stdin, state) //nolint:errcheck // nothing is left to do about it
		terminal.Columns, terminal.Rows, err = term.GetSize(stdin)
		if err != nil {
			return fmt.Errorf("terminal's size: %w", err)
		}
	}
	return lab.Shell(context.Background(), options, terminal)
}
