package web

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// runView is what is known of one suite on a target.
type runView struct {
	Suite string
	// Now is a run in progress, or why it waits; empty else.
	Now string
	// Last is the end of the last run that measured anything; nil when none did.
	Last *moment
	Took string
	// Problem is what went wrong with the last run.
	Problem string
	// Verdict is how it compares with the runs before it, empty when there is nothing to
	// compare; Changed are the figures that are slower or faster.
	Verdict string
	Slower  bool
	Changed []string
	// Next is when the calendar has it due, Owed when that has passed without a complete one.
	Next, Owed *moment
}

func newRunViews(runs []record.RunStatus, now time.Time) []runView {
	var views []runView
	for _, r := range runs {
		v := runView{Suite: r.Suite, Problem: r.Problem}
		if r.Last != nil {
			v.Last, v.Took = at(r.Last.Finished, now), units.Span(r.Last.Finished.Sub(r.Last.Started))
		}
		v.Verdict, v.Changed = report.RunVerdict(r)
		v.Slower = r.Comparison != nil && r.Comparison.Verdict == record.Slower
		switch {
		case r.Waits != "":
			v.Now = "waits: " + r.Waits
		case !r.Since.IsZero():
			v.Now = keep("runs for " + units.Span(max(now.Sub(r.Since), 0)))
		case r.Next.After(now):
			v.Next = at(r.Next, now)
		default:
			v.Owed = at(r.Next, now)
		}
		views = append(views, v)
	}
	return views
}
