// Package run measures targets now and yields a run report: probes back to back on
// one, or a suite of fio jobs on one or several.
//
// It owns what every run needs around the measuring itself: the devices' locks, the
// question whether a device is busy, permission to overwrite one, the CPUs that are near
// it, and removing the files that were made for the run. It decides neither what is
// printed nor what becomes of the report.
//
//	subject, err := run.Find(fs, "/mnt/data", 1<<30)
//	session, err := run.Begin(ctx, subject, options)
//	defer session.End()
//	report, err := session.Probes(ctx, probes, 10)
package run
