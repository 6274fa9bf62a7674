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

// Result is the output and the exit code of a program.
type Result struct {
	Stdout, Stderr string
	ExitCode       int // as in a shell: 128+n if signal n ended the program
}

// Run runs a program in the guest, as root, and waits for its end. An exit code other than 0 is no error. When the
// context ends, the program is killed with its process group. The program's children may hold its output open for 2 s
// after it has ended. More than 8 MiB of output is the error syscall.EMSGSIZE.
func (m *Machine) Run(ctx context.Context, args ...string) (Result, error) {
	return m.RunCommand(ctx, Command{Args: args})
}

// RunCommand is like Run, for a program that needs more than arguments.
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

// Output is like Run, but returns only the standard output. An exit code other than 0 is an error that includes all
// output.
func (m *Machine) Output(ctx context.Context, args ...string) (string, error) {
	result, err := m.Run(ctx, args...)
	if err == nil && result.ExitCode != 0 {
		err = fmt.Errorf("run %q: exit code %d\n%s%s", args, result.ExitCode, result.Stdout, result.Stderr)
	}
	return result.Stdout, err
}

// ReadFile reads a whole file of the guest, of at most 8 MiB, including files of /proc and /sys.
func (m *Machine) ReadFile(ctx context.Context, path string) ([]byte, error) {
	reply, err := m.current().ask(ctx, wire.Request{Read: &wire.Path{Path: path}})
	if err != nil {
		return nil, m.explain(ctx, err)
	}
	return reply.Data, nil
}

// WriteFile creates a file in the guest, or replaces its content; the directory must exist. The data is at most 8 MiB;
// put larger files into Options.Files.
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

// killTimeout bounds requests to the agent after a context has ended.
const killTimeout = 10 * time.Second

// killAfter kills the process group even though the context has ended. It is no error if the group is already gone.
func (p *Process) killAfter(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTimeout)
	defer cancel()
	err := p.signal(ctx, syscall.SIGKILL, true)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}
