// Package run measures targets now and returns a run report: of probes, back to back on
// one target, or of a suite of fio jobs on one or several.
//
// It owns what every run needs around the measurement itself: the devices' locks, the
// check whether a device is busy, permission to overwrite one, the CPUs near it, and the
// removal of files that were made for the run. It decides neither what is printed nor
// what becomes of the report.
//
//	subject, err := run.Find(fs, "/mnt/data", 1<<30)
//	session, err := run.Begin(ctx, subject, options)
//	defer session.End()
//	report, err := session.Probes(ctx, probes, 10, 1)
package run
