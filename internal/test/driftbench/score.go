package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/replay"
)

const (
	year = 365.25 * 24 * time.Hour
	// sameAlarm is the time within which alarms of several statistics are one alarm.
	sameAlarm = 6 * time.Hour
	// afterEnd is how long after the end an alarm is still no false one.
	afterEnd = time.Hour

	regressed = replay.State(record.Regressed)
)

// score counts what is right and what is wrong.
type score struct {
	watched     time.Duration
	falseAlarms map[string]int // by kind and noise
	found       map[string]*found
}

// found is what became of the streams of a kind.
type found struct {
	streams int
	delays  []time.Duration
	onsets  []time.Duration // how far the estimates are off
	ends    []time.Duration // of transients: time from the first round after the end until they are resolved
	flaps   int             // how often a statistic was no longer regressed while the drift lasted
	missed  []string        // noises of the streams that were missed
}

// add judges the changes of state of one stream. A regression outside of what happens, or where nothing gets slower
// by itself, is a false alarm. after is the time of the first round after the end.
func (s *score) add(label drifttest.Label, after time.Duration, lines []replay.Line) {
	if s.found == nil {
		s.falseAlarms, s.found = map[string]int{}, map[string]*found{}
	}
	since := func(t replay.Seconds) time.Duration { return time.Time(t).Sub(drifttest.Start()) }
	quiet := label.Quiet()
	s.watched += label.Duration
	if !quiet {
		s.watched += min(label.Onset, label.Duration) - label.Duration
	}
	last := time.Duration(-1 << 62)
	var first *replay.Line
	for i, l := range lines {
		at := since(l.Time)
		switch {
		case l.State != regressed:
		case quiet || label.Onset < 0 || at < label.Onset || at > label.End+afterEnd:
			if at-last > sameAlarm {
				s.falseAlarms[label.Kind+"/"+label.Noise]++
			}
			last = at
		case first == nil && at <= label.End:
			first = &lines[i]
		}
	}
	if quiet {
		return
	}
	f := s.found[label.Kind]
	if f == nil {
		f = &found{}
		s.found[label.Kind] = f
	}
	f.streams++
	f.flaps += flaps(lines, label)
	if first == nil {
		f.missed = append(f.missed, label.Noise)
		return
	}
	f.delays = append(f.delays, since(first.Time)-label.Onset)
	f.onsets = append(f.onsets, (since(first.Since) - label.Onset).Abs())
	if label.Kind == "transient" {
		f.ends = append(f.ends, resolved(lines, label, after)...)
	}
}

// flaps counts how often a statistic stopped being regressed while what happens lasted.
func flaps(lines []replay.Line, label drifttest.Label) int {
	count, states := 0, map[record.Statistic]replay.State{}
	for _, l := range lines {
		if l.Statistic == "" {
			continue // this is a verdict about the drive
		}
		at := time.Time(l.Time).Sub(drifttest.Start())
		if at >= label.Onset && at < label.End && states[l.Statistic] == regressed {
			count++
		}
		states[l.Statistic] = l.State
	}
	return count
}

// resolved returns how long after the first round past the end nothing was regressed any more.
func resolved(lines []replay.Line, label drifttest.Label, after time.Duration) []time.Duration {
	states := map[record.Statistic]replay.State{}
	for _, l := range lines {
		states[l.Statistic] = l.State
		at := time.Time(l.Time).Sub(drifttest.Start())
		if at >= label.End && !slices.Contains(slices.Collect(maps.Values(states)), regressed) {
			return []time.Duration{max(0, at-after)}
		}
	}
	return nil
}

func (s *score) write(w io.Writer) error {
	var b bytes.Buffer
	total := 0
	for _, n := range s.falseAlarms {
		total += n
	}
	years := float64(s.watched) / float64(year)
	fmt.Fprintf(&b, "%d false alarms in %.2f device-years: %.2f a year", total, years, float64(total)/years)
	for _, where := range slices.Sorted(maps.Keys(s.falseAlarms)) {
		fmt.Fprintf(&b, "  %s %d", where, s.falseAlarms[where])
	}
	fmt.Fprintf(&b, "\n%-14s %-9s %-14s %-14s %-16s %-6s %s\n", "kind", "found", "median delay", "worst delay", "onset off by", "flaps", "missed with")
	for _, kind := range slices.Sorted(maps.Keys(s.found)) {
		f := s.found[kind]
		delay, worst := summary(f.delays)
		onset, _ := summary(f.onsets)
		fmt.Fprintf(&b, "%-14s %-9s %-14s %-14s %-16s %-6d %v", kind, fmt.Sprintf("%d/%d", len(f.delays), f.streams),
			minutes(delay), minutes(worst), minutes(onset), f.flaps, f.missed)
		if len(f.ends) > 0 {
			end, late := summary(f.ends)
			fmt.Fprintf(&b, "  over after %s, at worst %s", minutes(end), minutes(late))
		}
		fmt.Fprintln(&b)
	}
	_, err := b.WriteTo(w)
	return err
}

// summary returns the median and the largest of some values, 0 when there are none.
func summary(values []time.Duration) (middle, worst time.Duration) {
	if len(values) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2], sorted[len(sorted)-1]
}

func minutes(d time.Duration) string {
	if d >= 24*time.Hour {
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	}
	return fmt.Sprintf("%.0f min", d.Minutes())
}
