// Package fiorun runs fio and converts what it measured to records.
//
// It owns the process. fio runs in its own process group, gets its job on standard
// input, and cannot create files in its working directory. When Run returns, fio has
// ended, whatever the reason: normally, by cancellation, or because it hung or died.
// Nor does it outlive this process, however that ends. The package also owns the
// interpretation of the results: which of fio's figures become a record.Step, and what
// makes them doubtful.
//
// It refuses a fio older than 3.28, jobs that would be separate processes, and a report
// that cannot be parsed. It never changes the job that it was given, and never falls
// back to another I/O engine.
//
//	binary, err := fiorun.Find(ctx)
//	if err != nil { … }
//	run, err := binary.Run(ctx, fiorun.Request{Job: job, ReadOnly: true})
//	if err != nil { … }
//	steps := run.Steps()
package fiorun
