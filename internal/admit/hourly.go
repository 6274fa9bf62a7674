package admit

import (
	"slices"
	"sync"
	"time"
)

// Hourly limits how often something is done within any 60 minutes. The zero value is ready to use, also by several
// goroutines.
type Hourly struct {
	mu   sync.Mutex
	done []time.Time
}

// Take reports whether it may be done once more, and if so, counts it.
func (h *Hourly) Take(now time.Time, limit int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done = slices.DeleteFunc(h.done, func(t time.Time) bool { return now.Sub(t) >= time.Hour })
	if len(h.done) >= limit {
		return false
	}
	h.done = append(h.done, now)
	return true
}
