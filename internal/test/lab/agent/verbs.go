package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/ssdprobe/ssdprobe/internal/test/lab/wire"
)

// launch starts the program of a request, if it has one.
func (s *server) launch(r wire.Request) error {
	command := cmp.Or(r.Run, r.Start)
	if command == nil {
		return nil
	}
	p, err := startProcess(command)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processes[r.ID] = p
	return nil
}

func (s *server) run(id uint64) (wire.Reply, error) {
	p, err := s.find(id)
	if err != nil {
		return wire.Reply{}, err
	}
	p.finish()
	s.mu.Lock()
	delete(s.processes, id)
	s.mu.Unlock()
	return outputReply(p.output())
}

func (s *server) start(id uint64) (wire.Reply, error) {
	p, err := s.find(id)
	if err != nil {
		return wire.Reply{}, err
	}
	go p.finish() // ends with the process, or with the machine
	return wire.Reply{PID: p.cmd.Process.Pid}, nil
}

// readFile reads a whole file, including files whose reported size is 0.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, wire.MaxDataBytes+1))
	if err == nil && len(data) > wire.MaxDataBytes {
		err = fmt.Errorf("%s has more than %d bytes: %w", path, wire.MaxDataBytes, syscall.EMSGSIZE)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
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

func (s *server) output(id uint64, get func(*process) (*wire.Output, error)) (wire.Reply, error) {
	p, err := s.find(id)
	if err != nil {
		return wire.Reply{}, err
	}
	return outputReply(get(p))
}

func outputReply(output *wire.Output, err error) (wire.Reply, error) {
	return wire.Reply{Output: output}, err
}

func (s *server) await(r *wire.Await) (wire.Reply, error) {
	p, err := s.find(r.Process)
	if err != nil {
		return wire.Reply{}, err
	}
	line, ok := p.await(r.Text)
	if !ok {
		out, err := p.output()
		if err != nil {
			return wire.Reply{}, fmt.Errorf("ended before it wrote %q; %w", r.Text, err)
		}
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
	err = p.cmd.Process.Signal(r.Signal)
	if errors.Is(err, os.ErrProcessDone) {
		err = syscall.ESRCH // an errno can be sent to the lab
	}
	return wire.Reply{}, err
}
