package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/top"
)

// topOptions are the flags of top.
type topOptions struct {
	daemonOf
	interval time.Duration
	count    int  // 0 when not given: until the user ends it
	counted  bool // count was given
	once     bool
	all      bool
	json     bool
	sort     string
}

func (a *app) topCommand() *cobra.Command {
	var o topOptions
	c := &cobra.Command{
		Use:   "top [TARGET…]",
		Short: "Show what all drives do, live: IOPS, latency, stalls, and the verdict of each",
		Long: `Shows what each drive does, second by second, the one with the worst trouble first:
IOPS, MB/s, the mean latency of reads, writes, flushes and discards, I/O in flight, stalls,
how many times slower it is by its verdict, and its state: the verdict, or hung, not probed,
held back or partly judged.

All but the last two come from the kernel's counters: they need no root, no daemon and no I/O
to a drive. All I/O is counted, that of ssdprobe's own probes included. Verdicts and ratios are those of
the daemon of this machine, which may be at --url. A stall is a second or longer in which I/O is
in flight and none completes. The column says for how long one lasts now ("12s"), or how many there
were in the last hour ("3×").

Shows whole disks and whatever the daemon watches, or the devices that are named: by path, name,
number or id. With --all, also what is made of them (dm, md), partitions, loop devices and memory.

Keys: q quits, s and S choose the order, r reverses it, / filters by name, model or verdict, Enter
opens one device with its last minutes, Esc closes it, a shows all devices. Without a terminal,
with TERM=dumb, or with --count, prints plain text. NO_COLOR switches colours off.

With --json, prints one object per sample and line. docs/traffic.md lists its keys.

Exit codes: 0 after q or --count, 2 wrong usage, 130 after Ctrl-C.`,
		Example: `  ssdprobe top
  ssdprobe top nvme0n1 /dev/nvme1n1 --sort latency
  ssdprobe top --once
  ssdprobe top --interval 10s --count 6 --json`,
		RunE: func(c *cobra.Command, args []string) error {
			o.counted = c.Flags().Changed("count")
			return a.top(c.Context(), c.InOrStdin(), args, o)
		},
	}
	o.add(c.Flags())
	c.Flags().DurationVar(&o.interval, "interval", time.Second, "`TIME` from sample to sample, in whole seconds")
	c.Flags().IntVarP(&o.count, "count", "n", 0, "print this `NUMBER` of samples, and end")
	c.Flags().BoolVar(&o.once, "once", false, "the same as --count 1")
	c.Flags().BoolVarP(&o.all, "all", "a", false, "also show what is not a whole disk: dm, md, partitions, loop devices, memory")
	c.Flags().BoolVar(&o.json, "json", false, "print a JSON object per sample and line")
	c.Flags().StringVar(&o.sort, "sort", string(top.ByTrouble), "sort by `ORDER`: "+oneOf(top.Orders()))
	return c
}

// check validates the flags, and sets count for --once.
func (o *topOptions) check() error {
	var problems []error
	if o.interval < time.Second || o.interval > time.Hour || o.interval%time.Second != 0 {
		problems = append(problems, fmt.Errorf("--interval: %s is not a time of whole seconds, 1s to 1h", o.interval))
	}
	if o.once && o.count > 1 {
		problems = append(problems, fmt.Errorf("--once, --count %d: give one of them", o.count))
	}
	if o.counted && o.count < 1 {
		problems = append(problems, fmt.Errorf("--count: %d is not a number of samples; want 1 or more, or no --count to go on until Ctrl-C", o.count))
	}
	if o.once {
		o.count = 1
	}
	if !slices.Contains(top.Orders(), top.Order(o.sort)) {
		problems = append(problems, fmt.Errorf("--sort: %q is not an order; want %s", o.sort, oneOf(top.Orders())))
	}
	if len(problems) > 0 {
		return usage(errors.Join(problems...))
	}
	return nil
}

func (a *app) top(ctx context.Context, stdin io.Reader, targets []string, o topOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	c, err := a.settings()
	if err != nil {
		return err
	}
	if _, err := o.address(c); err != nil {
		return err
	}
	source := top.NewSource(top.Options{
		Host: sysfs.New(c.HostRoot), Node: c.Node, Interval: o.interval, Targets: targets, All: o.all, Ask: o.asks(c),
	})
	switch err := source.List(ctx); {
	case errors.Is(err, fs.ErrNotExist):
		return usage(err)
	case err != nil && len(targets) > 0 && !guard.Hangs(err):
		return err
	}
	runtime.GOMAXPROCS(1) // saves a quarter of the CPU time, because threads need not wake each other
	in, reads := stdin.(*os.File)
	out, writes := a.stdout.(*os.File)
	if reads && writes && !o.json && o.count == 0 && top.Live(in, out) {
		err = top.ShowLive(ctx, in, out, source, top.NewView(o.interval, top.Order(o.sort), o.all))
	} else {
		err = a.printSamples(ctx, source, o)
	}
	var ended *top.SignalError
	if errors.As(err, &ended) {
		return &exitError{128 + int(ended.Signal), nil}
	}
	return err
}

// asks returns the function that asks the daemon.
func (o topOptions) asks(c config.Config) top.Ask {
	return func(ctx context.Context) (string, record.Snapshot, error) {
		var s record.Snapshot
		address, err := o.address(c)
		if err != nil {
			return address, s, err
		}
		err = o.ask(ctx, &s, address, "/api/v1/devices") // like a snapshot, but without the histograms of probes
		// Disks of two machines may have the same id, such as that of a slot.
		if err == nil && o.url != "" && s.Node != c.Node {
			err = fmt.Errorf("the daemon at %s is that of the node %s, and these are the disks of %s; if it is the same machine, want --node %s", address, s.Node, c.Node, s.Node)
		}
		return address, s, unanswered(address, err)
	}
}

// printSamples prints samples until there are enough of them, or a signal arrives.
func (a *app) printSamples(ctx context.Context, source *top.Source, o topOptions) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	go func() {
		select {
		case s := <-signals:
			cancel(&top.SignalError{Signal: s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	printed, width := 0, widthOf(a.stdout)
	enough := errors.New("enough samples")
	err := source.Run(ctx, func(s top.Sample) {
		if context.Cause(ctx) != nil {
			return
		}
		top.Sort(s.Devices, top.Order(o.sort), false)
		write := func() error { return top.WriteText(a.stdout, s, width) }
		if o.json {
			write = func() error { return top.WriteJSON(a.stdout, s) }
		}
		if err := write(); err != nil {
			cancel(err)
		}
		printed++
		if printed == o.count {
			cancel(enough)
		}
	})
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, enough) {
		err = cause
	}
	return err
}

// widthOf returns the width of a terminal; 0 when w is not a terminal.
func widthOf(w io.Writer) int {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}
