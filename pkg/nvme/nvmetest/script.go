package nvmetest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// ErrNotProgrammed is the error for a command that the script has no answer for.
var ErrNotProgrammed = errors.New("command not programmed")

// T is the part of testing.TB that a Script uses.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// Script is a controller, in the form of an [nvme.Transport], whose answers depend on
// the content of the commands. It is safe for concurrent use.
//
// Two commands are the same if they ask for the same thing. Their timeouts may differ;
// for a log page, the length and whether events are retained may differ, too.
type Script struct {
	t T

	mu      sync.Mutex
	answers map[nvme.Command]*Answer
	sent    []nvme.Command
}

// New returns a controller without answers. An unexpected command fails t. If t is nil,
// it only returns an error.
func New(t T) *Script {
	return &Script{t: t, answers: map[nvme.Command]*Answer{}}
}

// On returns the answer to cmd, for the caller to program. An answer that is programmed
// more than once gives its replies in order, and repeats the last one.
func (s *Script) On(cmd nvme.Command) *Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	what := subject(cmd)
	if s.answers[what] == nil {
		s.answers[what] = &Answer{script: s}
	}
	return s.answers[what]
}

// Sent returns the commands received so far, in order.
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

// subject returns a command without the fields that do not change what it asks for.
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

// Return answers with data, cut or padded with zeros to the length that is asked for.
func (a *Answer) Return(data []byte) *Answer { return a.add(reply{data: data}) }

// Result answers without data, with dwords 0 and 1 of the completion.
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

// Fail answers with an error instead of a completion, as a driver does.
func (a *Answer) Fail(err error) *Answer { return a.add(reply{err: err}) }

func (a *Answer) add(r reply) *Answer {
	a.script.mu.Lock()
	defer a.script.mu.Unlock()
	a.replies = append(a.replies, r)
	return a
}
