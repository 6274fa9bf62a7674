package fio_test

import (
	"fmt"
	"os"

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
