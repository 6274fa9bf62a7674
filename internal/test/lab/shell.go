package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Terminal is the terminal of an interactive user.
type Terminal struct {
	In, Out       *os.File
	Rows, Columns int
}

// Shell boots a machine with a shell on the terminal, and returns when the machine is switched off:
// when the shell ends, by Control-A X, or when the context ends. If In is a terminal, QEMU makes it
// raw. Methods of Machine do not work on it.
func Shell(ctx context.Context, options Options, terminal Terminal) error {
	options, err := options.withDefaults()
	if err != nil {
		return fmt.Errorf("options: %w", err)
	}
	tools, err := locate()
	if err != nil {
		return err
	}
	options.KernelArgs = append(options.KernelArgs, fmt.Sprintf("lab.shell=%dx%d", terminal.Rows, terminal.Columns))
	h, err := describe(options, tools)
	defer h.closeFiles()
	if err != nil {
		return err
	}
	h.addTerminal()
	machine, err := startHypervisor(tools.qemu, h.args, h.files, terminal.In, terminal.Out, terminal.Out)
	if err != nil {
		return err
	}
	select {
	case <-machine.done:
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), machine.kill())
	}
	if machine.err != nil {
		return fmt.Errorf("QEMU: %w", machine.err)
	}
	return nil
}
