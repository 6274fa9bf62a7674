package fio_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

func Example() {
	job := fio.Job{Sections: []fio.Section{{Name: "qd8", Options: fio.Options{
		Filenames: []string{"/dev/nvme0n1"}, RW: fio.RandRead, BlockBytes: new(int64(4096)), IODepth: new(8),
	}}}}
	text, err := job.Render()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(text)

	// What fio printed for such a job:
	f, err := os.Open("testdata/fio-3.33-randread-group.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	out, err := fio.ParseOutput(f)
	if err != nil {
		fmt.Println(err)
		return
	}
	read := out.Jobs[0].Read
	fmt.Printf("%.0f IOPS, p99 %v\n", read.IOPS, read.Total.Histogram.Percentile(99))
	// Output:
	// [qd8]
	// filename=/dev/nvme0n1
	// rw=randread
	// bs=4096
	// iodepth=8
	// 15000 IOPS, p99 12.77952ms
}

// A job file of somebody else's is read, and checked before it is run.
func ExampleParseJob() {
	job, err := fio.ParseJob(strings.NewReader("[global]\nfilename=/dev/nvme0n1\n[read]\nrw=randread\n[logged]\nwrite_iolog=trace\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(job.Effective(1).Filenames, job.Direct())
	fmt.Println(job.Modifies())
	// Output:
	// [/dev/nvme0n1] false
	// [section "logged": write_iolog=trace]
}

// With --eta=always, fio says on its standard error how far it is.
func ExampleParseStatus() {
	status, ok := fio.ParseStatus("Jobs: 2 (f=2): [m(2)][60.0%][r=94.4MiB/s,w=93.9MiB/s][r=24.2k,w=24.0k IOPS][eta 00m:02s]")
	fmt.Println(ok, *status.Done, *status.Remaining, status.Rates.ReadIOPS)
	// Output: true 0.6 2s 24200
}
