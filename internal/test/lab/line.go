package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// line creates an unnamed connection to QEMU, which nobody else can use: our end, and the file that QEMU inherits.
func line(name string) (net.Conn, *os.File, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%s line: %w", name, err)
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), name), os.NewFile(uintptr(ends[1]), name)
	defer ours.Close() // FileConn takes a duplicate
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, nil, fmt.Errorf("%s line: %w", name, errors.Join(err, theirs.Close()))
	}
	return conn, theirs, nil
}

// within runs a conversation on the connection and interrupts it when the context ends.
func within(ctx context.Context, conn net.Conn, conversation func() error) error {
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		interrupt(conn)
	})
	err := conversation()
	if stop() {
		return err
	}
	<-interrupted
	if err != nil {
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return conn.SetDeadline(time.Time{})
}

// interrupt makes pending reads and writes on the connection return.
func interrupt(conn net.Conn) {
	conn.SetDeadline(time.Unix(1, 0)) //nolint:errcheck // fails only when it is closed, and then they return as well
}
