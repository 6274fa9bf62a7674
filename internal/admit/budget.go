package admit

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/units"
)

// Budget limits the bytes written per day, so that wear stays bounded whatever the
// configuration asks for. Written bytes are paid off continuously at the daily limit. A
// caller that wants to write more is therefore admitted at intervals throughout the day,
// not only at the same hours of each day. The total of any 24 hours is at most twice the
// limit. The JSON form survives restarts.
type Budget struct {
	// PaidOff is when everything written will be paid off, at most a day from now.
	PaidOff time.Time `json:"paid_off"`
}

const day = 24 * time.Hour

// UsedUp returns a budget of which nothing is left: writes go on at the daily limit, and no faster.
func UsedUp(now time.Time) Budget { return Budget{PaidOff: now.Add(day)} }

// Allow returns ErrBusy if writing bytes now would take more than a day to pay off.
func (b *Budget) Allow(now time.Time, bytes, limit int64) error {
	b.clockSetBack(now) // Charge may not see it: nothing is written while nothing is allowed
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
		b.clockSetBack(now)
		b.PaidOff = b.after(now, bytes, limit)
	}
}

// clockSetBack keeps a clock that was set back from stopping writes for longer than a day.
func (b *Budget) clockSetBack(now time.Time) {
	if latest := now.Add(day); b.PaidOff.After(latest) {
		b.PaidOff = latest
	}
}

// after returns when everything will be paid off if bytes more are written.
func (b *Budget) after(now time.Time, bytes, limit int64) time.Time {
	from := b.PaidOff
	if from.Before(now) {
		from = now
	}
	const tooMuch = 2 // days; a larger value could overflow time.Duration
	return from.Add(time.Duration(float64(day) * min(float64(bytes)/float64(limit), tooMuch)))
}
