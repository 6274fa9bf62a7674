// Package unreached says why a server was not reached, in words for people: the errors of the libraries name the steps of a
// request instead.
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

// Error has words of its own. Its cause can be asked for by errors.Is and errors.As.
type Error struct {
	text  string
	cause error
}

func (e *Error) Error() string { return e.text }

// Unwrap returns the error of the library.
func (e *Error) Unwrap() error { return e.cause }

// Why returns the error of an HTTP request that got no answer in a few words, without its address. Any other error, nil too,
// stays as it is.
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
		file      *fs.PathError // with credentials, read at each request
		number    unix.Errno
	)
	switch {
	case errors.As(asked, &operation) && operation.Op == "proxyconnect":
		return "its proxy does not answer: " + operation.Err.Error() // with the address of the proxy
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
