package finding

import (
	"cmp"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// overdueAfter is how long after its time a scheduled run that was not completed is a finding: its window may be short, and the drive
// busy for a night. SsdprobeRunOverdue has the same limit.
const overdueAfter = 48 * time.Hour

// ofRun lists the findings of a scheduled suite. Of one that is scheduled no more, the reports are history.
func ofRun(r record.RunStatus, now time.Time) []Finding {
	if r.Next.IsZero() {
		return nil
	}
	var all []Finding
	if c := r.Comparison; c != nil && c.Verdict == record.Slower && r.Last != nil {
		all = append(all, found(RunSlower, "the last run of "+r.Suite+" was slower than the "+units.Plural(c.Runs, "run")+" before it",
			units.Count(c.CountLoads(c.Verdict))+" of "+units.Plural(len(c.Loads), "load")).from(r.Last.Finished))
	}
	if r.Since.IsZero() && now.Sub(r.Next) > overdueAfter {
		f := found(RunOverdue, "the run of "+r.Suite+" was not completed").from(r.Next)
		if why := cmp.Or(r.Waits, r.Problem); why != "" {
			f.Evidence = []string{OneLine(why)}
		}
		all = append(all, f)
	}
	return all
}
