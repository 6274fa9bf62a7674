package drift

import (
	"maps"
	"slices"
)

// What recurs at a time of day is no news: a backup, a scrub, jobs that nobody reports. A slowdown of the first day,
// or one that was found and over within hours, is expected at that time of the next days. It is forgotten when it
// does not recur.

const (
	daySlots = finalBlocks
	// dailyLeast is the ratio from which on something is out of the ordinary for a day, and dailyRun for how many
	// blocks in a row it must last: half an hour. What is shorter is noise.
	dailyLeast = 1.2
	dailyRun   = 6
	// dailyMost is the largest ratio that is expected again: no nightly job makes a healthy drive slower than that.
	dailyMost = 4.0
	// dailyKept is how much of an expectation, in percent, is left after a day without it: backups skip some nights.
	dailyKept = 85
	// dailySlack is how many blocks earlier or later it may begin and end.
	dailySlack = 3
	// dailyForgotten is the ratio below which an expectation is dropped.
	dailyForgotten = 1.05
)

// daily is how much slower something is expected to be, by the slot of the day.
type daily map[int64]Shift

// learnDaily learns what is out of the ordinary in a day of residuals. What is common, such as a load by day, is noise.
// Spikes of some minutes are not common, however many there are: on a drive that collects garbage all the time, a nightly
// job is out of the ordinary because it lasts.
func learnDaily(blocks []block, residuals []Shift) daily {
	lasting := smoothed(residuals)
	slices.Sort(lasting)
	usual := quantile(lasting, 0.75)
	limit, run := usual+ShiftOf(dailyLeast), 0
	d := daily{}
	for k, x := range residuals {
		if x < limit {
			run = 0
			continue
		}
		run++
		from := k
		if run == dailyRun {
			from = k - dailyRun + 1
		}
		if run >= dailyRun {
			for n := from; n <= k; n++ {
				d.expect(blocks[n].Slot, residuals[n]-usual)
			}
		}
	}
	return d
}

// smoothed returns the median of each residual and the dailyRun/2 on either side of it; there are fewer at the ends.
func smoothed(residuals []Shift) []Shift {
	out := make([]Shift, len(residuals))
	for k := range residuals {
		out[k] = median(slices.Clone(residuals[max(0, k-dailyRun/2):min(len(residuals), k+dailyRun/2+1)]))
	}
	return out
}

func (d daily) expect(slot int64, x Shift) {
	x = min(x, ShiftOf(dailyMost))
	for n := slot - dailySlack; n <= slot+dailySlack; n++ {
		at := (n + daySlots) % daySlots
		d[at] = max(d[at], x)
	}
}

// and adds what was expected before. Some blocks of the day may be missing, as a drift is no part of a baseline.
func (d daily) and(before daily) daily {
	for at, x := range before {
		d[at] = max(d[at], x)
	}
	return d
}

// after returns what is expected once something was seen in a slot. What recurred is expected again. Of what did not
// recur most is left, and nothing after some weeks. What goes on after the time at which it is expected is news.
func (d daily) after(slot int64, seen Shift) daily {
	at := slot % daySlots
	expected, ok := d[at]
	if !ok || seen >= expected/2 {
		return d
	}
	out := maps.Clone(d)
	if out[at] = expected * dailyKept / 100; out[at] < ShiftOf(dailyForgotten) {
		delete(out, at)
	}
	return out
}

// without returns the blocks with what is expected of statistic i at their time of day taken off. The load curve is
// learned from these, so that a nightly job at the time of the highest load is not mistaken for an effect of load.
func (d daily) without(blocks []block, i int) []block {
	if len(d) == 0 {
		return blocks
	}
	levels := make([]Shift, len(blocks))
	for k, b := range blocks {
		levels[k] = b.Level[i]
	}
	usual, out := median(levels), slices.Clone(blocks)
	for k, b := range out {
		out[k].Level[i] -= d.off(b.Slot, b.Level[i]-usual)
	}
	return out
}

// off returns what to take off a shift that was seen in a slot; never more than the shift itself.
func (d daily) off(slot int64, x Shift) Shift { return max(0, min(x, d[slot%daySlots])) }
