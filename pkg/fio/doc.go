// Package fio holds fio's job files and results as Go values.
//
// It owns both ends of a run of fio (https://fio.readthedocs.io) and not the run
// itself: a [Job] is rendered to a job file and parsed from one, an [Output] is
// parsed from what fio 3.0 and later print with --output-format=json or json+.
// Latencies are time.Duration, bandwidth is bytes per second, CPU use is a share
// of one CPU, so no figure has to be converted by who reads it.
//
// It executes nothing, opens no file and logs nothing. It refuses what it cannot
// say exactly: a file name that a job file cannot carry, a negative count, "nan"
// where a number belongs; each refusal names the field and the value. Only text
// lines around the JSON are tolerated, because fio prints its messages there;
// they are kept as [Output.Notes].
//
//	job := fio.Job{Sections: []fio.Section{{Name: "read", Options: fio.Options{
//		Filenames: []string{"/dev/nvme0n1"}, RW: fio.RandRead, BlockBytes: new(int64(4096)),
//	}}}}
//	text, err := job.Render()
package fio
