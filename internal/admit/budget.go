package admit

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
)

// Budget counts the bytes that were written on one day (UTC), so that wear stays
// bounded whatever the configuration asks for. Its JSON form survives restarts.
type Budget struct {
	Day   string `json:"day"` // "2026-11-21"
	Bytes int64  `json:"bytes"`
}

const day = "2006-01-02"

// Allow returns ErrBusy when writing bytes now would take the day beyond limit.
func (b *Budget) Allow(now time.Time, bytes, limit int64) error {
	b.turn(now)
	if b.Bytes+bytes > limit {
		return fmt.Errorf("%w: %s were written today, and the budget is %s a day", ErrBusy,
			humanize.IBytes(uint64(b.Bytes)), humanize.IBytes(uint64(limit)))
	}
	return nil
}

// Charge counts bytes that were written.
func (b *Budget) Charge(now time.Time, bytes int64) {
	b.turn(now)
	b.Bytes += bytes
}

func (b *Budget) turn(now time.Time) {
	if today := now.UTC().Format(day); b.Day != today {
		*b = Budget{Day: today}
	}
}
