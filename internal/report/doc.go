// Package report prints what ssdprobe knows for people, and as JSON for scripts:
// run reports, comparisons with a baseline, devices, drift and baselines.
//
// It owns how values look (units.go, times.go) so that a latency, a rate or a
// size reads the same wherever it is shown, and it owns which percentiles a
// sample can carry (summary.go) and when a run counts as slower (comparison.go).
// It measures nothing, reads nothing and never colours: text stays plain, so
// it can be piped and pasted into a ticket.
//
// Numbers in tables have one unit per column, named in the header; bandwidth and
// drives are decimal (MB, TB), blocks and files binary (KiB, GiB). Strings that
// come from drives and paths lose their control characters before they are printed.
//
//	err := report.Run(os.Stdout, now)
//	c := report.Compare(baseline, now, 0.1)
//	err = c.Text(os.Stdout)
//	if c.Slower() { … }
//	err = report.JSON(os.Stdout, report.NewDocument(now, &c))
package report
