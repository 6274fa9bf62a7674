// Package run measures a target now and yields a run report: probes back to back,
// or a suite of fio jobs.
//
// It owns what every run needs around the measuring itself: the device's lock, the
// question whether the device is busy, and removing the file that was made for the
// run. It decides neither what is printed nor what becomes of the report.
//
//	subject, err := run.Find(fs, "/mnt/data", 1<<30)
//	session, err := run.Begin(ctx, subject, options)
//	defer session.End()
//	report, err := session.Probes(ctx, probes, 10)
package run
