// Package report prints what ssdprobe knows for people, and as JSON for scripts:
// run reports, comparisons of runs, devices, drift and baselines. Run reports are
// pages of HTML with plots too.
//
// What is shown is built once, as blocks of package document, and rendered by package
// text or html; package plot draws. The status page shows the same facts. It owns which
// percentiles a sample can carry (summary.go); how figures are written is in package
// units. It measures nothing and opens no file.
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
