package lab

import (
	"fmt"
	"io"
)

// Terminal is where a person sits.
type Terminal struct {
	In            io.Reader
	Out           io.Writer
	Rows, Columns int
}

// Shell boots a machine with a shell on the terminal, and returns when it is switched off: by the shell's end, or by
// Control-A X. When In is a terminal, QEMU makes it raw. Nothing is served to methods of Machine.
func Shell(options Options, terminal Terminal) error {
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
	<-machine.done
	if machine.err != nil {
		return fmt.Errorf("QEMU: %w", machine.err)
	}
	return nil
}
