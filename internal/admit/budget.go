package admit

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Budget bounds the bytes that are written in a day, so that wear stays bounded whatever
// the configuration asks for. What is written is paid off without pause, at the limit a
// day: who asks for more than that is let through again and again, at the pace that can
// be paid for, rather than at the same hours of each day. In no 24 hours it is more than
// twice the limit. Its JSON form survives restarts.
type Budget struct {
	// PaidOff is when all that was written will be, never more than a day from now.
	PaidOff time.Time `json:"paid_off"`
}

const day = 24 * time.Hour

// Allow returns ErrBusy when writing bytes now would be more than a day pays for.
func (b *Budget) Allow(now time.Time, bytes, limit int64) error {
	if bytes > limit {
		return busy("a round writes %s, more than its budget of %s a day: raise admission.write_budget_per_day, or lower ios or block_size",
			units.Size(bytes), units.Size(limit))
	}
	if wait := b.after(now, bytes, limit).Sub(now) - day; wait > 0 {
		return busy("the budget of %s written a day is used up for the next %v",
			units.Size(limit), wait.Truncate(time.Second)+time.Second)
	}
	return nil
}

// Charge counts bytes that were written.
func (b *Budget) Charge(now time.Time, bytes, limit int64) {
	if bytes > 0 {
		b.PaidOff = b.after(now, bytes, limit)
	}
}

// after is when all will be paid off with bytes more. A clock that was set back must not
// stop the writes for longer than a day.
func (b *Budget) after(now time.Time, bytes, limit int64) time.Time {
	from := b.PaidOff
	if from.Before(now) {
		from = now
	} else if latest := now.Add(day); from.After(latest) {
		from = latest
	}
	const tooMuch = 2 // days: more could be no time.Duration
	return from.Add(time.Duration(float64(day) * min(float64(bytes)/float64(limit), tooMuch)))
}
