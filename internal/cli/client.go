package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	promconfig "github.com/prometheus/common/config"
	"github.com/spf13/pflag"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/promapi"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/unreached"
)

// daemonTimeout is how long a daemon may take to answer. It answers from memory.
const daemonTimeout = 5 * time.Second

// maxAnswer bounds how much of a daemon's answer is read.
const maxAnswer = 64 << 20

// clientOptions are the flags that say how to talk to an HTTP server. Secrets are only accepted in files,
// because all users of a machine can see command lines.
type clientOptions struct {
	caFile, configFile string
}

func (o *clientOptions) add(f *pflag.FlagSet) {
	f.StringVar(&o.caFile, "ca-file", "", "`FILE` with the certificates (PEM) to trust for HTTPS; default: those of the system")
	f.StringVar(&o.configFile, "http.config.file", "", "`FILE` with credentials and TLS settings (basic_auth, tls_config, …), in the format of Prometheus clients")
}

// client returns an HTTP client with the credentials and the trusted certificates that the flags name.
func (o clientOptions) client() (*http.Client, error) {
	c := &promconfig.HTTPClientConfig{FollowRedirects: true, EnableHTTP2: true}
	if o.configFile != "" {
		var err error
		if c, _, err = promconfig.LoadHTTPConfigFile(o.configFile); err != nil {
			return nil, usage(fmt.Errorf("--http.config.file %s: %w", o.configFile, err))
		}
	}
	if o.caFile != "" {
		if err := checkAuthority(o.caFile); err != nil {
			return nil, usage(err)
		}
		c.TLSConfig.CAFile = o.caFile
	}
	client, err := promconfig.NewClientFromConfig(*c, "ssdprobe")
	if err != nil {
		return nil, usage(fmt.Errorf("--http.config.file %s: %w", o.configFile, err))
	}
	return client, nil
}

// checkAuthority reports what is wrong with a CA file before Prometheus' client does, whose errors name no
// flag.
func checkAuthority(path string) error {
	certificates, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--ca-file: %w", err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(certificates) {
		return fmt.Errorf("--ca-file: no certificate in %s; want PEM, which begins with -----BEGIN CERTIFICATE-----", path)
	}
	return nil
}

// daemonOf says which daemon to ask, and how.
type daemonOf struct {
	clientOptions
	url string
}

func (o *daemonOf) add(f *pflag.FlagSet) {
	f.StringVar(&o.url, "url", "", "`URL` of the daemon; default: the address in the state directory, or else listen of the configuration")
	o.clientOptions.add(f)
}

// address returns where the daemon answers: the address of the flag, else the one that the daemon of the state
// directory announced, else the one that the configuration listens on.
func (o daemonOf) address(c config.Config) (string, error) {
	if o.url == "" {
		return daemonAddress(c), nil
	}
	address := bracketed(o.url)
	if err := checkURL("--url", address, "daemon", "http://stor-07:10040"); err != nil {
		return "", usage(err)
	}
	return address, nil
}

// seeTargets says which command lists the targets of the daemon. devices knows only those of this node.
func (o daemonOf) seeTargets() string {
	if o.url != "" {
		return "see ssdprobe drift --url " + o.url
	}
	return "see ssdprobe devices"
}

// checkURL checks the value of a flag that is the URL of a kind of server.
func checkURL(flag, address, kind, example string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		if at := strings.LastIndexByte(address, '@'); at >= 0 { // the part before it may be a password
			address = "…" + address[at:]
		}
		return fmt.Errorf("%s: %q is not the URL of a %s; want one like %s", flag, address, kind, example)
	case u.User != nil:
		return fmt.Errorf("%s: contains a user, which all users of this machine can read; %s", flag, wantPassword)
	}
	return nil
}

// bracketed puts an IPv6 address into brackets, which URLs require. The variables that Kubernetes gives to pods
// lack them.
func bracketed(address string) string {
	return regexp.MustCompile(`^(https?://)([0-9a-fA-F]*:[0-9a-fA-F:.]*):(\d+)(/.*)?$`).ReplaceAllString(address, "$1[$2]:$3$4")
}

// daemonAddress returns the address that the daemon of the state directory announced, else the one that the
// configuration listens on.
func daemonAddress(c config.Config) string {
	if dir, err := openExisting(c.StateDir); err == nil {
		if urls, err := dir.Announced(); err == nil && len(urls) > 0 {
			return urls[0]
		}
	}
	return "http://" + localAddress(c.Listen[0])
}

// localAddress returns the address at which a program on this machine reaches a listen address.
func localAddress(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen // cannot happen: the configuration was validated
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// snapshot returns the snapshot of the daemon at an address.
func (o daemonOf) snapshot(ctx context.Context, address string) (record.Snapshot, error) {
	var s record.Snapshot
	err := o.ask(ctx, &s, address, "/api/v1/snapshot")
	if err == nil && s.Time.IsZero() {
		err = fmt.Errorf("ask the daemon at %s: not an answer of ssdprobe: it has no time", address)
	}
	return s, err
}

// ask requests a path below the daemon's address and decodes the answer.
func (o daemonOf) ask(ctx context.Context, answer any, address string, path ...string) error {
	return o.get(ctx, address, path, func(at string, response *http.Response) error {
		if response.StatusCode != http.StatusOK {
			return refusedAnswer(at, response)
		}
		if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(answer); err != nil {
			return fmt.Errorf("ask the daemon at %s: not an answer of ssdprobe: %w", at, err)
		}
		return nil
	})
}

// get requests a path below the daemon's address and calls read with the answer.
func (o daemonOf) get(ctx context.Context, address string, path []string, read func(at string, response *http.Response) error) error {
	at, err := url.JoinPath(address, path...)
	if err != nil {
		return usage(fmt.Errorf("--url %s: %w", address, err))
	}
	client, err := o.client()
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, daemonTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return usage(fmt.Errorf("--url %s: %w", address, err))
	}
	response, err := client.Do(request)
	if err != nil {
		flag := "--url"
		if o.url == "" {
			flag = ""
		}
		return cured(flag, fmt.Errorf("ask the daemon at %s: %w", address, unreached.Why(err)))
	}
	defer response.Body.Close() // the body was only read
	return read(at, response)
}

const wantPassword = "want --http.config.file FILE with basic_auth: {username: NAME, password_file: PATH}"

// cured adds to the error of a server what may help if the server was not reached. flag is the flag that names
// the server; empty for the daemon of this node.
func cured(flag string, err error) error {
	if more := cure(flag, err); more != "" {
		return fmt.Errorf("%w; %s", err, more)
	}
	return err
}

// cure returns what may help against an error; empty when nothing is known to help.
func cure(flag string, err error) string {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		file      *fs.PathError
		operation *net.OpError
		asked     *url.Error
	)
	switch {
	case errors.As(err, &file): // no request was sent yet
		return ""
	case errors.As(err, &authority):
		return "name the certificate of its authority with --ca-file"
	case errors.As(err, &host) && flag == "":
		return "want server_name under tls_config in the file of --http.config.file"
	case errors.As(err, &host):
		return "want " + flag + " with a name of its certificate, or server_name under tls_config in the file of --http.config.file"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "renew the certificate of the server, or set the clock of this machine"
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return ""
	case errors.Is(err, promapi.ErrUnauthorized):
		return "want --http.config.file FILE with basic_auth, authorization, or http_headers that name the tenant"
	case errors.As(err, &operation) && operation.Op == "proxyconnect":
		return "the file of --http.config.file names it (proxy_url)"
	case errors.Is(err, http.ErrSchemeMismatch) && flag == "":
		return ""
	case errors.Is(err, http.ErrSchemeMismatch):
		return "it does not speak TLS: want " + flag + " http://…"
	case errors.As(err, &operation) && operation.Op == "dial" && flag == "":
		return "is it running? The address is that of the state directory, or else of listen in the configuration"
	case errors.As(err, &operation) && operation.Op == "dial":
		return "is " + flag + " right, and is it running there?"
	// The server closed the connection: it sent a TLS alert, or the client saw the connection end before it
	// read the alert.
	case errors.As(err, &asked) && strings.HasPrefix(asked.URL, "https:") && !asked.Timeout():
		return "it may want a client certificate: cert_file and key_file under tls_config in the file of --http.config.file"
	}
	return ""
}

// refusedAnswer returns the error for an answer with an unexpected status.
func refusedAnswer(at string, response *http.Response) error {
	says, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	if err != nil {
		return fmt.Errorf("ask the daemon at %s: it answers %s: %w", at, response.Status, err)
	}
	var problem struct{ Error string } // of package web; others may answer in its place
	more := ""
	switch {
	case response.StatusCode == http.StatusUnauthorized:
		more = "; it refuses the user or the password, or was given none: " + wantPassword
	case response.StatusCode == http.StatusBadRequest && strings.Contains(string(says), "HTTPS server"):
		more = "; it speaks TLS alone: want --url https://…"
	case json.Unmarshal(says, &problem) == nil && problem.Error != "":
		more = ": " + problem.Error
	}
	return fmt.Errorf("ask the daemon at %s: it answers %s%s", at, response.Status, more)
}
