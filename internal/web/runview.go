package web

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// runView is the status of one suite on a target.
type runView struct {
	Suite string
	// Now describes a run in progress, or says why it waits; empty otherwise.
	Now string
	// Last is the end of the last run that measured anything; nil when none did.
	Last *moment
	Took string
	// Problem says what went wrong with the last run.
	Problem string
	// Verdict says how the last run compares with the runs before it; empty when there is nothing to compare. Changed
	// lists the figures that are slower or faster.
	Verdict string
	Slower  bool
	Changed []string
	// Next is when the next run is due. Owed is set instead when that time has passed without a complete run.
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
