package drift

import (
	"cmp"
	"slices"
	"time"
)

// Expected is a time at which a slowdown recurs, and is no news.
type Expected struct {
	// Every is EveryDay or EveryWeek.
	Every string `json:"every"`
	// From and To are the next such time, or the one now. It includes how much earlier or later the slowdown may come.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Ratio is how many times slower it is expected to be at most.
	Ratio float64 `json:"ratio"`
}

// How often a slowdown recurs.
const (
	EveryDay  = "day"
	EveryWeek = "week"
)

// times returns when something is expected, the next first. What is expected on one day of the week is left out if as much is
// expected on all days.
func (r recurring) times(now time.Time) []Expected {
	weekly := map[int64]Shift{}
	for at, x := range r.Weekly {
		if x > r.Daily[at%daySlots] {
			weekly[at] = x
		}
	}
	out := append(runs(r.Daily, daySlots, EveryDay, now), runs(weekly, weekSlots, EveryWeek, now)...)
	slices.SortFunc(out, func(a, b Expected) int { return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Every, b.Every)) })
	return out
}

// runs returns the runs of slots of a period in which something is expected. What is expected always is one run.
func runs(expected map[int64]Shift, period int64, every string, now time.Time) (out []Expected) {
	for at := range period {
		before := (at + period - 1) % period
		if expected[at] <= 0 || expected[before] > 0 && (int64(len(expected)) < period || at > 0) {
			continue
		}
		most, slots := Shift(0), int64(0)
		for ; slots < period && expected[(at+slots)%period] > 0; slots++ {
			most = max(most, expected[(at+slots)%period])
		}
		// The first run that begins after the last one that may still be under way.
		since := slot(now) - slots + 1
		from := since + ((at-since)%period+period)%period
		out = append(out, Expected{every, slotTime(from), slotTime(from + slots), most.Ratio()})
	}
	return out
}
