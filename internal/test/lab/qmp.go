package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"
)

// qmp is a connection to QEMU's monitor, see QEMU's docs/interop/qmp-spec.txt. It runs one command
// at a time, and delivers events only to callers that wait for them.
type qmp struct {
	conn net.Conn

	mu      sync.Mutex // held during a command and the events that it causes
	in      *bufio.Reader
	partial []byte // of a line that was incomplete when a wait was cancelled
	lastID  int
	events  []event // since the command in progress was sent
}

type event struct {
	Name string `json:"event"`
	Data struct {
		Device string
	}
}

type qmpMessage struct {
	event
	ID     int
	Return json.RawMessage
	Error  *qmpError
}

// qmpError is an error that QEMU returned.
type qmpError struct {
	Class string
	Desc  string
}

func (e *qmpError) Error() string { return e.Desc }

// object is a JSON object for QMP or QEMU's command line.
type object map[string]any

// openQMP does the handshake: QEMU's greeting is the first line.
func openQMP(ctx context.Context, conn net.Conn) (*qmp, error) {
	q := &qmp{conn: conn, in: bufio.NewReader(conn)}
	err := q.do(ctx, func() error {
		if _, err := q.receive(); err != nil {
			return fmt.Errorf("await QEMU's greeting: %w", err)
		}
		_, err := q.call("qmp_capabilities", nil)
		return err
	})
	return q, err
}

// do runs the conversation, alone and within the context.
func (q *qmp) do(ctx context.Context, conversation func() error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return within(ctx, q.conn, conversation)
}

// execute sends one command and waits for its answer.
func (q *qmp) execute(ctx context.Context, command string, arguments object) (answer json.RawMessage, err error) {
	err = q.do(ctx, func() error {
		answer, err = q.call(command, arguments)
		return err
	})
	return answer, err
}

// executeAwaiting sends one command, calls help, and waits for the event that the command causes.
func (q *qmp) executeAwaiting(ctx context.Context, command string, arguments object, help func() error, wanted event) error {
	return q.do(ctx, func() error {
		if _, err := q.call(command, arguments); err != nil {
			return err
		}
		if err := help(); err != nil {
			return err
		}
		return q.await(wanted)
	})
}

// call must be used inside do.
func (q *qmp) call(command string, arguments object) (json.RawMessage, error) {
	q.lastID++
	q.events = nil
	request := object{"execute": command, "id": q.lastID}
	if arguments != nil {
		request["arguments"] = arguments
	}
	if err := json.NewEncoder(q.conn).Encode(request); err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	for {
		message, err := q.receive()
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", command, err)
		case message.Name != "":
			q.events = append(q.events, message.event)
		case message.ID != q.lastID: // the answer to an earlier command that nobody waits for any more
		case message.Error != nil:
			return nil, fmt.Errorf("%s: %w", command, message.Error)
		default:
			return message.Return, nil
		}
	}
}

// await must be used inside do, after call.
func (q *qmp) await(wanted event) error {
	for _, e := range q.events {
		if e == wanted {
			return nil
		}
	}
	for {
		message, err := q.receive()
		if err != nil {
			return fmt.Errorf("await event %s: %w", wanted.Name, err)
		}
		if message.event == wanted {
			return nil
		}
	}
}

func (q *qmp) receive() (qmpMessage, error) {
	var message qmpMessage
	rest, err := q.in.ReadBytes('\n')
	q.partial = append(q.partial, rest...)
	if err != nil {
		return message, err
	}
	line := q.partial
	q.partial = nil
	if err := json.Unmarshal(line, &message); err != nil {
		return message, fmt.Errorf("decode QEMU's message: %w", err)
	}
	return message, nil
}
