package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/suite"
)

const suitesHead = "# Suites\n\n" +
	"`ssdprobe run SUITE --target PATH` runs fio jobs that answer one question about a drive, and prints the answer.\n" +
	"`ssdprobe suites SUITE` lists the parameters of a suite, and `--dry-run` prints its jobs.\n\n" +
	"On a raw device, a suite that writes needs `--destroy SERIAL`. In a directory, it writes to a file of its own.\n\n" +
	"%s take several targets: repeat `--target`. [Results that travel](reports.md) says how to keep and compare results.\n\n" +
	"| suite | question | writes | what it runs |\n|---|---|---|---|\n"

const suitesByHand = `
## A job of your own

    ssdprobe run --job my.fio --target /srv/data --size 1GiB

runs the fio job file my.fio and reports on it as on a suite. The target is always that of ` + "`--target`" + `: leave out ` + "`filename`" + `, because any other file is
refused. ` + "`size`" + ` and ` + "`offset`" + ` may be left out as well. They count from the start of the data. In a directory, the first MiB of the file marks it as made by
ssdprobe, so a file of 1 GiB has room for a job of 1023 MiB. ` + "`--dry-run`" + ` shows the job as fio gets it.

## Compare with a data sheet

    ssdprobe run saturate --target /dev/nvme0n1 --destroy S6XYNG0T123456 --spec qlc.yaml

says which share of the data sheet in qlc.yaml the drive reaches:

    model: a drive with 16 KiB mapping units  # for people; may be left out
    random-read: 1000k IOPS
    random-write: 40k IOPS at 16KiB
    sequential-read: 7000 MB/s
    sequential-write: 3000 MB/s
    random-read-latency: 110us
    random-write-latency: 30us

Makers state random I/O and latencies for 4 KiB, and bandwidths for 128 KiB or more. Only steps of such blocks are compared. If the sheet names another block
size, write it behind the figure: ` + "`at 16KiB`" + `. Data sheets write KB and mean KiB. For a bandwidth, this is the smallest block size: steps with larger
blocks are compared, too. Latencies are compared with the mean of steps that have one I/O in flight.

These suites measure a figure with their default parameters, on a raw device that they may overwrite.

| figure | suites |
|---|---|
`

const suitesSheet = "\n`sequential-vs-random` and `span` use random blocks of 8 KiB. With `--set block=4KiB`" + `, their random I/O can be compared. The sequential I/O of
` + "`sequential-vs-random`" + ` has the same size, so it can be compared only with ` + "`--set block=128KiB`" + ` or more. For other sizes there are parameters as well, such as
` + "`random-block=16KiB` of `saturate`" + `. The report names figures that no step measured, with their block size.

## What they replace

People run these commands by hand. Each is one step of its suite with the default parameters. The other steps differ in depth, direction,
number of jobs or offset. A test compares the commands with the plans.

The plans also have options that change how fio measures, not what: threads instead of processes, no map of completed blocks, offsets that
differ from run to run, percentiles of the total latency, and jobs and memory on the NUMA node of the drive.

` + "```text\n"

const suitesElsewhere = "```\n" + `
## Windows, IOmeter and diskspd

ssdprobe runs only on Linux. It measures with the kernel's counters, sysfs and fio, and has no port to Windows. It neither runs IOmeter or
diskspd nor reads their results. Many guides and data sheets describe jobs of these tools. This is how to say the same to fio:

| IOmeter | diskspd | fio |
|---|---|---|
| worker | ` + "`-t4`" + ` (threads per file) | ` + "`numjobs=4`" + ` |
| number of outstanding I/Os, for each worker and target | ` + "`-o32`" + `, for each thread and file | ` + "`iodepth=32`" + `, for each job |
| transfer request size 4 KiB | ` + "`-b4K`" + ` | ` + "`bs=4k`" + ` |
| 100 % random | ` + "`-r`" + ` | ` + "`rw=randread`, `randwrite` or `randrw`" + ` |
| 70 % read, 30 % write | ` + "`-w30`" + ` | ` + "`rw=randrw rwmixread=70`" + ` |
| run time 60 s, ramp-up time 10 s | ` + "`-d60 -W10`" + ` | ` + "`time_based runtime=60 ramp_time=10`" + ` |
| always, on disks and files | ` + "`-Su`" + ` (no cache of the host) | ` + "`direct=1`" + ` |
| | ` + "`-Sh`" + ` (writes go through the drive's cache, too) | ` + "`direct=1 sync=1`" + ` |
| align I/Os on 4 KiB | aligned to the block size | aligned to the block size; ` + "`blockalign`" + ` changes it |
| maximum disk size, in sectors | ` + "`-f10G`" + ` | ` + "`size=10g`" + ` |
| | ` + "`-Zr`" + ` (random data) | fio writes random data by default |

These suites run the access specifications that guides use:

| access specification | fio | suite |
|---|---|---|
| 4 KiB, 100 % random, 100 % read, 32 outstanding | ` + "`rw=randread bs=4k iodepth=32`" + ` | ` + "`quick`, `depth-sweep`" + ` |
| 4 KiB, 100 % random, 100 % read, 16 workers with 16 outstanding each | ` + "`rw=randread bs=4k iodepth=16 numjobs=16`" + ` | ` + "`concurrency`" + ` |
| 8 KiB, 0 % or 100 % random, 100 % read or write, 1 or 32 outstanding | ` + "`rw=read`, `write`, `randread`, `randwrite` with `bs=8k iodepth=32`" + ` | ` + "`sequential-vs-random`" + ` |
| 8 KiB, 100 % random, over a part of the disk | ` + "`rw=randread bs=8k size=10%`" + ` | ` + "`span`" + ` |
| 4 KiB, 100 % random, 70 % read | ` + "`rw=randrw rwmixread=70 bs=4k iodepth=16`" + ` | ` + "`mixed`" + ` |
| 128 KiB, 0 % random, 100 % read or write | ` + "`rw=read` or `write` with `bs=128k iodepth=128`" + ` | ` + "`saturate`" + ` |

Compare results only with those of the same tool, because each tool starts to time an I/O at another moment. diskspd prints MiB/s, and
IOmeter decimal or binary MB/s. ssdprobe and data sheets use decimal MB/s.
`

// severalTargets returns the suites that accept several targets: "`a`, `b` and `c`".
func severalTargets() string {
	var names []string
	for _, s := range suite.All() {
		if s.Many {
			names = append(names, "`"+s.Name+"`")
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// suites returns docs/suites.md.
func suites(fs.FS) (map[string]string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, suitesHead, severalTargets())
	for _, s := range suite.All() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Name, s.Question, cmp.Or(s.Writes, "nothing"), s.Does)
	}
	b.WriteString(suitesByHand)
	for _, f := range suite.Figures() {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", strings.ReplaceAll(f.Name, " ", "-"), strings.Join(f.Suites, "`, `"))
	}
	b.WriteString(suitesSheet)
	for i, s := range suite.All() {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "# %s\n%s\n", s.Name, strings.ReplaceAll(s.Replaces, " && ", " &&\n"))
	}
	b.WriteString(suitesElsewhere)
	return map[string]string{"docs/suites.md": b.String()}, nil
}
