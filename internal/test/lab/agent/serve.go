package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/test/lab/wire"
)

// The serial port's device node comes some time after its driver is loaded.
const (
	portTimeout  = 30 * time.Second
	portInterval = 5 * time.Millisecond
)

// server answers requests, each in a goroutine of its own, because some take long.
type server struct {
	port  *os.File
	write sync.Mutex // one message at a time

	mu        sync.Mutex
	processes map[uint64]*process // by the ID of the request that started them
}

// serve answers requests until the lab closes the connection.
func serve() error {
	port, err := openPort()
	if err != nil {
		return err
	}
	defer port.Close()
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return fmt.Errorf("uname: %w", err)
	}
	s := &server{port: port, processes: map[uint64]*process{}}
	if err := wire.Greet(port); err != nil {
		return fmt.Errorf("greet: %w", err)
	}
	if err := s.send(wire.Reply{Hello: &wire.Hello{Kernel: unix.ByteSliceToString(name.Release[:])}}); err != nil {
		return err
	}
	in := bufio.NewReader(port)
	if err := wire.Greeted(in); err != nil {
		return fmt.Errorf("await greeting: %w", err)
	}
	var requests errgroup.Group
	for {
		var request wire.Request
		if err := wire.Read(in, &request); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		// Launch here and not in the goroutine, so that a signal that follows the request finds the process.
		err := s.launch(request)
		requests.Go(func() error { return s.send(s.answer(request, err)) })
	}
}

// openPort opens the port to the lab. The first number of its name counts virtio devices of all kinds.
func openPort() (*os.File, error) {
	ticks := time.NewTicker(portInterval)
	defer ticks.Stop()
	for deadline := time.After(portTimeout); ; {
		paths, err := filepath.Glob(fmt.Sprintf("/dev/vport*p%d", wire.Port))
		if err != nil {
			return nil, err
		}
		if len(paths) > 0 {
			return os.OpenFile(paths[0], os.O_RDWR, 0)
		}
		select {
		case <-deadline:
			return nil, fmt.Errorf("no virtio port %d in %v: %w", wire.Port, portTimeout, os.ErrNotExist)
		case <-ticks.C:
		}
	}
}

func (s *server) send(reply wire.Reply) error {
	s.write.Lock()
	defer s.write.Unlock()
	err := wire.Write(s.port, reply)
	if errors.Is(err, wire.ErrTooLong) {
		err = wire.Write(s.port, wire.Reply{ID: reply.ID, Error: err.Error(), Errno: syscall.EMSGSIZE})
	}
	if err != nil {
		report("send", err)
	}
	return err
}

// answer does what the request asks for, unless its launch has ended in an error.
func (s *server) answer(r wire.Request, err error) wire.Reply {
	var reply wire.Reply
	if err == nil {
		reply, err = s.carryOut(r)
	}
	reply.ID = r.ID
	if err != nil {
		reply.Error = err.Error()
		var errno syscall.Errno
		if errors.As(err, &errno) {
			reply.Errno = errno
		}
	}
	return reply
}

func (s *server) carryOut(r wire.Request) (reply wire.Reply, err error) {
	switch {
	case r.Run != nil:
		return s.run(r.ID)
	case r.Start != nil:
		return s.start(r.ID)
	case r.Await != nil:
		return s.await(r.Await)
	case r.Wait != nil:
		return s.output(r.Wait.ID, (*process).wait)
	case r.Peek != nil:
		return s.output(r.Peek.ID, (*process).output)
	case r.Signal != nil:
		return s.signal(r.Signal)
	case r.Read != nil:
		reply.Data, err = readFile(r.Read.Path)
		return reply, err
	case r.Write != nil:
		return reply, os.WriteFile(r.Write.Path, r.Write.Data, os.FileMode(r.Write.Mode))
	case r.Glob != nil:
		reply.Paths, err = filepath.Glob(r.Glob.Path)
		return reply, err
	case r.Find != nil:
		reply.Drive, err = findDrive(r.Find)
		return reply, err
	default:
		return reply, errors.New("request without a verb")
	}
}
