// Package fiorun runs fio and makes a record of what it measured.
//
// It owns the process: fio runs in a process group of its own, gets its job by
// standard input and can make no file where it works, and is gone when Run returns,
// whatever ended it: its own end, cancellation, a hang, its death. It does not
// outlive this process either, however that ends. Package fiorun owns the
// reading of a result too: which of fio's figures become a record.Step, and what
// makes them less than trustworthy.
//
// It refuses a fio older than 3.28, jobs that would be processes of their own, and a
// report that cannot be read; it never
// changes the job that it was given, and never falls back to another I/O engine.
//
//	binary, err := fiorun.Find(ctx)
//	if err != nil { … }
//	run, err := binary.Run(ctx, fiorun.Request{Job: job, ReadOnly: true})
//	if err != nil { … }
//	steps := run.Steps()
package fiorun
