package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	toolkit "github.com/prometheus/exporter-toolkit/web"
	"golang.org/x/sync/errgroup"
)

// Server is an HTTP server whose listeners are open. Serve or Close it.
type Server struct {
	config    Config
	limits    limits
	encrypted bool
	listeners []net.Listener
}

// limits are limits on what one client, and all clients together, may use.
type limits struct {
	// readHeader ends connections that never send a request.
	readHeader time.Duration
	read       time.Duration
	// write is how long an answer may take, from the request on, both to make it and to send it to a slow reader.
	// Prometheus does not wait longer by default. With HTTP/2 only the answer is reset, but if the client reads
	// nothing at all, its connection is closed.
	write time.Duration
	// idle is longer than the usual scrape intervals, so that connections are reused.
	idle time.Duration
	// grace is how long answers in progress may take when the server stops.
	grace       time.Duration
	headerBytes int
	// connections is per listener.
	connections int
	// streams is per connection of HTTP/2.
	streams int
}

func defaultLimits() limits {
	return limits{
		readHeader: 5 * time.Second, read: 10 * time.Second, write: 10 * time.Second, idle: 3 * time.Minute,
		grace: time.Second, headerBytes: 16 << 10, connections: 256, streams: 16,
	}
}

// Addrs returns the bound addresses, in the order of the configuration.
func (s *Server) Addrs() []net.Addr {
	addrs := make([]net.Addr, len(s.listeners))
	for i, l := range s.listeners {
		addrs[i] = l.Addr()
	}
	return addrs
}

// URLs returns the URLs at which a person on this machine finds the status page, such as "http://localhost:10040/".
// Sockets other than TCP have none.
func (s *Server) URLs() []string {
	scheme := "http"
	if s.encrypted {
		scheme = "https"
	}
	var urls []string
	for _, a := range s.Addrs() {
		tcp, ok := a.(*net.TCPAddr)
		if !ok {
			continue
		}
		host := tcp.IP.String()
		if tcp.IP.IsUnspecified() {
			host = "localhost"
		}
		urls = append(urls, fmt.Sprintf("%s://%s/", scheme, net.JoinHostPort(host, fmt.Sprint(tcp.Port))))
	}
	return urls
}

// Close closes the listeners. It is safe to call after Serve.
func (s *Server) Close() error {
	var problems []error
	for _, l := range s.listeners {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			problems = append(problems, fmt.Errorf("close listener %s: %w", l.Addr(), err))
		}
	}
	return errors.Join(problems...)
}

// Serve answers requests until ctx ends, which is not an error. Answers in progress then have one second to end, and
// clients that hang are disconnected. If one listener fails, all stop.
func (s *Server) Serve(ctx context.Context, h http.Handler) error {
	group, ctx := errgroup.WithContext(ctx)
	flags := &toolkit.FlagConfig{WebConfigFile: &s.config.WebConfigFile}
	for _, l := range s.listeners {
		// One server per listener, because the toolkit changes the server that it is given.
		server := s.server(h)
		if s.config.WebConfigFile != "" {
			beforeToolkit(server, h, newUsers(s.config.WebConfigFile))
		}
		bounded := &conns{Listener: l, limit: s.limits.connections}
		group.Go(func() error {
			err := toolkit.Serve(bounded, server, flags, s.config.Log)
			if errors.Is(err, http.ErrServerClosed) {
				return nil
			}
			return fmt.Errorf("serve HTTP on %s: %w", l.Addr(), err)
		})
		group.Go(func() error {
			<-ctx.Done()
			return s.stop(context.WithoutCancel(ctx), server)
		})
	}
	return errors.Join(group.Wait(), s.Close())
}

func (s *Server) server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           counted(h),
		ReadHeaderTimeout: s.limits.readHeader,
		ReadTimeout:       s.limits.read,
		WriteTimeout:      s.limits.write,
		IdleTimeout:       s.limits.idle,
		MaxHeaderBytes:    s.limits.headerBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: s.limits.streams, WriteByteTimeout: s.limits.write},
		ConnContext:       withConn,
		// Failed handshakes and similar errors help when a scrape fails.
		ErrorLog: slog.NewLogLogger(s.config.Log.Handler(), slog.LevelWarn),
	}
}

// beforeToolkit makes the server answer the health and readiness checks before the toolkit asks for a password. The
// kubelet has no password, and would keep restarting the pod. For all other requests, it hides whether the name or
// the password is wrong; see disguise. The toolkit allows no exceptions. It wraps server.Handler before it begins to
// accept, and BaseContext is called after that and before any request.
func beforeToolkit(server *http.Server, h http.Handler, u users) {
	server.BaseContext = func(net.Listener) context.Context {
		guarded := server.Handler
		server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/-/healthy" || r.URL.Path == "/-/ready" {
				h.ServeHTTP(w, r)
				return
			}
			guarded.ServeHTTP(w, u.disguise(r))
		})
		return context.Background()
	}
}

func (s *Server) stop(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, s.limits.grace)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("stop the HTTP server: %w", err)
	}
	return nil
}
