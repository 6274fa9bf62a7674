package unreached_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/unreached"
)

func TestWhy(t *testing.T) {
	during := func(op string, err error) error { return &net.OpError{Op: op, Net: "tcp", Err: err} }
	for want, cause := range map[string]error{
		"connection refused":                              during("dial", os.NewSyscallError("connect", unix.ECONNREFUSED)),
		"no route to host":                                during("dial", os.NewSyscallError("connect", unix.EHOSTUNREACH)),
		"connection reset by peer":                        during("read", os.NewSyscallError("read", unix.ECONNRESET)),
		"no answer in time":                               context.DeadlineExceeded,
		"no host has the name stor-07":                    during("dial", &net.DNSError{Err: "no such host", Name: "stor-07", IsNotFound: true}),
		"the name stor-07 cannot be resolved: misbehaves": during("dial", &net.DNSError{Err: "misbehaves", Name: "stor-07", Server: "10.0.0.1:53"}),
		"its proxy does not answer: dial tcp: connect: connection refused": during("proxyconnect",
			during("dial", os.NewSyscallError("connect", unix.ECONNREFUSED))),
		"the connection was closed without an answer":   io.EOF,
		"read /etc/password: no such file or directory": &fs.PathError{Op: "open", Path: "/etc/password", Err: unix.ENOENT},
		"x509: certificate signed by unknown authority": x509.UnknownAuthorityError{},
	} {
		err := unreached.Why(fmt.Errorf("ask: %w", &url.Error{Op: "Get", URL: "http://stor-07/", Err: cause}))
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, cause)
	}
	other := errors.New("the file is gone")
	assert.Equal(t, other, unreached.Why(other))
	assert.NoError(t, unreached.Why(nil))
}
