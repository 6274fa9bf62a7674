package drift

import (
	"maps"
	"slices"
)

// What recurs at a time of day, or of the week, is no news: a backup, a scrub, discards, jobs that nobody reports. A
// slowdown of the first day, or one that was found and over within hours, is expected at that time of the next days, and of
// that day of the next weeks. It is forgotten when it does not recur.

const (
	daySlots  = finalBlocks
	weekSlots = 7 * daySlots
	// dailyLeast is the ratio from which on something is out of the ordinary for a day, and dailyRun for how many
	// blocks in a row it must last: half an hour. What is shorter is noise.
	dailyLeast = 1.2
	dailyRun   = 6
	// dailyMost is the largest ratio that is expected again: no nightly job makes a healthy drive slower than that.
	dailyMost = 4.0
	// dailyKept is how much of an expectation, in percent, is left after a day without it, and weeklyKept after a week:
	// backups skip some nights.
	dailyKept, weeklyKept = 85, 70
	// jobSlack is how many blocks earlier or later a job of half an hour or more may begin and end, and spellSlack what is
	// shorter.
	jobSlack, spellSlack = 6, 3
	// mostExpected is how many slots what is expected again may last, for how many an expectation may follow a job, and for how
	// many of a week something may be expected: half a day. What comes for longer, or more often, is no job.
	mostExpected = daySlots / 2
	// dailyForgotten is the ratio below which an expectation is dropped.
	dailyForgotten = 1.05
)

// recurring is how much slower something is expected to be, by the slot of the day and by that of the week.
type recurring struct {
	Daily  map[int64]Shift `json:"daily,omitempty"`
	Weekly map[int64]Shift `json:"weekly,omitempty"`
}

// learnDaily learns what is out of the ordinary in a day of residuals. What is common, such as a load by day, is noise. On a
// drive that collects garbage all the time, spikes of some minutes are common, and a nightly job is out of the ordinary
// only because it lasts: above what is common without the spikes, it has to last for twice as long.
func learnDaily(blocks []block, residuals []Shift) recurring {
	r := either()
	common := func(residuals []Shift) Shift { return quantile(slices.Sorted(slices.Values(residuals)), 0.75) }
	r.expectRuns(blocks, residuals, common(residuals), dailyRun)
	r.expectRuns(blocks, residuals, common(smoothed(residuals)), 2*dailyRun)
	return r
}

// expectRuns expects again what was clearly above a usual residual in so many blocks in a row. It has to be clear that it
// is no effect of load: other blocks under about as much load are not above it.
func (r recurring) expectRuns(blocks []block, residuals []Shift, usual Shift, long int) {
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
				r.expect(blocks[n].Slot, residuals[n]-usual, jobSlack)
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

// expect expects x again in a slot of the day and of the week, and up to some slots before and after it.
func (r recurring) expect(slot int64, x Shift, slack int64) {
	x = min(x, ShiftOf(dailyMost))
	about(r.Daily, slot, daySlots, slack, x)
	about(r.Weekly, slot, weekSlots, slack, x)
}

// about expects x in a slot of a period, and up to some slots before and after it.
func about(expected map[int64]Shift, slot, period, slack int64, x Shift) {
	for n := slot - slack; n <= slot+slack && x > 0; n++ {
		at := (n + period) % period
		expected[at] = max(expected[at], x)
	}
}

// followed returns what is expected once statistic i recurred for half an hour or more, and has been over for as long as it
// might go on: the same at about the times at which it came. So an expectation follows a job that takes longer from time to
// time, or begins earlier if it takes no more than two hours. What goes on after the time at which it is expected is news, and
// so moves nothing.
func (r recurring) followed(blocks []judged, i int) recurring {
	recurred := func(b judged) bool { x := r.at(b.Slot); return x > 0 && b.withDay[i] >= x/2 }
	end := len(blocks) - 1 - jobSlack // the first block after it
	if end < dailyRun || !recurred(blocks[end-1]) {
		return r
	}
	half := r.at(blocks[end-1].Slot) / 2
	if slices.ContainsFunc(blocks[end:], func(b judged) bool { return b.withDay[i] >= half }) {
		return r
	}
	first := end
	for first > 0 && recurred(blocks[first-1]) {
		first--
	}
	if end-first < dailyRun {
		return r
	}
	out := either(r)
	for _, b := range blocks[first:end] {
		about(out.Daily, b.Slot, daySlots, jobSlack, min(r.Daily[b.Slot%daySlots], b.withDay[i]))
		about(out.Weekly, b.Slot, weekSlots, jobSlack, min(r.Weekly[b.Slot%weekSlots], b.withDay[i]))
	}
	if len(out.Daily) > mostExpected {
		out.Daily = r.Daily
	}
	return out.orWeekly(r)
}

// orWeekly returns r with what was expected weekly before, if more is expected now than recurs at some time of the week.
func (r recurring) orWeekly(before recurring) recurring {
	if len(r.Weekly) > mostExpected {
		r.Weekly = before.Weekly
	}
	return r
}

// either returns what any of some expects: a copy, to which more may be added. Some blocks of a day may be missing, as a drift
// is no part of a baseline.
func either(of ...recurring) recurring {
	out := recurring{map[int64]Shift{}, map[int64]Shift{}}
	for _, r := range of {
		for at, x := range r.Daily {
			out.Daily[at] = max(out.Daily[at], x)
		}
		for at, x := range r.Weekly {
			out.Weekly[at] = max(out.Weekly[at], x)
		}
	}
	return out
}

// after returns what is expected once something was seen in a slot. What recurred is expected again. Of what did not
// recur most is left, and nothing after some weeks. What goes on after the time at which it is expected is news.
func (r recurring) after(slot int64, seen Shift) recurring {
	return recurring{kept(r.Daily, slot%daySlots, seen, dailyKept), kept(r.Weekly, slot%weekSlots, seen, weeklyKept)}
}

// kept returns what is left of expectations after something was seen at a time: what recurred, and so many percent of what
// did not.
func kept(expected map[int64]Shift, at int64, seen Shift, percent Shift) map[int64]Shift {
	x, ok := expected[at]
	if !ok || seen >= x/2 {
		return expected
	}
	out := maps.Clone(expected) // the state that is being written has the other one
	if out[at] = x * percent / 100; out[at] < ShiftOf(dailyForgotten) {
		delete(out, at)
	}
	return out
}

// without returns the blocks with what is expected of statistic i at their time taken off. The load curve is
// learned from these, so that a nightly job at the time of the highest load is not mistaken for an effect of load.
func (r recurring) without(blocks []block, i int) []block {
	if len(r.Daily) == 0 && len(r.Weekly) == 0 {
		return blocks
	}
	levels := make([]Shift, len(blocks))
	for k, b := range blocks {
		levels[k] = b.Level[i]
	}
	usual, out := median(levels), slices.Clone(blocks)
	for k, b := range out {
		out[k].Level[i] -= r.off(b.Slot, b.Level[i]-usual)
	}
	return out
}

// off returns what to take off a shift that was seen in a slot; never more than the shift itself.
func (r recurring) off(slot int64, x Shift) Shift { return max(0, min(x, r.at(slot))) }

// at returns what is expected in a slot.
func (r recurring) at(slot int64) Shift { return max(r.Daily[slot%daySlots], r.Weekly[slot%weekSlots]) }
