package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/lab/wire"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// portTimeout bounds the wait for the serial port's device node, which the driver makes some time after loading.
const portTimeout = 10 * time.Second

// server answers requests; each is served in its own goroutine, because some wait long.
type server struct {
	port  *os.File
	write sync.Mutex // one message at a time

	mu        sync.Mutex
	processes map[uint64]*process // by the ID of the request that started them
}

// serve answers until the laboratory hangs up.
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
	if err := s.send(wire.Reply{Hello: &wire.Hello{Kernel: unix.ByteSliceToString(name.Release[:])}}); err != nil {
		return err
	}
	var requests errgroup.Group
	for {
		var request wire.Request
		if err := wire.Read(port, &request); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		requests.Go(func() error { return s.send(s.answer(request)) })
	}
}

func openPort() (*os.File, error) {
	path := fmt.Sprintf("/dev/vport0p%d", wire.Port)
	for deadline := time.Now().Add(portTimeout); ; {
		port, err := os.OpenFile(path, os.O_RDWR, 0)
		if err == nil || time.Now().After(deadline) {
			return port, err
		}
		<-time.After(5 * time.Millisecond)
	}
}

func (s *server) send(reply wire.Reply) error {
	s.write.Lock()
	defer s.write.Unlock()
	err := wire.Write(s.port, reply)
	if err != nil {
		report("send", err)
	}
	return err
}

func (s *server) answer(r wire.Request) wire.Reply {
	reply, err := s.carryOut(r)
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
		return s.run(r.ID, r.Run)
	case r.Start != nil:
		return s.start(r.ID, r.Start)
	case r.Await != nil:
		return s.await(r.Await)
	case r.Wait != nil:
		return s.output(r.Wait.ID, (*process).wait)
	case r.Peek != nil:
		return s.output(r.Peek.ID, (*process).output)
	case r.Signal != nil:
		return s.signal(r.Signal)
	case r.Read != nil:
		reply.Data, err = os.ReadFile(r.Read.Path)
		return reply, err
	case r.Write != nil:
		return reply, os.WriteFile(r.Write.Path, r.Write.Data, os.FileMode(r.Write.Mode))
	case r.Glob != nil:
		reply.Paths, err = filepath.Glob(r.Glob.Path)
		return reply, err
	default:
		return reply, errors.New("request without a verb")
	}
}
