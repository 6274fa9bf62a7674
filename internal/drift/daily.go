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

// learnDaily learns what is out of the ordinary in a day of residuals. What is common, such as a load by day, is noise. On a
// drive that collects garbage all the time, spikes of some minutes are common, and a nightly job is out of the ordinary
// only because it lasts: above what is common without the spikes, it has to last for twice as long.
func learnDaily(blocks []block, residuals []Shift) daily {
	d := daily{}
	common := func(residuals []Shift) Shift { return quantile(slices.Sorted(slices.Values(residuals)), 0.75) }
	d.expectRuns(blocks, residuals, common(residuals), dailyRun)
	d.expectRuns(blocks, residuals, common(smoothed(residuals)), 2*dailyRun)
	return d
}

// expectRuns expects again what was clearly above a usual residual in so many blocks in a row. It has to be clear that it
// is no effect of load: other blocks under about as much load are not above it.
func (d daily) expectRuns(blocks []block, residuals []Shift, usual Shift, long int) {
	limit, run := usual+ShiftOf(dailyLeast), 0
	for k, x := range residuals {
		if x < limit || !otherwiseUnderLoad(blocks, residuals, limit, blocks[k].Load) {
			run = 0
			continue
		}
		run++
		from := k
		if run == long {
			from = k - long + 1
		}
		if run >= long {
			for n := from; n <= k; n++ {
				d.expect(blocks[n].Slot, residuals[n]-usual)
			}
		}
	}
}

// otherwiseUnderLoad reports whether enough blocks under about a load have a residual below a limit.
func otherwiseUnderLoad(blocks []block, residuals []Shift, limit Shift, load int) bool {
	count := 0
	for k, b := range blocks {
		if residuals[k] < limit && max(b.Load-load, load-b.Load) <= binLoad {
			count++
		}
	}
	return count >= binBlocks
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
