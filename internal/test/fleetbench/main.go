// Command fleetbench judges the judge by a fleet: false verdicts in many device-years, by kind,
// and how late what happens is found.
//
// usage: fleetbench [-device-years Y] [-seed N] [-days D] [-interval I] [-node N] [-calm] [-wrong] [-cpuprofile FILE]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/test/verdicts"
)

func main() {
	var o options
	flag.Float64Var(&o.years, "device-years", 2000, "how many to simulate; Ctrl-C ends it with a summary")
	flag.Uint64Var(&o.fleet.Seed, "seed", 1, "of the fleet")
	flag.Float64Var(&o.fleet.Days, "days", 60, "length of each node's history")
	flag.DurationVar(&o.fleet.Interval, "interval", time.Minute, "between the rounds of a drive")
	flag.BoolVar(&o.fleet.Calm, "calm", false, "no faults: all that is told is false")
	flag.IntVar(&o.node, "node", wholeFleet, "simulate this node of the fleet alone")
	flag.BoolVar(&o.wrong, "wrong", false, "list the false verdicts, and what was found late")
	flag.Float64Var(&o.settings.FalseAlarmsPerYear, "false-alarms", drift.Default().FalseAlarmsPerYear, "wanted at most in a device-year")
	debug.SetGCPercent(1600) // the live data is small, but the garbage is not
	profile := flag.String("cpuprofile", "", "write a profile of the CPU to this file")
	flag.Parse()
	if err := verdicts.Profiled(*profile, func() error { return interruptible(os.Stdout, o) }); err != nil {
		fmt.Fprintln(os.Stderr, "fleetbench:", err)
		os.Exit(1)
	}
}

type options struct {
	years    float64
	fleet    drifttest.Fleet
	settings drift.Settings
	wrong    bool
	node     int // or wholeFleet
}

// wholeFleet is the value of the option node that stands for all nodes.
const wholeFleet = -1

// simulated is what was simulated, and its score.
type simulated struct {
	score  verdicts.Score
	years  float64
	rounds int
	err    error
}

// interruptible runs until it is done or interrupted. After an interrupt it writes what it has so far.
func interruptible(w io.Writer, o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return run(ctx, w, o)
}

// run simulates a fleet and writes its figures.
func run(ctx context.Context, w io.Writer, o options) error {
	started := time.Now()
	total, err := fleet(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%.1f device-years of seed %d, %d rounds in %s: %.1f µs of a CPU each\n\n", total.years, o.fleet.Seed, total.rounds,
		time.Since(started).Round(time.Second), cpuTime().Seconds()/float64(total.rounds)*1e6)
	return total.score.WriteFleet(w, o.wrong)
}

// fleet simulates nodes, one on each CPU at a time, until there are enough device-years.
func fleet(ctx context.Context, o options) (simulated, error) {
	numbers, done := make(chan int), make(chan simulated)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for n := range numbers {
				done <- simulate(o, n)
			}
		})
	}
	go func() {
		defer close(done)
		defer workers.Wait()
		defer close(numbers)
		if o.node != wholeFleet {
			numbers <- o.node
			return
		}
		planned := 0.0
		for n := 0; planned < o.years; n++ {
			planned += deviceYears(o.fleet.Node(n))
			select {
			case numbers <- n:
			case <-ctx.Done():
				return
			}
		}
	}()
	var total simulated
	for s := range done {
		if s.err != nil {
			total.err = s.err
			continue
		}
		total.score.Merge(s.score)
		total.years += s.years
		total.rounds += s.rounds
	}
	return total, total.err
}

// cpuTime returns the CPU time that this process has used.
func cpuTime() time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return 0 // the figure is for people
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func simulate(o options, number int) simulated {
	s := o.fleet.Node(number)
	out := simulated{years: deviceYears(s)}
	for _, d := range s.Drives {
		out.rounds += int((d.To - d.From) / s.Interval)
	}
	judged, err := verdicts.Judge(s, o.settings)
	if err != nil {
		out.err = fmt.Errorf("node %d: %w", number, err)
		return out
	}
	out.score.Add(fmt.Sprintf("node %d, %d drives, %s", number, s.Together(), strings.Join(s.Noises, "+")), s, judged)
	return out
}

func deviceYears(s drifttest.Scenario) float64 {
	var all time.Duration
	for _, d := range s.Drives {
		all += d.To - d.From
	}
	return float64(all) / float64(verdicts.Year)
}
