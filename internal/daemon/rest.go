package daemon

import (
	"sync"
	"time"
)

// rest pauses the probes of a target while a run measures it. In the zero value, the probes may run.
type rest struct {
	mu   sync.Mutex
	over chan struct{} // nil while the probes may run
	// suite is that of the run in progress, which began at since; empty while there is none.
	suite string
	since time.Time
}

// begin pauses the probes until end is called. A round in progress ends by itself; the run waits for its lock.
func (r *rest) begin(suite string, now time.Time) (end func()) {
	over := make(chan struct{})
	r.set(over, suite, now)
	return func() {
		r.set(nil, "", time.Time{})
		close(over)
	}
}

func (r *rest) set(over chan struct{}, suite string, since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over, r.suite, r.since = over, suite, since
}

// run returns the suite of the run in progress and when the run began; it is false when there is none.
func (r *rest) run() (suite string, since time.Time, inProgress bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.suite, r.since, r.over != nil
}

// until returns a channel that is closed when the probes may continue, or nil when they may run now.
func (r *rest) until() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}
