package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/ssdprobe/ssdprobe/internal/test/lab/wire"
)

// guest is the connection to the agent in the machine, from one boot to the next.
type guest struct {
	conn   net.Conn
	in     *bufio.Reader
	kernel string // release

	sending sync.Mutex // one message at a time
	hungUp  bool       // no messages any more

	mu      sync.Mutex
	lastID  uint64
	pending map[uint64]chan wire.Reply

	ended chan struct{} // closed when no more replies come
	lost  error         // why; to be read after ended
}

// ErrReset is the error of calls that a reset of the machine interrupts.
var ErrReset = errors.New("machine was reset")

// openGuest waits for the agent of a machine that boots. Earlier data on the line is dropped.
func openGuest(ctx context.Context, conn net.Conn) (*guest, error) {
	g := &guest{
		conn: conn, in: bufio.NewReader(conn),
		pending: map[uint64]chan wire.Reply{}, ended: make(chan struct{}),
	}
	err := within(ctx, conn, func() error {
		if err := wire.Greeted(g.in); err != nil {
			return err
		}
		var reply wire.Reply
		if err := wire.Read(g.in, &reply); err != nil {
			return err
		}
		if reply.Hello == nil {
			return errors.New("no hello in its first message")
		}
		g.kernel = reply.Hello.Kernel
		return wire.Greet(conn)
	})
	if err != nil {
		return nil, fmt.Errorf("await agent: %w", err)
	}
	go g.receive() // ends in hangUp, or with the machine
	return g, nil
}

func (g *guest) receive() {
	for {
		var reply wire.Reply
		if err := wire.Read(g.in, &reply); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				err = ErrReset
			}
			g.lost = fmt.Errorf("agent: %w", err)
			close(g.ended)
			return
		}
		g.mu.Lock()
		if waiting, ok := g.pending[reply.ID]; ok {
			waiting <- reply // has room for one
			delete(g.pending, reply.ID)
		}
		g.mu.Unlock()
	}
}

// hangUp gives up all requests. Nothing is read from the line or written to it afterwards.
func (g *guest) hangUp() {
	interrupt(g.conn)
	<-g.ended
	g.sending.Lock() // a pending write is interrupted
	defer g.sending.Unlock()
	g.hungUp = true
}

// ask sends a request and waits for the reply.
func (g *guest) ask(ctx context.Context, request wire.Request) (wire.Reply, error) {
	reply, _, err := g.askNamed(ctx, request)
	return reply, err
}

// askNamed also returns the request's ID, which identifies a process even if there was no reply.
func (g *guest) askNamed(ctx context.Context, request wire.Request) (reply wire.Reply, id uint64, err error) {
	answer := make(chan wire.Reply, 1)
	id = g.enter(answer)
	defer g.leave(id)
	request.ID = id
	if err := g.send(request); err != nil {
		return reply, id, err
	}
	select {
	case reply = <-answer:
	case <-ctx.Done():
		return reply, id, context.Cause(ctx)
	case <-g.ended:
		return reply, id, g.lost
	}
	if reply.Error != "" {
		return reply, id, &guestError{reply}
	}
	return reply, id, nil
}

func (g *guest) enter(answer chan wire.Reply) uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lastID++
	g.pending[g.lastID] = answer
	return g.lastID
}

func (g *guest) leave(id uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.pending, id)
}

func (g *guest) send(request wire.Request) error {
	g.sending.Lock()
	defer g.sending.Unlock()
	if g.hungUp {
		return g.lost
	}
	return wire.Write(g.conn, request)
}

// guestError is an error of the agent; errors.Is finds its errno.
type guestError struct{ reply wire.Reply }

func (e *guestError) Error() string { return e.reply.Error }

func (e *guestError) Unwrap() error {
	if e.reply.Errno == 0 {
		return nil
	}
	return e.reply.Errno
}
