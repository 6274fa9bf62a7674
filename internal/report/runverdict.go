package report

import (
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// RunVerdict says in words how the last run of a suite compares with the stored ones
// before it, and which of its figures are slower or faster than theirs. The text is empty
// when there is nothing to compare.
func RunVerdict(r record.RunStatus) (text string, changed []string) {
	counts := map[record.RunVerdict]int{}
	before, fewest := 0, 0 // earlier runs: most of those compared, most of those that are too few
	for _, f := range r.Figures {
		counts[f.Verdict]++
		if f.Verdict == record.RunFew {
			fewest = max(fewest, f.Runs)
		} else {
			before = max(before, f.Runs)
		}
	}
	few := counts[record.RunFew]
	compared := len(r.Figures) - few
	switch slower, faster := counts[record.RunSlower], counts[record.RunFaster]; {
	case len(r.Figures) == 0:
		return "", nil
	case compared == 0:
		return fmt.Sprintf("not compared: fewer than 4 runs before it under the same conditions (%s)", Count(int64(fewest))), nil
	case slower+faster == 0:
		text = fmt.Sprintf("like the %s before it in all of %s", plural(before, "run"), plural(compared, "figure"))
	case faster == 0:
		text = fmt.Sprintf("slower than the %s before it in %d of %s", plural(before, "run"), slower, plural(compared, "figure"))
	case slower == 0:
		text = fmt.Sprintf("faster than the %s before it in %d of %s", plural(before, "run"), faster, plural(compared, "figure"))
	default:
		text = fmt.Sprintf("slower than the %s before it in %d, and faster in %d, of %s", plural(before, "run"), slower, faster, plural(compared, "figure"))
	}
	if few > 0 {
		text += fmt.Sprintf("; %s not compared, with fewer than 4 runs before it", plural(few, "other"))
	}
	for _, verdict := range []record.RunVerdict{record.RunSlower, record.RunFaster} {
		for _, f := range r.Figures {
			if f.Verdict == verdict {
				changed = append(changed, changedFigure(f))
			}
		}
	}
	return text, changed
}

// changedFigure is "random-read-qd1, read p99: 31 % slower than their median of 912 µs (880 µs to 950 µs)".
func changedFigure(f record.RunFigure) string {
	return fmt.Sprintf("%s, %s %s: %s than their median of %s (%s to %s)", f.Step, f.Direction, f.Statistic.Short(), record.Ratio{Ratio: f.Ratio},
		Statistic(f.Statistic, f.Median), Statistic(f.Statistic, f.Best), Statistic(f.Statistic, f.Worst))
}
