// Command bench compares the probe engine with fio: on one file, in one run, turn
// by turn. It prints ratios with their spread, which mean something on any
// machine, and no times to be held to.
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

	"github.com/ssdprobe/ssdprobe/internal/target"
)

type options struct {
	dir       string
	sizeBytes int64
	pairs     int
	jsonFile  string
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", ".", "directory on the drive to measure")
	flag.Int64Var(&o.sizeBytes, "size", 1<<30, "bytes of the file that is measured")
	flag.IntVar(&o.pairs, "pairs", 30, "measurements of each side")
	flag.StringVar(&o.jsonFile, "json", "", "file to write the ratios to as well")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := bench(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, o options, w io.Writer) (err error) {
	dir, err := os.MkdirTemp(o.dir, ".ssdprobe-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	fmt.Fprintf(w, "Filling a file of %d MiB in %s …\n", o.sizeBytes>>20, o.dir)
	file, err := target.PrepareFile(ctx, filepath.Join(dir, target.FileName), target.FileOptions{SizeBytes: o.sizeBytes})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()

	latency, err := compareLatency(ctx, file, o.pairs)
	if err != nil {
		return err
	}
	cost, err := compareCost(ctx, file, o.pairs)
	if err != nil {
		return err
	}
	results := slices.Concat(latency, cost)
	printTable(w, results)
	if o.jsonFile != "" {
		return writeJSON(o.jsonFile, results)
	}
	return nil
}
