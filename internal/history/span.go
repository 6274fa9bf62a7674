package history

import "time"

// Span is how far back a series is shown, and how finely.
type Span struct {
	Name string
	// Slot is the time that one mean stands for.
	Slot time.Duration
	// Slots is how many means are kept.
	Slots int
}

// Length is the whole time of the span.
func (s Span) Length() time.Duration { return s.Slot * time.Duration(s.Slots) }

// Hour has a mean for each minute.
func Hour() Span { return Span{Name: "hour", Slot: time.Minute, Slots: 60} }

// Day has a mean for ten minutes.
func Day() Span { return Span{Name: "day", Slot: 10 * time.Minute, Slots: 144} }

// Month has a mean for four hours, and 31 days.
func Month() Span { return Span{Name: "month", Slot: 4 * time.Hour, Slots: 186} }

// Spans lists all of them, the shortest first.
func Spans() []Span { return []Span{Hour(), Day(), Month()} }

// at is the number of the slot that holds a time, counted from 1970.
func (s Span) at(t time.Time) int64 { return t.UnixNano() / int64(s.Slot) }

// middle is the time in the middle of a slot.
func (s Span) middle(slot int64) time.Time {
	return time.Unix(0, slot*int64(s.Slot)+int64(s.Slot)/2).UTC()
}
