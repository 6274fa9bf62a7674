package web

import (
	"cmp"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/history"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report/plot"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// rowView is the row of a target in the table.
type rowView struct {
	ID, Path, About string
	State           badge
	// Why is the evidence that something is wrong. Unjudged says why the drive, or a part of it, is not judged. One of them is empty.
	Why, Unjudged string
	// Slower is how many times slower the drive is, according to the witness with the worst ratio; empty when nothing
	// was compared.
	Slower string
	// Of is the probe that the figures belong to: the first one.
	Of             string
	P50, P99, IOPS cellView
	// Day plots the p50 over the last day.
	Day template.HTML
	// Traffic is the I/O that applications request from the drive.
	Traffic string
}

// cellView is one figure. Doubt says why it may be wrong.
type cellView struct{ Text, Doubt string }

// newRowViews returns the rows of all targets, the worst first.
func newRowViews(s record.Snapshot, histories func(id string) (*history.History, bool)) []rowView {
	var rows []rowView
	for _, h := range finding.HealthOf(s) {
		i := slices.IndexFunc(s.Targets, func(t record.TargetStatus) bool { return t.ID == h.TargetID })
		row := newRowView(s.Targets[i], h, s.Time)
		if past, ok := histories(h.TargetID); ok {
			row.Day = spark(past, row.Of, s.Time)
		}
		rows = append(rows, row)
	}
	return rows
}

func newRowView(t record.TargetStatus, h finding.Health, now time.Time) rowView {
	r := rowView{
		ID: t.ID, Path: t.Path, About: onDevice(t, about(t.Device)), State: newBadge(h.State),
		Traffic: trafficText(t.Traffic),
	}
	if why := whyNotHealthy(h.Judgement, now); h.State.Grade() == finding.Unknown {
		r.Unjudged = cmp.Or(why, h.Partly)
	} else {
		r.Why = why
	}
	if now := h.RatioNow().Ratio; now > 0 {
		r.Slower = units.Ratio(now)
	}
	if len(t.Probes) == 0 {
		return r
	}
	p := t.Probes[0]
	r.Of = p.Probe.Name
	if p.Window == nil {
		return r
	}
	cell := func(s record.Statistic) cellView {
		f := newFigureView(p, s, now)
		return cellView{f.Value, f.Doubt}
	}
	r.P50, r.P99, r.IOPS = cell(record.LatencyP50), cell(record.LatencyP99), cell(record.IOPS)
	return r
}

// noteView is what many rows may have in common, and the drives that it is about.
type noteView struct{ Text, Drives string }

// newNoteViews returns why drives are not judged, and why figures may be wrong.
func newNoteViews(rows []rowView) (notes []noteView) {
	var texts []string
	about := map[string][]string{}
	add := func(text, path string) {
		if _, known := about[text]; !known {
			texts = append(texts, text)
		}
		if !slices.Contains(about[text], path) {
			about[text] = append(about[text], path)
		}
	}
	for _, r := range rows {
		if r.Unjudged != "" {
			add(r.State.Text+", because "+r.Unjudged, r.Path)
		}
		for _, c := range []cellView{r.P50, r.P99, r.IOPS} {
			if c.Doubt != "" {
				add("⚠ "+c.Doubt, r.Path)
			}
		}
	}
	for _, text := range texts {
		drives := strings.Join(about[text], ", ")
		if n := len(about[text]); n > fewDrives {
			drives = units.Plural(n, "drive")
		}
		notes = append(notes, noteView{text, drives})
	}
	return notes
}

// fewDrives is how many drives a note names.
const fewDrives = 4

// trafficText returns text such as "1 200 r/s, 340 w/s, 45 MB/s"; empty when nothing is known.
func trafficText(t *record.TrafficStatus) string {
	if t == nil || t.Last == nil || t.Last.Unusable != "" {
		return ""
	}
	w := t.Last.Work
	if w.Reads+w.Writes == 0 {
		return "idle"
	}
	return known(rate(w.Reads, "r/s"), rate(w.Writes, "w/s"), keep(units.Bandwidth(w.ReadBytes+w.WrittenBytes)))
}

func rate(perSecond float64, what string) string {
	if perSecond == 0 {
		return ""
	}
	return keep(units.Number(perSecond) + " " + what)
}

// spark plots the p50 of a probe over the last day.
func spark(past *history.History, probe string, now time.Time) template.HTML {
	span := history.Day()
	points := past.Points(history.Key{Source: probe, Figure: history.P50}, span, now)
	line := plot.Spark{
		From: plot.Seconds(now.Add(-span.Length())), To: plot.Seconds(now), Gap: gapOf(span),
	}
	low, high := time.Duration(0), time.Duration(0)
	for i, p := range points {
		line.Points = append(line.Points, plot.Point{X: plot.Seconds(p.Time), Y: p.Mean})
		mean := time.Duration(p.Mean * float64(time.Second))
		if i == 0 {
			low, high = mean, mean
		}
		low, high = min(low, mean), max(high, mean)
	}
	line.Title = "p50 of the last day: " + units.Latency(low) + " to " + units.Latency(high)
	return line.SVG()
}
