package web

import (
	"bytes"
	"container/list"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/report"
)

const (
	// unreadBytes is for six scrapes of 256 targets, or sixty that are compressed.
	unreadBytes = 32 << 20
	// smallBytes are sent whatever else is unread: the kubelet's questions, and errors.
	smallBytes = 4 << 10
	// readWithin is how long a client may read an answer while others need the memory.
	readWithin = time.Second
)

// sender sends answers that are complete in memory, and bounds the memory of those that
// clients have not read yet. When there is none left for another answer, those that have
// been sent for the longest are cut off, if that is too long; else the new one is refused.
type sender struct {
	log    *slog.Logger
	limit  int
	within time.Duration

	mu     sync.Mutex
	bytes  int
	unread list.List // of *unreadAnswer, the oldest first
}

type unreadAnswer struct {
	bytes int
	since time.Time
	cut   func()
}

func newSender(log *slog.Logger) *sender {
	return &sender{log: log, limit: unreadBytes, within: readWithin}
}

// send reports whether nobody uses body any more.
func (s *sender) send(w http.ResponseWriter, status int, body []byte) bool {
	if cap(body) > smallBytes {
		kept := s.add(cap(body), func() { cutOff(w) })
		if kept == nil {
			s.refuse(w)
			return true
		}
		defer s.remove(kept)
	}
	return s.write(w, status, body)
}

func (s *sender) write(w http.ResponseWriter, status int, body []byte) bool {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	if err != nil {
		s.log.Debug("the client left before the answer was sent, or was cut off", "err", err)
	}
	return err == nil // of a failed one, parts may be in the hands of HTTP/2 still
}

// refuse answers that there is no memory for the answer.
func (s *sender) refuse(w http.ResponseWriter) {
	const text = "clients have not read the answers to earlier requests yet, and no more are kept for now: ask again in a second"
	var body bytes.Buffer
	if err := report.JSON(&body, problem{http.StatusServiceUnavailable, text}); err != nil {
		s.log.Error("answer an HTTP request", "err", err)
	}
	w.Header().Del("Content-Encoding") // that of the answer that was made
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "1")
	s.write(w, http.StatusServiceUnavailable, body.Bytes())
}

// add makes room for an answer, which cut cuts off while it is sent. The element that it
// returns is to be removed when the answer is sent; nil when there is no room.
func (s *sender) add(bytes int, cut func()) *list.Element {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for slow, free := s.unread.Front(), s.limit-s.bytes; free < bytes && slow != nil; slow = slow.Next() {
		a := answerOf(slow)
		if now.Sub(a.since) < s.within {
			return nil
		}
		free += a.bytes
	}
	for s.unread.Len() > 0 && s.bytes+bytes > s.limit {
		a := answerOf(s.unread.Front())
		a.cut()
		s.log.Warn("cut off a client that reads too slowly, as another one needs the memory", "bytes", a.bytes, "after", now.Sub(a.since))
		s.unread.Remove(s.unread.Front())
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
