package daemon

import "sync"

// rest lets the probes of a target rest while a run measures it. The zero value does not.
type rest struct {
	mu   sync.Mutex
	over chan struct{} // nil while the probes may run
}

// begin makes the probes rest until the end that it returns. A round that is under way ends by itself: a run
// waits for its lock.
func (r *rest) begin() (end func()) {
	over := make(chan struct{})
	r.set(over)
	return func() {
		r.set(nil)
		close(over)
	}
}

func (r *rest) set(over chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = over
}

// until returns a channel that is closed when the probes may go on, nil when they may now.
func (r *rest) until() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}
