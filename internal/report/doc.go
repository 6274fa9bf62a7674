// Package report prints what ssdprobe knows for people, and as JSON for scripts:
// run reports, comparisons of runs, devices, drift and baselines. Run reports are
// pages of HTML with plots too.
//
// It owns how values look (units.go, times.go) so that a latency, a rate or a
// size reads the same wherever it is shown, and it owns which percentiles a
// sample can carry (summary.go) and when a run counts as slower (comparison.go,
// changes.go). What a run comes to is a list of sections (section.go), a sentence
// with plots and a table each, which text and HTML show alike; package plot draws.
// It measures nothing, opens no file and never colours: text stays plain, so
// it can be piped and pasted into a ticket, and a page holds all it needs.
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
//	documents, err := report.Parse(stored)
//	err = report.HTML(os.Stdout, documents...)
package report
