package testenv

import (
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// Patience bounds waiting for what a test observes; nothing takes that long.
const Patience = 2 * time.Minute

// Eventually polls until a condition holds.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	EventuallyWithin(t, Patience, 250*time.Millisecond, what, holds)
}

// EventuallyWithin is like Eventually, with the given bound and interval.
func EventuallyWithin(t testing.TB, patience, every time.Duration, what string, holds func() bool) {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	again := time.NewTicker(every)
	defer again.Stop()
	for !holds() {
		select {
		case <-again.C:
		case <-late.C:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// Output collects the output of a program, and lets tests wait for it.
type Output struct {
	mu      sync.Mutex
	text    strings.Builder
	changed chan struct{} // closed at each change
	ended   bool
}

func newOutput() *Output { return &Output{changed: make(chan struct{})} }

// Write adds to the output.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.changed)
	o.changed = make(chan struct{})
	return o.text.Write(p)
}

func (o *Output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.changed)
	o.ended = true
}

// Text returns all output so far, in whole lines.
func (o *Output) Text() string {
	text, _, _ := o.now()
	return text
}

// now returns the text, a channel that is closed when there is more, and whether the output has ended.
func (o *Output) now() (text string, changed <-chan struct{}, ended bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text = o.text.String()
	if !o.ended { // an incomplete line may match partially
		text = text[:strings.LastIndexByte(text, '\n')+1]
	}
	return text, o.changed, o.ended
}

// Find waits until the output matches and returns the groups of the match.
func (o *Output) Find(t testing.TB, pattern string) []string {
	t.Helper()
	return o.FindAfter(t, 0, pattern)
}

// FindAfter is like Find, but ignores the first skip bytes.
func (o *Output) FindAfter(t testing.TB, skip int, pattern string) []string {
	t.Helper()
	wanted := regexp.MustCompile(pattern)
	late := time.NewTimer(Patience)
	defer late.Stop()
	for {
		text, changed, ended := o.now()
		if match := wanted.FindStringSubmatch(text[skip:]); match != nil {
			return match
		}
		if ended {
			t.Fatalf("the output ended without %q:\n%s", pattern, text)
		}
		select {
		case <-changed:
		case <-late.C:
			t.Fatalf("no %q in:\n%s", pattern, text)
		}
	}
}
