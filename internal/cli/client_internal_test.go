package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/promapi"
)

// The advice when a server does not answer names no flag that the user did not give, and questions nothing that
// is known to be right.
func TestWhatMayHelpWhenAServerDoesNotAnswer(t *testing.T) {
	certificate := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	const wantCertificate = "it may want a client certificate: cert_file and key_file under tls_config in the file of --http.config.file"
	const wantUser = "want --http.config.file FILE with basic_auth, authorization, or http_headers that name the tenant"
	refused := &net.OpError{Op: "dial", Err: unix.ECONNREFUSED}
	for name, c := range map[string]struct {
		err            error
		url, ownDaemon string
	}{
		"nothing listens": {refused, "is --url right, and is it running there?",
			"is it running? The address is that of the state directory, or else of listen in the configuration"},
		"another name": {certificate(x509.HostnameError{Certificate: &x509.Certificate{}, Host: "x"}), "want --url with a name of its certificate, or server_name under tls_config in the file of --http.config.file",
			"want server_name under tls_config in the file of --http.config.file"},
		"no authority": {certificate(x509.UnknownAuthorityError{}), "name the certificate of its authority with --ca-file", "name the certificate of its authority with --ca-file"},
		"expired": {certificate(x509.CertificateInvalidError{Reason: x509.Expired}), "renew the certificate of the server, or set the clock of this machine",
			"renew the certificate of the server, or set the clock of this machine"},
		"not for servers":   {certificate(x509.CertificateInvalidError{Reason: x509.IncompatibleUsage}), "", ""},
		"it speaks no TLS":  {http.ErrSchemeMismatch, "it does not speak TLS: want --url http://…", ""},
		"an alert of TLS":   {errors.New("remote error: tls: certificate required"), wantCertificate, wantCertificate},
		"a proxy":           {&net.OpError{Op: "proxyconnect", Err: refused}, "the file of --http.config.file names it (proxy_url)", "the file of --http.config.file names it (proxy_url)"},
		"the tenant":        {promapi.ErrUnauthorized, wantUser, wantUser},
		"no answer in time": {context.DeadlineExceeded, "", ""},
	} {
		err := fmt.Errorf("ask: %w", &url.Error{Op: "Get", URL: "https://stor-07/", Err: c.err})
		assert.Equal(t, c.url, cure("--url", err), name)
		assert.Equal(t, c.ownDaemon, cure("", err), name)
	}
}
