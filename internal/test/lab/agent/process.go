package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/test/lab/wire"
)

// orphanDelay is how long a program's children may hold its output open after it has ended.
const orphanDelay = 2 * time.Second

// process is a started program with its output. mu protects the fields below it; changed announces changes of them.
type process struct {
	cmd *exec.Cmd

	mu             sync.Mutex
	changed        *sync.Cond
	stdout, stderr bytes.Buffer
	overflow       bool // the program wrote more than is kept
	exited         bool
}

// stream is one output of a process.
type stream struct {
	process *process
	buffer  *bytes.Buffer
}

func (s stream) Write(p []byte) (int, error) {
	s.process.mu.Lock()
	defer s.process.mu.Unlock()
	defer s.process.changed.Broadcast()
	// Excess output is dropped, and callers are told: the program continues, and the guest's memory stays free.
	room := wire.MaxDataBytes - s.process.stdout.Len() - s.process.stderr.Len()
	if len(p) > room {
		s.process.overflow = true
		s.buffer.Write(p[:room])
		return len(p), nil
	}
	return s.buffer.Write(p)
}

// startProcess starts the command as the leader of a process group of its own.
func startProcess(c *wire.Command) (*process, error) {
	if len(c.Args) == 0 {
		return nil, fmt.Errorf("command without a program: %w", os.ErrInvalid)
	}
	p := &process{cmd: exec.Command(c.Args[0], c.Args[1:]...)} //nolint:noctx // the laboratory kills it by Signal
	p.changed = sync.NewCond(&p.mu)
	p.cmd.Env = append(os.Environ(), c.Env...)
	p.cmd.Dir = c.Dir
	if c.Dir == "" {
		p.cmd.Dir = "/"
	}
	if len(c.Stdin) > 0 {
		p.cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	p.cmd.Stdout = stream{p, &p.stdout}
	p.cmd.Stderr = stream{p, &p.stderr}
	p.cmd.WaitDelay = orphanDelay
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.UID != 0 || c.GID != 0 {
		p.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: c.UID, Gid: c.GID}
		p.cmd.SysProcAttr.AmbientCaps = c.Capabilities
	}
	return p, p.cmd.Start()
}

// finish waits for the program and for the end of its output. An abnormal end is reported in its stderr.
func (p *process) finish() {
	err := p.cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		fmt.Fprintf(&p.stderr, "lab: wait: %v\n", err)
	}
	p.exited = true
	p.changed.Broadcast()
}

// output returns what the process has written so far.
func (p *process) output() (*wire.Output, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outputLocked()
}

func (p *process) outputLocked() (*wire.Output, error) {
	if p.overflow {
		return nil, fmt.Errorf("it wrote more than %d bytes: %w", wire.MaxDataBytes, syscall.EMSGSIZE)
	}
	out := &wire.Output{
		Stdout: bytes.Clone(p.stdout.Bytes()),
		Stderr: bytes.Clone(p.stderr.Bytes()),
		Exited: p.exited,
	}
	if p.exited {
		out.ExitCode = exitCode(p.cmd.ProcessState)
	}
	return out, nil
}

// wait returns the output when the process has ended.
func (p *process) wait() (*wire.Output, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.exited {
		p.changed.Wait()
	}
	return p.outputLocked()
}

// await returns the first whole line with text in it, or false when the process ended without one.
func (p *process) await(text string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for _, buffer := range []*bytes.Buffer{&p.stdout, &p.stderr} {
			for line := range strings.Lines(buffer.String()) {
				if strings.Contains(line, text) && strings.HasSuffix(line, "\n") {
					return strings.TrimRight(line, "\r\n"), true
				}
			}
		}
		if p.exited {
			return "", false
		}
		p.changed.Wait()
	}
}

func exitCode(state *os.ProcessState) int {
	if state == nil {
		return -1
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
