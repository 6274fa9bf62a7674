// Command driftbench judges the detection of drift: false alarms in a
// device-year, what is found, and how late.
//
// usage: driftbench [-only PART,…] [-wrong] [-cpuprofile FILE] [-seed N] [-streams N] [-days D] [-kind KIND,…] [-noise NOISE,…] [-events DIR] [FOLDER…]
//
// Each FOLDER holds streams as CSV (see package replay) and a labels.json: an object of
// NAME -> {kind, noise, onset, end, duration}, in seconds since the start, onset
// null when nothing happens. Without a folder it makes streams itself, from the seed.
// With -events it also writes each stream's changes of state as NAME.jsonl.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/replay"
	"github.com/ssdprobe/ssdprobe/internal/test/verdicts"
)

func main() {
	var o options
	defaults := drift.Default()
	flag.Uint64Var(&o.seed, "seed", 1, "of the streams that are made")
	flag.IntVar(&o.streams, "streams", 1, "how many of each kind and noise")
	flag.Float64Var(&o.days, "days", 10, "length of a stream")
	flag.StringVar(&o.kinds, "kind", strings.Join(drifttest.Kinds(), ","), "what happens in the streams that are made")
	flag.StringVar(&o.noises, "noise", strings.Join(drifttest.Noises(), ","), "what goes on in them all the time")
	flag.StringVar(&o.events, "events", "", "folder to write changes of state to")
	flag.StringVar(&o.only, "only", "alone,reacting,nodes,roles,fast,traffic,cost", "parts, separated by commas")
	flag.BoolVar(&o.wrong, "wrong", false, "list the false verdicts")
	flag.Float64Var(&o.settings.SmallestEffect, "effect", defaults.SmallestEffect, "smallest effect of interest")
	flag.Float64Var(&o.settings.FalseAlarmsPerYear, "false-alarms", defaults.FalseAlarmsPerYear, "wanted at most in a year")
	flag.Float64Var(&o.settings.Threshold, "threshold", defaults.Threshold, "smallest shift judged before the baseline is final")
	profiled := flag.String("cpuprofile", "", "write a profile of the CPU to this file")
	flag.Parse()
	if err := verdicts.Profiled(*profiled, func() error { return run(context.Background(), os.Stdout, o, flag.Args()) }); err != nil {
		fmt.Fprintln(os.Stderr, "driftbench:", err)
		os.Exit(1)
	}
}

type options struct {
	seed     uint64
	streams  int
	days     float64
	kinds    string
	noises   string
	events   string
	only     string
	wrong    bool
	settings drift.Settings
}

func run(ctx context.Context, w io.Writer, o options, folders []string) error {
	var s score
	for _, folder := range folders {
		if err := recorded(ctx, folder, o, &s); err != nil {
			return err
		}
	}
	if len(folders) > 0 {
		return s.write(w)
	}
	if err := o.known(); err != nil {
		return err
	}
	var table []row
	if o.wants("alone") {
		if err := made(ctx, o, &s); err != nil {
			return err
		}
		if err := s.write(w); err != nil {
			return err
		}
	}
	for _, p := range parts() {
		if !o.wants(p.name) {
			continue
		}
		rows, err := p.rows(o)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		table = append(table, rows...)
	}
	return writeRows(w, table)
}

// wants reports whether a part is to run.
func (o options) wants(part string) bool {
	return slices.Contains(strings.Split(o.only, ","), part)
}

// known returns an error when a part that is asked for does not exist.
func (o options) known() error {
	names := []string{"alone"}
	for _, p := range parts() {
		names = append(names, p.name)
	}
	for _, name := range strings.Split(o.only, ",") {
		if !slices.Contains(names, name) {
			return fmt.Errorf("-only: %q is no part; want some of %s", name, strings.Join(names, ","))
		}
	}
	return nil
}

// made judges streams of every kind and noise.
func made(ctx context.Context, o options, s *score) error {
	for n := range o.streams {
		for _, kind := range strings.Split(o.kinds, ",") {
			for _, noise := range strings.Split(o.noises, ",") {
				stream := drifttest.Stream{Kind: kind, Noise: noise, Seed: o.seed + uint64(n)<<32, Days: o.days}
				if kind == "creep" {
					stream.Days *= 3
				}
				source := streamSource{}
				for r := range stream.Rounds() {
					source.rounds = append(source.rounds, replay.Sample{Round: r.Round, Conditions: r.Conditions})
				}
				name := fmt.Sprintf("%d-%s-%s", n, kind, noise)
				if err := judgeAlone(ctx, name, &source, stream.Label(), o, s); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

type streamSource struct{ rounds []replay.Sample }

func (s *streamSource) Next(context.Context) (replay.Sample, error) {
	if len(s.rounds) == 0 {
		return replay.Sample{}, io.EOF
	}
	r := s.rounds[0]
	s.rounds = s.rounds[1:]
	return r, nil
}

// recorded judges the streams of a folder.
func recorded(ctx context.Context, folder string, o options, s *score) error {
	data, err := os.ReadFile(filepath.Join(folder, "labels.json"))
	if err != nil {
		return err
	}
	var labels map[string]struct {
		Kind, Noise   string
		Onset         *float64
		End, Duration float64
	}
	if err := json.Unmarshal(data, &labels); err != nil {
		return fmt.Errorf("read labels of %s: %w", folder, err)
	}
	for name, l := range labels {
		seconds := func(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
		label := drifttest.Label{Kind: l.Kind, Noise: l.Noise, Onset: -1, End: seconds(l.End), Duration: seconds(l.Duration)}
		if l.Onset != nil {
			label.Onset = seconds(*l.Onset)
		}
		if err := recordedOne(ctx, folder, name, label, o, s); err != nil {
			return err
		}
	}
	return nil
}

func recordedOne(ctx context.Context, folder, name string, label drifttest.Label, o options, s *score) (err error) {
	file, err := os.Open(filepath.Join(folder, name+".csv"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	history, err := replay.NewReader(file.Name(), bufio.NewReaderSize(file, 1<<20))
	if err != nil {
		return err
	}
	return judgeAlone(ctx, name, history, label, o, s)
}

// source is what a replay reads.
type source interface {
	Next(ctx context.Context) (replay.Sample, error)
}

// firstAfter notes the first round after the end of what happens. Before that round nobody can know that it is over.
type firstAfter struct {
	source
	end, round time.Time
}

// Next returns the next sample of the source.
func (f *firstAfter) Next(ctx context.Context) (replay.Sample, error) {
	r, err := f.source.Next(ctx)
	if err == nil && f.round.IsZero() && !r.Time.Before(f.end) {
		f.round = r.Time
	}
	return r, err
}

func judgeAlone(ctx context.Context, name string, from source, label drifttest.Label, o options, s *score) error {
	after := &firstAfter{source: from, end: drifttest.Start().Add(label.End)}
	report, err := replay.Run(ctx, name, after, o.settings, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.add(label, after.round.Sub(drifttest.Start()), report.Lines)
	if o.events == "" {
		return nil
	}
	var out []byte
	for _, l := range report.Lines {
		line, err := json.Marshal(l)
		if err != nil {
			return err
		}
		out = append(slices.Concat(out, line), '\n')
	}
	return os.WriteFile(filepath.Join(o.events, name+".jsonl"), out, 0o644)
}
