// Package unreached says in plain words why a server could not be reached. The errors of the libraries name the steps of
// a request instead.
//
//	return fmt.Errorf("ask the daemon at %s: %w", address, unreached.Why(err)) // …: connection refused
package unreached

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/url"

	"golang.org/x/sys/unix"
)

// Error has a message of its own. errors.Is and errors.As find its cause.
type Error struct {
	text  string
	cause error
}

func (e *Error) Error() string { return e.text }

// Unwrap returns the original error of the library.
func (e *Error) Unwrap() error { return e.cause }

// Why returns the error of an HTTP request that got no answer, in a few words and without the address. It returns any
// other error, including nil, unchanged.
func Why(err error) error {
	var asked *url.Error
	if !errors.As(err, &asked) {
		return err
	}
	return &Error{why(asked), err}
}

func why(asked *url.Error) string {
	var (
		operation *net.OpError
		name      *net.DNSError
		file      *fs.PathError // holds credentials, and is read for each request
		number    unix.Errno
	)
	switch {
	case errors.As(asked, &operation) && operation.Op == "proxyconnect":
		return "its proxy does not answer: " + operation.Err.Error() // contains the address of the proxy
	case errors.Is(asked, io.EOF):
		return "the connection was closed without an answer"
	case errors.As(asked, &file):
		return "read " + file.Path + ": " + file.Err.Error()
	case errors.As(asked, &name) && name.IsNotFound:
		return "no host has the name " + name.Name
	case errors.As(asked, &name):
		return "the name " + name.Name + " cannot be resolved: " + name.Err
	case errors.Is(asked, context.DeadlineExceeded) || asked.Timeout():
		return "no answer in time"
	case errors.As(asked, &number):
		return number.Error()
	}
	return asked.Err.Error()
}
