package judge

import (
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/drift"
)

const (
	// dailyLeast is from how many times slower on what the host did at a time of the first day
	// is expected at that time of every day: a backup is no news the second night.
	dailyLeast = 1.1
	// dailyRun is for how many blocks in a row: half an hour. What is shorter is noise.
	dailyRun = 6
	// dailySlack is how many blocks earlier or later it may begin and end.
	dailySlack = 3
)

// daily is how much slower the host is at each time of the day, as far as that is out of
// the ordinary.
type daily [dayBlocks]drift.Shifts

func learnDaily(slots []int64, blocks []drift.Shifts) daily {
	var d daily
	for i := range blocks[0] {
		var values []drift.Shift
		for _, b := range blocks {
			if b[i].Known() {
				values = append(values, b[i])
			}
		}
		if len(values) == 0 {
			continue
		}
		slices.Sort(values)
		// What is common, like a load by day, is the noise of the host.
		usual := values[len(values)*3/4]
		limit, run := usual+drift.ShiftOf(dailyLeast), 0
		for k := range blocks {
			if !blocks[k][i].Known() || blocks[k][i] < limit {
				run = 0
				continue
			}
			run++
			switch {
			case run == dailyRun:
				for n := k - dailyRun + 1; n <= k; n++ {
					d.expect(slots[n], i, blocks[n][i]-usual)
				}
			case run > dailyRun:
				d.expect(slots[k], i, blocks[k][i]-usual)
			}
		}
	}
	return d
}

func (d *daily) expect(slot int64, statistic int, x drift.Shift) {
	for n := slot - dailySlack; n <= slot+dailySlack; n++ {
		at := &d[(n+dayBlocks)%dayBlocks][statistic]
		*at = max(*at, x)
	}
}

// off takes what is expected at the time of a block off it; never more than there is.
func (d *daily) off(slot int64, b drift.Shifts) drift.Shifts {
	for i, expected := range d[slot%dayBlocks] {
		if b[i].Known() && b[i] > 0 {
			b[i] -= min(b[i], expected)
		}
	}
	return b
}
