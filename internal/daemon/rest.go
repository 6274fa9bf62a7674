package daemon

import "sync"

// rest pauses the probes of a target while a run measures it. In the zero value, the probes may run.
type rest struct {
	mu   sync.Mutex
	over chan struct{} // nil while the probes may run
}

// begin pauses the probes until end is called. A round in progress ends by itself; the run waits for its lock.
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

// until returns a channel that is closed when the probes may continue, or nil when they may run now.
func (r *rest) until() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}
