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

// Server has its listeners open. Serve or Close it.
type Server struct {
	config    Config
	limits    limits
	encrypted bool
	listeners []net.Listener
}

// limits are what one client, and all of them together, may take.
type limits struct {
	// readHeader ends connections that never ask anything.
	readHeader time.Duration
	read       time.Duration
	// write is how long an answer may take, from the request on: to make it, and to send it to
	// a slow reader. Prometheus waits no longer by default. HTTP/2 resets the answer then. If
	// the client reads nothing at all, its connection is closed.
	write time.Duration
	// idle is above the usual scrape intervals, so that connections are used again.
	idle time.Duration
	// grace is how long answers may take to end when the server stops.
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

// Addrs are the addresses bound, in the order of the configuration.
func (s *Server) Addrs() []net.Addr {
	addrs := make([]net.Addr, len(s.listeners))
	for i, l := range s.listeners {
		addrs[i] = l.Addr()
	}
	return addrs
}

// URLs are where a person on this machine finds the status page:
// "http://localhost:10040/". Sockets that are not TCP have none.
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

// Close gives the addresses free. It does no harm after Serve.
func (s *Server) Close() error {
	var problems []error
	for _, l := range s.listeners {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			problems = append(problems, fmt.Errorf("close listener %s: %w", l.Addr(), err))
		}
	}
	return errors.Join(problems...)
}

// Serve answers requests until ctx ends; that is no error. Answers on their way
// then have one second to end, and clients that hang are cut off. If one
// listener fails, all stop.
func (s *Server) Serve(ctx context.Context, h http.Handler) error {
	group, ctx := errgroup.WithContext(ctx)
	flags := &toolkit.FlagConfig{WebConfigFile: &s.config.WebConfigFile}
	for _, l := range s.listeners {
		// A server each: the toolkit changes the server it is given.
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
		// Broken handshakes and the like: worth a look when a scrape fails.
		ErrorLog: slog.NewLogLogger(s.config.Log.Handler(), slog.LevelWarn),
	}
}

// beforeToolkit has the server answer whether it is alive and ready, and nothing else, before
// the toolkit asks for a password: the kubelet has none, and keeps restarting what it
// cannot ask. Requests that the toolkit checks do not tell a wrong name from a wrong password:
// see disguise. The toolkit makes no exceptions, and puts its check around server.Handler before
// it begins to accept; BaseContext is called after that and before any request.
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
