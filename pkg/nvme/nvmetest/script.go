package nvmetest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// ErrNotProgrammed is what a command gets that the script has no answer for.
var ErrNotProgrammed = errors.New("command not programmed")

// T is the part of testing.TB that a Script uses.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// Script is a controller, as an [nvme.Transport], that answers by the content of
// commands. Several goroutines may use it.
//
// Commands are the same when they ask for the same thing: their timeout does not
// count, and of a log page neither its length nor whether events are retained.
type Script struct {
	t T

	mu      sync.Mutex
	answers map[nvme.Command]*Answer
	sent    []nvme.Command
}

// New returns a controller without answers. An unexpected command fails t; without a
// t, which may be nil, it is only an error.
func New(t T) *Script {
	return &Script{t: t, answers: map[nvme.Command]*Answer{}}
}

// On returns the answer to cmd, to be programmed. Programmed more than once, it gives
// one answer after the other, and the last one for ever.
func (s *Script) On(cmd nvme.Command) *Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	what := subject(cmd)
	if s.answers[what] == nil {
		s.answers[what] = &Answer{script: s}
	}
	return s.answers[what]
}

// Sent returns the commands that came so far, as they came.
func (s *Script) Sent() []nvme.Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]nvme.Command(nil), s.sent...)
}

// Admin implements [nvme.Transport].
func (s *Script) Admin(cmd nvme.Command, data []byte) (nvme.Completion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, cmd)
	answer := s.answers[subject(cmd)]
	if answer == nil || len(answer.replies) == 0 {
		if s.t != nil {
			s.t.Helper()
			s.t.Errorf("nvmetest: %v: %v: %+v", cmd, ErrNotProgrammed, cmd)
		}
		return nvme.Completion{}, fmt.Errorf("%w: %+v", ErrNotProgrammed, cmd)
	}
	r := answer.replies[0]
	if len(answer.replies) > 1 {
		answer.replies = answer.replies[1:]
	}
	clear(data[copy(data, r.data):])
	return r.completion, r.err
}

// subject leaves of a command what it asks for.
func subject(cmd nvme.Command) nvme.Command {
	cmd.Timeout = 0
	if cmd.Opcode == nvme.OpcodeGetLogPage {
		cmd.Dword10 &= 0x7FFF     // without NUMDL and RAE
		cmd.Dword11 &= 0xFFFF0000 // without NUMDU
	}
	return cmd
}

// Answer is what a Script answers to one command.
type Answer struct {
	script  *Script
	replies []reply
}

type reply struct {
	data       []byte
	completion nvme.Completion
	err        error
}

// Return answers with data: as much as is asked for, with zeros after its end.
func (a *Answer) Return(data []byte) *Answer { return a.add(reply{data: data}) }

// Result answers without data, by dwords 0 and 1 of the completion.
func (a *Answer) Result(result uint64) *Answer {
	return a.add(reply{completion: nvme.Completion{Result: result}})
}

// ReturnResult answers with data and a result.
func (a *Answer) ReturnResult(data []byte, result uint64) *Answer {
	return a.add(reply{data: data, completion: nvme.Completion{Result: result}})
}

// Refuse answers with a status.
func (a *Answer) Refuse(status nvme.Status) *Answer {
	return a.add(reply{completion: nvme.Completion{Status: status}})
}

// Fail gives no completion but an error, as a driver does.
func (a *Answer) Fail(err error) *Answer { return a.add(reply{err: err}) }

func (a *Answer) add(r reply) *Answer {
	a.script.mu.Lock()
	defer a.script.mu.Unlock()
	a.replies = append(a.replies, r)
	return a
}
