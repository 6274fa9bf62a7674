package replay

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Probe is the name of every recorded probe, because a history does not contain the name.
const Probe = "probe"

// RunNode feeds the histories of a node's drives, in order of time, to the judge that the daemon
// uses. It passes each change to emit when it happens, or keeps it in the report when emit is
// nil. Errors: ErrEmpty, and those of the histories and of emit.
func RunNode(ctx context.Context, drives []Drive, settings drift.Settings, emit func(Line) error) (*Report, error) {
	n := &node{judge: judge.NewNode(settings), emit: emit}
	if emit == nil {
		n.emit = func(l Line) error {
			n.report.Lines = append(n.report.Lines, l)
			return nil
		}
	}
	for _, d := range drives {
		n.judge.AddDrive(d.Drive)
		n.drives = append(n.drives, &driveUnderWay{
			Drive: d, report: DriveReport{Drive: d.ID, Model: d.Model, Verdict: Line{Drive: d.ID, Scope: record.ScopeDrive, Verdict: record.Unjudged, State: unknown}},
		})
	}
	if err := n.run(ctx); err != nil {
		return nil, err
	}
	if n.now.IsZero() {
		return nil, ErrEmpty
	}
	return n.end(), nil
}

// node is a replay in progress.
type node struct {
	judge  *judge.Node
	drives []*driveUnderWay
	now    time.Time
	report Report
	emit   func(Line) error
}

// driveUnderWay is a drive with its next sample.
type driveUnderWay struct {
	Drive
	next            Sample
	over            bool
	probed, traffic bool // whether a round, or traffic, was fed to the judge
	report          DriveReport
}

// read reads the next sample.
func (d *driveUnderWay) read(ctx context.Context) error {
	next, err := d.History.Next(ctx)
	switch {
	case errors.Is(err, io.EOF):
		d.over = true
	case err != nil:
		return err
	}
	d.next = next
	return nil
}

func (n *node) run(ctx context.Context) error {
	for _, d := range n.drives {
		if err := d.read(ctx); err != nil {
			return err
		}
	}
	for {
		var first *driveUnderWay
		for _, d := range n.drives {
			if !d.over && (first == nil || d.next.Time.Before(first.next.Time)) {
				first = d
			}
		}
		if first == nil {
			return n.tell()
		}
		if err := n.advance(first.next.Time); err != nil {
			return err
		}
		n.take(first)
		if err := first.read(ctx); err != nil {
			return err
		}
	}
}

// tick is the longest time between two requests of the daemon for verdicts.
const tick = time.Minute

// advance moves the time forward to the next sample in steps of a tick, as the history may have
// a gap before it.
func (n *node) advance(to time.Time) error {
	if n.now.IsZero() {
		n.report.From = Seconds(to)
	} else if to.After(n.now) {
		if err := n.tell(); err != nil {
			return err
		}
		for n.now.Add(tick).Before(to) {
			n.now = n.now.Add(tick)
			if err := n.tell(); err != nil {
				return err
			}
		}
	}
	n.now = to
	n.report.To = Seconds(to)
	return nil
}

func (n *node) take(d *driveUnderWay) {
	s := d.next
	if s.Probed() {
		n.report.Rounds++
		d.probed = true
		n.judge.Round(d.ID, Probe, s.Round, s.Conditions)
	}
	if t := s.Traffic; t.Known() {
		d.traffic = true
		n.judge.Traffic(d.ID, judge.Sample{
			Time: s.Time, Work: s.Work, Utilisation: s.Utilisation, Read: t.ReadLatency, Write: t.WriteLatency, Flush: t.FlushLatency,
		}, s.Conditions)
	}
}

// tell emits the changes up to now, and adds new blocks to the plots.
func (n *node) tell() error {
	for _, e := range n.judge.Advance(n.now) {
		for _, l := range n.lines(e) {
			if err := n.emit(l); err != nil {
				return err
			}
		}
	}
	for _, d := range n.drives {
		if !d.probed {
			continue
		}
		t := n.judge.Tracker(d.ID, Probe)
		if b, ok := t.LastBlock(); ok && d.report.plot.isNew(b) {
			d.report.plot.add(b, t.Drift())
		}
	}
	return nil
}

// lines returns the lines for an event: one, or one for each drive or statistic that it
// concerns.
func (n *node) lines(e judge.Event) []Line {
	l := Line{
		Time: Seconds(e.Time), Drive: e.Drive, Scope: e.Scope, Verdict: e.Verdict, Source: e.Source, Statistic: e.Statistic, State: State(e.State),
		Witnesses: e.Witnesses, Cause: e.Cause,
	}.slower(e.Ratio, e.Since)
	if e.Drift != nil {
		l.Attribution = e.Drift.Attribution
	}
	if l.Verdict == "" {
		l.Verdict = verdictOf(e.State)
	}
	switch {
	case e.Drift != nil && e.Statistic == "":
		return n.learned(l, e)
	case e.Drive == "" && e.Scope != record.ScopeHost: // a batch: a line for each of its drives
		var list []Line
		for _, name := range e.Drives {
			l.Drive = name
			list = append(list, l)
		}
		return list
	case e.Drive == "":
		l.Drives = e.Drives
	case e.State == "": // the drive as a whole
		l.Source, l.Statistic, l.State = "", "", stateOf(e.Verdict)
		if v, ok := n.judge.Verdict(e.Drive); ok {
			l.Attribution = v.Attribution
		}
		if d := n.drive(e.Drive); d != nil {
			d.report.Verdict = l
		}
	}
	return []Line{l}
}

// learned returns a line for each statistic when a baseline is complete or the effect of a
// change of conditions is known. It returns none for other events that concern all statistics.
func (n *node) learned(l Line, e judge.Event) []Line {
	if !e.Drift.Learned && e.Drift.Effect == nil || e.Drive == "" {
		return nil
	}
	var list []Line
	for _, d := range n.judge.Tracker(e.Drive, e.Source).DriftAt(e.Time) {
		l.Statistic, l.State, l.Since = d.Statistic, State(d.State), Seconds(d.Since)
		l.Verdict = verdictOf(d.State)
		l.Ratio, l.Lower, l.Upper, l.Effect = 0, 0, 0, nil
		if effect := e.Drift.Effect; effect != nil {
			if r, ok := effect.Ratios[d.Statistic]; ok {
				l.Effect = &record.Ratio{Ratio: fourDecimals(r.Ratio), Lower: fourDecimals(r.Lower), Upper: fourDecimals(r.Upper)}
				l.Attribution = effect.Changes
			}
		}
		list = append(list, l)
	}
	return list
}

func (n *node) drive(id string) *driveUnderWay {
	i := slices.IndexFunc(n.drives, func(d *driveUnderWay) bool { return d.ID == id })
	if i < 0 {
		return nil
	}
	return n.drives[i]
}

// end completes and returns the report.
func (n *node) end() *Report {
	for _, d := range n.drives {
		if v, ok := n.judge.Verdict(d.ID); ok { // how slow it is, and by what, has changed since it was told
			d.report.Verdict = d.report.Verdict.slower(v.Ratio, v.Since)
			d.report.Verdict.Attribution = v.Attribution
		}
		explain := func(fed bool, source string) *drift.Explanation {
			if !fed {
				return nil
			}
			return new(n.judge.Explain(d.ID, source, n.now))
		}
		d.report.Now, d.report.Traffic = explain(d.probed, Probe), explain(d.traffic, judge.Traffic)
		n.report.Drives = append(n.report.Drives, d.report)
	}
	slices.SortStableFunc(n.report.Drives, func(a, b DriveReport) int {
		return cmp.Or(cmp.Compare(b.Verdict.Verdict.Badness(), a.Verdict.Verdict.Badness()), cmp.Compare(b.Verdict.Ratio, a.Verdict.Ratio), cmp.Compare(a.Drive, b.Drive))
	})
	return &n.report
}
