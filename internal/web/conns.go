package web

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// conns is a listener with a bound on its open connections. At the bound it does
// not stop to accept, as that would leave a scraper waiting behind a crowd of
// clients that never ask anything. Instead a new connection takes the place of
// the one that has been without a request for the longest; only when all have
// one, of the one that has been at its request for the longest. A scraper asks
// and reads at once, so it is always the last in line to go.
type conns struct {
	net.Listener
	limit int

	mu      sync.Mutex
	waiting list.List // of *conn without a request, the longest first
	serving list.List // of *conn with one, the longest first
}

// conn is an open connection in one of the two lists.
type conn struct {
	net.Conn
	owner *conns
	// Guarded by owner.mu.
	place    *list.Element // nil once closed
	requests int           // HTTP/2 has several at once
}

// Accept returns the next connection, after making room for it.
func (c *conns) Accept() (net.Conn, error) {
	accepted, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	added := &conn{Conn: accepted, owner: c}
	if oldest := c.add(added); oldest != nil {
		// Its own goroutine sees and reports the error of a connection that is gone.
		_ = oldest.Close()
	}
	return added, nil
}

// add returns the connection to close in exchange; nil below the bound.
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

// Close ends the connection and gives its place free.
func (c *conn) Close() error {
	c.owner.mu.Lock()
	if c.place != nil {
		c.list().Remove(c.place)
		c.place = nil
	}
	c.owner.mu.Unlock()
	return c.Conn.Close()
}

// request notes that n requests have come (1) or are answered (-1).
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

// list is where the connection belongs.
func (c *conn) list() *list.List {
	if c.requests > 0 {
		return &c.owner.serving
	}
	return &c.owner.waiting
}

type connKey struct{}

// withConn is for http.Server.ConnContext: requests know their connection.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if encrypted, ok := c.(*tls.Conn); ok {
		c = encrypted.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// counted tells the request's connection that it has one. It stands behind
// authentication: who has not given a password counts as not having asked.
func counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*conn); ok {
			c.request(1)
			defer c.request(-1)
		}
		next.ServeHTTP(w, r)
	})
}
