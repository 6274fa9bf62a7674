// Package fio holds fio's job files and results as Go values.
//
// It owns the input and the output of a run of fio (https://fio.readthedocs.io), but not the
// run itself. A [Job] is rendered to a job file and parsed from one. An [Output] is parsed
// from what fio 3.0 and later print with --output-format=json or json+, also of jobs on other
// hosts (--client). Latencies are time.Duration, bandwidth is in bytes per second, and CPU use
// is a share of one CPU, so readers do not have to convert figures.
//
// It executes nothing, opens no file and logs nothing. It rejects what it cannot represent
// exactly: a file name that a job file cannot carry, a negative count, "nan" where a number
// belongs. Each error names the field and the value. Text lines around the JSON are
// tolerated, because fio prints its messages there; they are kept as [Output.Notes].
//
//	job := fio.Job{Sections: []fio.Section{{Name: "read", Options: fio.Options{
//		Filenames: []string{"/dev/nvme0n1"}, RW: fio.RandRead, BlockBytes: new(int64(4096)),
//	}}}}
//	text, err := job.Render()
package fio
