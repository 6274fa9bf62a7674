package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
)

// Config says where and how to serve.
type Config struct {
	// Listen lists addresses, "host:port" or ":port"; port 0 is any free port. It is not used with SystemdSocket.
	Listen []string
	// SystemdSocket uses the sockets that systemd passes instead.
	SystemdSocket bool
	// WebConfigFile configures TLS and basic authentication, in the form that all Prometheus exporters share; empty
	// for plain HTTP. The file is read again while serving.
	WebConfigFile string
	Log           *slog.Logger
}

// Listen checks the web config file and opens all listeners, or none, so that a problem shows before anything else
// starts. The returned server must be served or closed. Errors: those of checkWebConfig, and those of opening listeners.
func Listen(ctx context.Context, c Config) (*Server, error) {
	encrypted, err := checkWebConfig(c.WebConfigFile)
	if err != nil {
		return nil, err
	}
	s := &Server{config: c, limits: defaultLimits(), encrypted: encrypted}
	open := func() ([]net.Listener, error) { return openAddresses(ctx, c.Listen) }
	if c.SystemdSocket {
		open = openSystemd
	}
	if s.listeners, err = open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openAddresses returns the listeners that it has opened even when it fails.
func openAddresses(ctx context.Context, addresses []string) ([]net.Listener, error) {
	if len(addresses) == 0 {
		return nil, errors.New("no address to listen on: name one with --web.listen-address, \":10040\" for example")
	}
	var listeners []net.Listener
	for _, address := range addresses {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			return listeners, fmt.Errorf("listen on %s: %w%s", address, withoutAddress(err), hint(err))
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}

// withoutAddress strips what a network error repeats: "listen tcp ADDRESS: bind: ".
func withoutAddress(err error) error {
	var operation *net.OpError
	if errors.As(err, &operation) {
		err = operation.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return err
}

// hint says what to do about an address that is not available.
func hint(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "; another program, or another of these addresses, has this port: stop it or choose another port"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "; this machine does not have that address"
	case errors.Is(err, os.ErrPermission):
		return "; ports below 1024 need root or CAP_NET_BIND_SERVICE: choose a higher one"
	default:
		return ""
	}
}

// openSystemd returns the listeners that it has opened even when it fails.
func openSystemd() ([]net.Listener, error) {
	passed, err := activation.Listeners()
	if err != nil {
		return nil, fmt.Errorf("take systemd's sockets (--web.systemd-socket): %w", err)
	}
	if len(passed) == 0 {
		return nil, errors.New("--web.systemd-socket: systemd passed no socket; start ssdprobe by its .socket unit")
	}
	var listeners []net.Listener
	for i, l := range passed {
		if l == nil {
			err = errors.Join(err, fmt.Errorf("--web.systemd-socket: socket %d of %d is not a stream socket", i+1, len(passed)))
			continue
		}
		listeners = append(listeners, l)
	}
	return listeners, err
}
