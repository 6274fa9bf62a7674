package plot

import "time"

const day = 24 * 3600

// times returns at most so many round times in a range.
func times(low, high float64, most int) []float64 {
	for _, step := range []float64{
		1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, day, 2 * day, 7 * day,
	} {
		if (high-low)/step <= float64(most) {
			return multiples(low, high, step)
		}
	}
	return multiples(low, high, niceStep((high-low)/day/float64(most))*day)
}

// timeText formats a tick: the date at midnight, else the time of day.
func timeText(v float64) string {
	t := time.Unix(int64(v), 0).UTC()
	switch {
	case int64(v)%day == 0:
		return t.Format("2 Jan")
	case int64(v)%60 != 0:
		return t.Format(time.TimeOnly)
	}
	return t.Format("15:04")
}
