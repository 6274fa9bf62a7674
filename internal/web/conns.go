package web

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// conns is a listener with a limit on its open connections. At the limit it does not stop accepting, because a
// scraper would then wait behind a crowd of clients that never send a request. Instead, a new connection replaces the
// one that has been without a request for the longest time. If all have a request, it replaces the one that has been
// processing its request for the longest time. A scraper sends and reads at once, so it is always the last to be
// closed.
type conns struct {
	net.Listener
	limit int

	mu      sync.Mutex
	waiting list.List // of *conn without a request, the longest waiting first
	serving list.List // of *conn with a request, the longest served first
}

// conn is an open connection in one of the two lists.
type conn struct {
	net.Conn
	owner *conns
	// Guarded by owner.mu.
	place    *list.Element // nil once closed
	requests int           // requests in progress; HTTP/2 has several at once
}

// Accept returns the next connection, after making room for it.
func (c *conns) Accept() (net.Conn, error) {
	accepted, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	added := &conn{Conn: accepted, owner: c}
	if oldest := c.add(added); oldest != nil {
		// The goroutine that serves the connection sees and reports that it is closed.
		_ = oldest.Close()
	}
	return added, nil
}

// add adds a connection. It returns the connection to close in exchange, or nil below the limit.
func (c *conns) add(added *conn) *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	var oldest *list.Element
	if c.waiting.Len()+c.serving.Len() >= c.limit {
		if oldest = c.waiting.Front(); oldest == nil {
			oldest = c.serving.Front()
		}
	}
	added.place = c.waiting.PushBack(added)
	if oldest == nil {
		return nil
	}
	return oldest.Value.(*conn) // the lists hold nothing else
}

// Close closes the connection and frees its place.
func (c *conn) Close() error {
	c.owner.mu.Lock()
	if c.place != nil {
		c.list().Remove(c.place)
		c.place = nil
	}
	c.owner.mu.Unlock()
	return c.Conn.Close()
}

// request records that a request has arrived (n = 1) or is answered (n = -1).
func (c *conn) request(n int) {
	c.owner.mu.Lock()
	defer c.owner.mu.Unlock()
	before := c.list()
	c.requests += n
	if after := c.list(); after != before && c.place != nil {
		before.Remove(c.place)
		c.place = after.PushBack(c)
	}
}

// list returns the list that the connection belongs to.
func (c *conn) list() *list.List {
	if c.requests > 0 {
		return &c.owner.serving
	}
	return &c.owner.waiting
}

type connKey struct{}

// withConn is for http.Server.ConnContext. It lets requests find their connection.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if encrypted, ok := c.(*tls.Conn); ok {
		c = encrypted.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// counted records the request with its connection. It runs after authentication, so a client without a valid password
// counts as having sent no request.
func counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*conn); ok {
			c.request(1)
			defer c.request(-1)
		}
		next.ServeHTTP(w, r)
	})
}
