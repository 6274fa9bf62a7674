package history

import "time"

// Span says how far back a series is shown, and at what resolution.
type Span struct {
	Name string
	// Slot is the length of time of one mean.
	Slot time.Duration
	// Slots is the number of means.
	Slots int
}

// Length returns the total length of the span.
func (s Span) Length() time.Duration { return s.Slot * time.Duration(s.Slots) }

// Hour returns the span with a mean per minute.
func Hour() Span { return Span{Name: "hour", Slot: time.Minute, Slots: 60} }

// Day returns the span with a mean per ten minutes.
func Day() Span { return Span{Name: "day", Slot: 10 * time.Minute, Slots: 144} }

// Month returns the span of 31 days with a mean per four hours.
func Month() Span { return Span{Name: "month", Slot: 4 * time.Hour, Slots: 186} }

// Spans lists all spans, the shortest first.
func Spans() []Span { return []Span{Hour(), Day(), Month()} }

// at returns the number of the slot that contains a time, counted from 1970.
func (s Span) at(t time.Time) int64 { return t.UnixNano() / int64(s.Slot) }

// middle returns the time in the middle of a slot.
func (s Span) middle(slot int64) time.Time {
	return time.Unix(0, slot*int64(s.Slot)+int64(s.Slot)/2).UTC()
}
