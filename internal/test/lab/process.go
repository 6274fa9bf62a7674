package lab

import (
	"context"
	"fmt"
	"syscall"

	"github.com/ssdprobe/ssdprobe/internal/test/lab/wire"
)

// Process is a program that runs in the guest in the background. It ends with the machine at the latest.
type Process struct {
	machine *Machine
	guest   *guest // the boot that it belongs to
	id      uint64
	args    []string

	// PID is the process's ID in the guest. It leads a process group of its own.
	PID int
}

// StartProcess starts a program in the guest, as root, and does not wait for it.
func (m *Machine) StartProcess(ctx context.Context, args ...string) (*Process, error) {
	return m.StartCommand(ctx, Command{Args: args})
}

// StartCommand is like StartProcess, for a program that needs more than arguments.
func (m *Machine) StartCommand(ctx context.Context, command Command) (*Process, error) {
	p := &Process{machine: m, guest: m.current(), args: command.Args}
	reply, id, err := p.guest.askNamed(ctx, wire.Request{Start: &command})
	if err != nil {
		return nil, m.wrap(ctx, "start", command.Args, err)
	}
	p.id, p.PID = id, reply.PID
	m.mu.Lock()
	defer m.mu.Unlock()
	m.started = append(m.started, p)
	return p, nil
}

// AwaitLine returns the first whole line that contains text, on either output, including lines that
// were written earlier. If the process ends without one, the error contains all its output.
func (p *Process) AwaitLine(ctx context.Context, text string) (string, error) {
	reply, err := p.ask(ctx, wire.Request{Await: &wire.Await{Process: p.id, Text: text}})
	return reply.Line, err
}

// Wait waits for the end of the process.
func (p *Process) Wait(ctx context.Context) (Result, error) {
	reply, err := p.ask(ctx, wire.Request{Wait: &wire.Process{ID: p.id}})
	if err != nil {
		return Result{}, err
	}
	return result(reply.Output), nil
}

// Output returns what the process has written so far; ExitCode is 0 while it runs.
func (p *Process) Output(ctx context.Context) (Result, error) {
	reply, err := p.ask(ctx, wire.Request{Peek: &wire.Process{ID: p.id}})
	if err != nil {
		return Result{}, err
	}
	return result(reply.Output), nil
}

// Signal sends a signal to the process. The error matches syscall.ESRCH if the process has ended.
func (p *Process) Signal(ctx context.Context, signal syscall.Signal) error {
	return p.signal(ctx, signal, false)
}

// SignalGroup sends a signal to the process and those that it started.
func (p *Process) SignalGroup(ctx context.Context, signal syscall.Signal) error {
	return p.signal(ctx, signal, true)
}

func (p *Process) signal(ctx context.Context, signal syscall.Signal, group bool) error {
	_, err := p.ask(ctx, wire.Request{Signal: &wire.SignalVerb{Process: p.id, Signal: signal, Group: group}})
	return err
}

func (p *Process) ask(ctx context.Context, request wire.Request) (wire.Reply, error) {
	reply, err := p.guest.ask(ctx, request)
	if err != nil {
		return reply, fmt.Errorf("process %q in the laboratory: %w", p.args, p.machine.explain(ctx, err))
	}
	return reply, nil
}
