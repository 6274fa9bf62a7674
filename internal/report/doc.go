// Package report formats what ssdprobe knows for people, and as JSON and CSV for
// programs: run reports, comparisons of runs, devices, drift, baselines and recordings.
// Run reports can also be pages of HTML with plots, and Markdown.
//
// A report is built once, as blocks of package document, and rendered by package text,
// html or markdown; package plot draws. The status page shows the same facts. This
// package owns the choice of figures for a run (summary.go). How figures are formatted is
// in package units. It measures nothing and opens no file.
//
// Numbers in tables have one unit per column, named in the header. Bandwidth and drives
// are decimal (MB, TB), blocks and files binary (KiB, GiB). Strings from drives and paths
// lose their control characters before they are printed.
//
//	err := report.Run(os.Stdout, now)
//	c := compare.Pair(baseline, now, 0.1)
//	d := report.NewDocument(now, &c)
//	err = report.Comparison(os.Stdout, d)
//	err = report.JSON(os.Stdout, d)
//	documents, err := report.Parse(stored)
//	err = report.HTML(os.Stdout, documents...)
package report
