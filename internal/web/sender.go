package web

import (
	"container/list"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// unreadBytes is for six scrapes of 256 targets, or sixty that are compressed.
	unreadBytes = 32 << 20
	// smallBytes are sent whatever else is unread: the kubelet's questions, and errors.
	smallBytes = 4 << 10
	// slowAfter is how long a client has to read an answer while others need the memory.
	slowAfter = time.Second
)

// sender sends answers that are complete in memory, and bounds the memory of those that
// clients have not read yet. When there is none left for another answer, the one that has
// been sent for the longest is cut off, if that is too long; else the new one has to go.
type sender struct {
	log   *slog.Logger
	limit int

	mu     sync.Mutex
	bytes  int
	unread list.List // of *unreadAnswer, the oldest first
}

type unreadAnswer struct {
	bytes int
	since time.Time
	cut   func()
}

func newSender(log *slog.Logger) *sender { return &sender{log: log, limit: unreadBytes} }

// send reports whether nobody uses body any more.
func (s *sender) send(w http.ResponseWriter, status int, body []byte) bool {
	if cap(body) > smallBytes {
		kept := s.add(cap(body), func() {
			// What is sent after a deadline fails. A writer that knows none is a test's.
			_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(0, 0))
		})
		if kept == nil {
			http.Error(w, "the clients before have not read their answers yet: too many, or too slow", http.StatusServiceUnavailable)
			return true
		}
		defer s.remove(kept)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	if err != nil {
		s.log.Debug("the client left before the answer was sent, or was cut off", "err", err)
	}
	return err == nil // of a failed one, parts may be in the hands of HTTP/2 still
}

// add makes room for an answer, which cut cuts off while it is sent. The element that it
// returns is to be removed when the answer is sent; nil when there is no room.
func (s *sender) add(bytes int, cut func()) *list.Element {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for s.unread.Len() > 0 && s.bytes+bytes > s.limit {
		oldest := s.unread.Front()
		a := answerOf(oldest)
		if now.Sub(a.since) < slowAfter {
			return nil
		}
		a.cut()
		s.unread.Remove(oldest)
		s.bytes -= a.bytes
	}
	s.bytes += bytes
	return s.unread.PushBack(&unreadAnswer{bytes, now, cut})
}

// remove forgets an answer, which is not cut off after that; it may have been before.
func (s *sender) remove(answer *list.Element) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.unread.Len()
	s.unread.Remove(answer)
	if s.unread.Len() < before {
		s.bytes -= answerOf(answer).bytes
	}
}

func answerOf(e *list.Element) *unreadAnswer {
	return e.Value.(*unreadAnswer) // the list holds nothing else
}
