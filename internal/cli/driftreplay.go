package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/replay"
)

// replayOptions are the flags of drift replay.
type replayOptions struct {
	prometheus, device, instance, cluster, model, probe, start, end, step, utilisation string
	smallestEffect, falseAlarms, threshold                                             string
	baselineRounds                                                                     int
	roundsGiven                                                                        bool // --baseline-rounds; 0 is wrong, not missing
	server                                                                             clientOptions
	form                                                                               output
}

func (a *app) driftReplay() *cobra.Command {
	var o replayOptions
	c := &cobra.Command{
		Use:   "replay FILE.csv | FOLDER | --prometheus URL",
		Short: "Judge a recorded history as the daemon would have",
		Long: `Runs the code of the daemon over recorded histories: of one probe on one drive, or of
all drives of a node together. Use it to try settings on your own data. Text output shows
the verdicts, the drives, the worst first, and plots. jsonl has a line per change, as it
happens. json has everything in one object.

A CSV file has its rows in order of time, and a header with the column time (unix seconds
or RFC 3339) and
  latency_p50_seconds, latency_p95_seconds, latency_p99_seconds, iops
      a round of a probe; all empty where it was refused
  others_read_latency_seconds, others_write_latency_seconds,
  others_flush_latency_seconds
      mean latencies of others' I/O; empty where there was none
or only one of these two groups. It may also have
  others_read_iops, others_write_iops, others_read_bytes_per_second,
  others_write_bytes_per_second, in_flight
      what others asked of the drive
  utilisation
      by others, 0 to 1
  conditions
      firmware=A;kernel=6.12
"-" is standard input.

A folder is a node: each of its CSV files is a drive. They are of one model, unless a file
drives.json says otherwise:
  {"nvme0n1": {"model": "X", "size_bytes": 960197124096,
               "rotational": false, "group": ""}}

With --prometheus, the history comes from the HTTP API of a Prometheus server that
scrapes the daemon. --http.config.file has its password, if it needs one.
  --device DEVICE        one drive
  --instance HOST:PORT   all drives of a node
  --model MODEL          all drives of a model, on all nodes; they are judged as if
                         they were on one host
  --cluster NAME         only those of this cluster, where one server has several
These figures cover the daemon's window, so single slow rounds show less than they did to
the daemon. The sizes of others' I/O are not exported, so they are not known.

The settings are those of --config, or the defaults; flags override them. This history
gets the whole budget of false alarms. The daemon divides it among the probes of a
target and its traffic.`,
		Example: `  ssdprobe drift replay history.csv
  ssdprobe drift replay stor-07/
  ssdprobe drift replay history.csv --smallest-effect 15% --output jsonl
  ssdprobe drift replay --prometheus http://prometheus:9090 --device nvme0n1 \
    --instance stor-07:10040 --start 30d
  ssdprobe drift replay --prometheus http://prometheus:9090 \
    --instance stor-07:10040 --start 30d
  ssdprobe drift replay --prometheus http://prometheus:9090 \
    --model PM9A3 --probe read-4k
  ssdprobe drift replay --prometheus http://prometheus:9090 --device nvme0n1 \
    --utilisation 'rate(node_disk_io_time_seconds_total{
        device="nvme0n1",instance="stor-07:9100"}[5m])'`,
		Args: arguments(cobra.MaximumNArgs(1)),
	}
	query := o.queryFlags()
	c.RunE = func(c *cobra.Command, args []string) error {
		o.roundsGiven = c.Flags().Changed("baseline-rounds")
		if given := changed(query); len(given) > 0 && len(args) > 0 && o.prometheus == "" {
			return usage(fmt.Errorf("%s: only for --prometheus; %s is replayed as a whole", strings.Join(given, ", "), args[0]))
		}
		return wrongInput(a.replay(c.Context(), c.InOrStdin(), args, o))
	}
	f := c.Flags()
	f.AddFlagSet(query)
	f.StringVar(&o.prometheus, "prometheus", "", "read from the Prometheus server at this `URL`")
	f.StringVar(&o.smallestEffect, "smallest-effect", "", "smallest shift that matters (`RATIO`), as drift.smallest_effect")
	f.StringVar(&o.falseAlarms, "false-alarms", "", "false alarms in a year (`NUMBER`), as drift.false_alarms_per_device_year")
	f.StringVar(&o.threshold, "threshold", "", "smallest shift judged on the first day (`RATIO`), as drift.threshold")
	f.IntVar(&o.baselineRounds, "baseline-rounds", 0, "rounds in an early baseline (`COUNT`), as drift.baseline_rounds")
	addOutput(c, &o.form, outputJSONL)
	return c
}

// queryFlags returns the flags that say what to ask Prometheus, and how.
func (o *replayOptions) queryFlags() *pflag.FlagSet {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.StringVar(&o.device, "device", "", "prometheus: `NAME` in the label device or id")
	f.StringVar(&o.instance, "instance", "", "prometheus: label instance (`HOST:PORT`): all of its drives, or the one that --device names")
	f.StringVar(&o.cluster, "cluster", "", "prometheus: label cluster (`NAME`), where one server has several")
	f.StringVar(&o.model, "model", "", "prometheus: all drives with this `MODEL` in the label model")
	f.StringVar(&o.probe, "probe", "read-4k", "prometheus: `NAME` of the probe")
	f.StringVar(&o.start, "start", "14d", "prometheus: begin at this `TIME`: RFC 3339, unix seconds, or how long before the end")
	f.StringVar(&o.end, "end", "now", "prometheus: end at this `TIME`: RFC 3339, unix seconds, or how long ago")
	f.StringVar(&o.step, "step", "1m", "prometheus: time between samples (`DURATION`)")
	f.StringVar(&o.utilisation, "utilisation", "", "prometheus: `PROMQL` of the share (0 to 1) of time that others use the device")
	o.server.add(f)
	return f
}

// changed returns the flags that were given, as they are typed.
func changed(flags *pflag.FlagSet) []string {
	var given []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			given = append(given, "--"+f.Name)
		}
	})
	return given
}

// settings returns the drift settings of the configuration, overridden by the flags.
func (o replayOptions) settings(c config.Config) (drift.Settings, error) {
	var problems []error
	set := func(flag, text string, to *float64, parse func(string) (float64, error)) {
		if text == "" {
			return
		}
		v, err := parse(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", flag, err))
			return
		}
		*to = v
	}
	d := &c.Drift.Settings
	set("--smallest-effect", o.smallestEffect, &d.SmallestEffect, config.ParseRatio)
	set("--false-alarms", o.falseAlarms, &d.FalseAlarmsPerYear, config.ParseNumber)
	set("--threshold", o.threshold, &d.Threshold, config.ParseRatio)
	if o.roundsGiven {
		d.BaselineRounds = o.baselineRounds
	}
	return *d, errors.Join(errors.Join(problems...), c.Validate())
}

// query returns the query to Prometheus that the flags describe.
func (o replayOptions) query(now time.Time) (replay.Query, error) {
	q := replay.Query{URL: o.prometheus, Device: o.device, Instance: o.instance, Cluster: o.cluster, Model: o.model, Probe: o.probe, Utilisation: o.utilisation}
	switch {
	case o.device == "" && o.instance == "" && o.model == "":
		return q, errors.New("--prometheus: which drives? want --device, --instance (all drives of a node) or --model (all drives of a model)")
	case o.device != "" && o.model != "":
		return q, errors.New("--model: cannot be given with --device, which names one drive")
	case o.device == "" && o.utilisation != "":
		return q, errors.New("--utilisation: applies to one drive; want --device with it")
	}
	if err := checkPrometheus(o.prometheus); err != nil {
		return q, err
	}
	var endErr, startErr, stepErr error
	q.To, endErr = moment("--end", o.end, now)
	q.From, startErr = moment("--start", o.start, q.To)
	if q.Step, stepErr = config.ParseDuration(o.step); stepErr != nil {
		stepErr = fmt.Errorf("--step: %w", stepErr)
	} else if q.Step < time.Second {
		stepErr = fmt.Errorf("--step: %s is too small; want 1s or more", o.step)
	}
	return q, errors.Join(endErr, startErr, stepErr)
}

// moment parses a time: RFC 3339, unix seconds, or a duration before another time.
func moment(flag, text string, before time.Time) (time.Time, error) {
	if text == "now" {
		return before, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if unix, err := strconv.ParseInt(text, 10, 64); err == nil && unix >= 0 {
		return time.Unix(unix, 0), nil
	}
	ago, err := config.ParseDuration(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %q is not a time; want one like 2026-05-04T13:00:00Z, unix seconds, or a duration like 14d", flag, text)
	}
	return before.Add(-ago), nil
}

func (a *app) replay(ctx context.Context, stdin io.Reader, files []string, o replayOptions) error {
	c, err := a.settings()
	if err != nil {
		return err
	}
	settings, err := o.settings(c)
	if err != nil {
		return usage(err)
	}
	switch {
	case len(files) == 0 && o.prometheus == "":
		return usage(errors.New("nothing to replay; want a CSV file, a folder of them, or --prometheus with --device, --instance or --model; see ssdprobe drift replay --help"))
	case len(files) == 1 && o.prometheus != "":
		return usage(errors.New("--prometheus: cannot be given with a file"))
	case o.prometheus != "":
		return a.replayPrometheus(ctx, settings, o)
	}
	if info, err := os.Stat(files[0]); err == nil && info.IsDir() {
		return a.replayFolder(ctx, files[0], settings, o.form)
	}
	in, err := openInput(stdin, files[0])
	if err != nil {
		return usage(err)
	}
	defer in.Close()
	history, err := replay.NewReader(files[0], bufio.NewReader(in))
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(files[0]), ".csv")
	return emptiness(files[0], a.printReplay(ctx, one(name, history), settings, o.form))
}

// replayPrometheus replays what a server recorded. What the server warns of is told once all is printed, whatever the form.
func (a *app) replayPrometheus(ctx context.Context, settings drift.Settings, o replayOptions) error {
	q, err := o.query(time.Now())
	if err != nil {
		return usage(err)
	}
	client, err := o.server.client()
	if err != nil {
		return err
	}
	doubts := map[string]bool{}
	q.Doubt = func(warning string) { doubts[warning] = true }
	drives, err := replay.PrometheusDrives(ctx, client, q)
	if err == nil {
		err = a.printReplay(ctx, drives, settings, o.form)
	}
	if errors.Is(err, replay.ErrEmpty) {
		err = q.NothingFound()
	}
	return errors.Join(a.tellDoubts(slices.Sorted(maps.Keys(doubts))), cured("--prometheus", err))
}

// emptiness names what was read if there is nothing in it.
func emptiness(path string, err error) error {
	if errors.Is(err, replay.ErrEmpty) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// wrongInput marks an error about the history, or about which one was asked for, as a mistake of the caller.
func wrongInput(err error) error {
	for _, mistake := range []error{replay.ErrHistory, replay.ErrEmpty, replay.ErrQuery, replay.ErrAmbiguous} {
		if errors.Is(err, mistake) {
			return usage(err)
		}
	}
	return err
}

// one returns a node with a single drive.
func one(name string, history replay.Source) []replay.Drive {
	return []replay.Drive{{Drive: judge.Drive{ID: name}, History: history}}
}

func (a *app) replayFolder(ctx context.Context, path string, settings drift.Settings, form output) error {
	folder, err := replay.OpenFolder(path)
	if err != nil {
		return usage(err)
	}
	defer folder.Close()
	return emptiness(path, a.printReplay(ctx, folder.Drives, settings, form))
}

// printReplay judges the drives and prints the result.
func (a *app) printReplay(ctx context.Context, drives []replay.Drive, settings drift.Settings, form output) error {
	var emit func(replay.Line) error
	if form == outputJSONL {
		emit = func(l replay.Line) error {
			text, err := json.Marshal(l)
			if err == nil {
				_, err = a.stdout.Write(append(printable.JSON(text), '\n'))
			}
			return err
		}
	}
	r, err := replay.RunNode(ctx, drives, settings, emit)
	if err != nil || form == outputJSONL {
		return err
	}
	return a.show(form, r, r.Text)
}
