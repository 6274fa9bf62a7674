package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/test/lab/wire"
)

// Command is a program to run in the guest.
type Command = wire.Command

// Result is what a program wrote, and how it ended.
type Result struct {
	Stdout, Stderr string
	ExitCode       int // as a shell has it: 128+n when signal n ended it
}

// Run runs a program in the guest, as root, and waits for its end. An exit code other than 0 is no error. When the
// context ends, the program is killed with its process group. The program's own children may hold its output open for
// 2 s after its end. More than 8 MiB of output are syscall.EMSGSIZE.
func (m *Machine) Run(ctx context.Context, args ...string) (Result, error) {
	return m.RunCommand(ctx, Command{Args: args})
}

// RunCommand is Run for a program that needs more than arguments.
func (m *Machine) RunCommand(ctx context.Context, command Command) (Result, error) {
	g := m.current()
	reply, id, err := g.askNamed(ctx, wire.Request{Run: &command})
	if err != nil {
		if ctx.Err() != nil {
			p := &Process{machine: m, guest: g, id: id}
			err = errors.Join(err, p.killAfter(ctx))
		}
		return Result{}, m.wrap(ctx, "run", command.Args, err)
	}
	return result(reply.Output), nil
}

// Output is Run for programs that are means to an end: it returns the standard output, and another exit code than 0 is
// an error with all that was written.
func (m *Machine) Output(ctx context.Context, args ...string) (string, error) {
	result, err := m.Run(ctx, args...)
	if err == nil && result.ExitCode != 0 {
		err = fmt.Errorf("run %q: exit code %d\n%s%s", args, result.ExitCode, result.Stdout, result.Stderr)
	}
	return result.Stdout, err
}

// ReadFile reads a whole file of the guest, of at most 8 MiB; files of /proc and /sys too.
func (m *Machine) ReadFile(ctx context.Context, path string) ([]byte, error) {
	reply, err := m.current().ask(ctx, wire.Request{Read: &wire.Path{Path: path}})
	if err != nil {
		return nil, m.explain(ctx, err)
	}
	return reply.Data, nil
}

// WriteFile creates a file in the guest, or replaces its content; the folder must be there. At most 8 MiB: more
// goes into Options.Files.
func (m *Machine) WriteFile(ctx context.Context, path string, data []byte, mode fs.FileMode) error {
	_, err := m.current().ask(ctx, wire.Request{
		Write: &wire.WriteVerb{Path: path, Data: data, Mode: uint32(mode.Perm())},
	})
	return m.explain(ctx, err)
}

// Glob lists the guest's files that match a pattern of path/filepath.
func (m *Machine) Glob(ctx context.Context, pattern string) ([]string, error) {
	reply, err := m.current().ask(ctx, wire.Request{Glob: &wire.Path{Path: pattern}})
	return reply.Paths, m.explain(ctx, err)
}

func (m *Machine) wrap(ctx context.Context, verb string, args []string, err error) error {
	return fmt.Errorf("%s %q in the laboratory: %w", verb, args, m.explain(ctx, err))
}

func result(output *wire.Output) Result {
	return Result{Stdout: string(output.Stdout), Stderr: string(output.Stderr), ExitCode: output.ExitCode}
}

// killTimeout bounds what is still said to the agent after a context's end.
const killTimeout = 10 * time.Second

// killAfter kills the process group although the context has ended. That it is gone already is no error.
func (p *Process) killAfter(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTimeout)
	defer cancel()
	err := p.signal(ctx, syscall.SIGKILL, true)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}
