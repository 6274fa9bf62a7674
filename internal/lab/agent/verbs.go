package main

import (
	"fmt"
	"syscall"

	"github.com/ssdprobe/ssdprobe/internal/lab/wire"
)

func (s *server) run(id uint64, c *wire.Command) (wire.Reply, error) {
	p, err := s.launch(id, c)
	if err != nil {
		return wire.Reply{}, err
	}
	p.finish()
	s.mu.Lock()
	delete(s.processes, id)
	s.mu.Unlock()
	return wire.Reply{Output: p.output()}, nil
}

func (s *server) start(id uint64, c *wire.Command) (wire.Reply, error) {
	p, err := s.launch(id, c)
	if err != nil {
		return wire.Reply{}, err
	}
	go p.finish() // ends with the process, or with the machine
	return wire.Reply{PID: p.cmd.Process.Pid}, nil
}

func (s *server) launch(id uint64, c *wire.Command) (*process, error) {
	// Held over the start, so that a signal which follows the request finds the process.
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := startProcess(c)
	if err != nil {
		return nil, err
	}
	s.processes[id] = p
	return p, nil
}

func (s *server) find(id uint64) (*process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.processes[id]
	if !ok {
		return nil, fmt.Errorf("process %d: %w", id, syscall.ESRCH)
	}
	return p, nil
}

func (s *server) output(id uint64, get func(*process) *wire.Output) (wire.Reply, error) {
	p, err := s.find(id)
	if err != nil {
		return wire.Reply{}, err
	}
	return wire.Reply{Output: get(p)}, nil
}

func (s *server) await(r *wire.Await) (wire.Reply, error) {
	p, err := s.find(r.Process)
	if err != nil {
		return wire.Reply{}, err
	}
	line, ok := p.await(r.Text)
	if !ok {
		out := p.output()
		return wire.Reply{}, fmt.Errorf("ended with exit code %d before it wrote %q\nstdout:\n%s\nstderr:\n%s",
			out.ExitCode, r.Text, out.Stdout, out.Stderr)
	}
	return wire.Reply{Line: line}, nil
}

func (s *server) signal(r *wire.SignalVerb) (wire.Reply, error) {
	p, err := s.find(r.Process)
	if err != nil {
		return wire.Reply{}, err
	}
	if r.Group {
		return wire.Reply{}, syscall.Kill(-p.cmd.Process.Pid, r.Signal)
	}
	return wire.Reply{}, p.cmd.Process.Signal(r.Signal)
}
