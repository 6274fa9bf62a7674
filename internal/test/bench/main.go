// Command bench measures what ssdprobe costs and how exact it is, side by side with other programs: on
// one machine, in one run, turn by turn. It prints ratios and figures with their spread. It fails if
// something cannot be measured, but not if a figure is bad, because a busy machine makes all of them bad.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/target"
)

type options struct {
	binary    string
	dir       string
	sizeBytes int64
	pairs     int
	turn      time.Duration
	watch     time.Duration
	only      string
	list      bool
	jsonFile  string
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/ssdprobe", "the ssdprobe to measure")
	flag.StringVar(&o.dir, "dir", ".", "directory on the drive to measure")
	flag.Int64Var(&o.sizeBytes, "size", 1<<30, "bytes of the file that is measured")
	flag.IntVar(&o.pairs, "pairs", 10, "measurements of each side, where they are short")
	flag.DurationVar(&o.turn, "turn", 8*time.Second, "length of each side's turns of the foreground workload")
	flag.DurationVar(&o.watch, "watch", 2*time.Minute, "how long the use of memory and CPU is watched")
	flag.StringVar(&o.only, "only", "", "comparisons to make, separated by commas; all when empty")
	flag.BoolVar(&o.list, "list", false, "list the comparisons")
	flag.StringVar(&o.jsonFile, "json", "", "file to write the table to as well")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// comparison is one part of the table.
type comparison struct {
	name string
	does string
	run  func(context.Context, *bench) ([]line, error)
}

func comparisons() []comparison {
	return []comparison{
		{"latency", "percentiles of read-4k beside those of fio", compareLatency},
		{"cost", "CPU time of a round beside starting fio", compareCost},
		{"suite", "IOPS of run quick beside bare fio with the same job files", compareSuite},
		{"foreground", "a workload with and without the daemon at its defaults", compareForeground},
		{"curve", "the same with shorter intervals of the probes", costCurve},
		{"resources", "memory and CPU of daemons with 1, 8, 24, 64 and 256 targets, and of node_exporter", compareResources},
		{"scrape", "scrapes of 24 and 256 targets beside node_exporter's, and the series of a target", compareScrapes},
		{"clients", "memory beside 256 slow readers, and the wait for an answer beside them and beside 1000 idle connections", compareClients},
		{"hang", "scrapes while one of 24 targets hangs, and while none does", compareHang},
		{"top", "CPU of ssdprobe top with 24 devices beside iostat -x 1", compareTop},
		{"sampling", "CPU of sampling the traffic of 1, 24 and 256 devices, and of node_exporter reading /proc/diskstats as often", compareSampling},
		{"recorder", "time and memory of the flight recorder with 1, 24 and 256 devices", costOfRecorder},
		{"io", "IOPS of a device in memory with and without the timing of each I/O by eBPF", compareTimed},
		{"start", "from the start to ready with 24 targets", timeStart},
	}
}

// unreachableError says that a comparison cannot be made on this machine, and why.
type unreachableError struct{ reason string }

func (e unreachableError) Error() string { return e.reason }

// bench holds what comparisons share.
type bench struct {
	options
	work string // working directory
	file *target.File
	// leftovers holds the errors of clean-ups.
	leftovers []error
}

func run(ctx context.Context, o options, w io.Writer) (err error) {
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	if o.list {
		for _, c := range chosen {
			fmt.Fprintf(w, "%-12s %s\n", c.name, c.does)
		}
		return nil
	}
	b := &bench{options: o}
	if b.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return err
	}
	if b.work, err = os.MkdirTemp(dir, ".ssdprobe-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.work)) }()
	fmt.Fprintf(w, "Filling a file of %d MiB in %s …\n", o.sizeBytes>>20, o.dir)
	if b.file, err = target.PrepareFile(ctx, filepath.Join(b.work, record.ProbeFileName), target.FileOptions{SizeBytes: o.sizeBytes}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.file.Close()) }()

	r := newReport()
	for _, c := range chosen {
		fmt.Fprintf(w, "%s: %s …\n", c.name, c.does)
		lines, err := c.run(ctx, b)
		var unreachable unreachableError
		switch {
		case errors.As(err, &unreachable):
			r.NotReached = append(r.NotReached, missing{c.name, unreachable.reason})
		case err != nil:
			return fmt.Errorf("%s: %w", c.name, err)
		}
		r.Lines = append(r.Lines, lines...)
	}
	r.print(w)
	if o.jsonFile != "" {
		err = r.write(o.jsonFile)
	}
	return errors.Join(append(b.leftovers, err)...)
}

// choose returns the comparisons with the given names; all if only is empty.
func choose(only string) ([]comparison, error) {
	all := comparisons()
	if only == "" {
		return all, nil
	}
	var chosen []comparison
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(c comparison) bool { return c.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-only: %q is unknown; -list shows what there is", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
