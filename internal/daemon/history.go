package daemon

import (
	"context"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/history"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// saveHistoryEvery limits what the plots lose in a crash. Plots are only looked at, so they are not worth a write
// every ten minutes.
const saveHistoryEvery = time.Hour

// History returns the figures of a target over the last month, or false when no watched target has this id. It only
// reads memory.
func (d *Daemon) History(id string) (*history.History, bool) {
	w, ok := d.current()[id]
	if !ok {
		return nil, false
	}
	return &w.history, true
}

// restoreHistory restores the stored history. Without one, the plots begin anew.
func (w *watch) restoreHistory(now time.Time) {
	w.historySaved.Store(now.UnixNano())
	kept, found, err := w.shared.state.History(w.spec.ID)
	if found && err == nil {
		if err = w.history.Restore(kept); err != nil {
			err = w.shared.state.SetHistoryAside(w.spec.ID, err)
		}
	}
	w.shared.state.report(historyOf(w.spec.ID), err)
	if err != nil {
		w.historySaved.Store(now.Add(firstSave - saveHistoryEvery).UnixNano())
	}
	if unreadable(err) {
		w.unread.Store(true)
	}
}

func (w *watch) saveHistory(ctx context.Context, timeout time.Duration) {
	if w.unread.Load() {
		return
	}
	now := time.Now()
	w.historySaved.Store(now.UnixNano())
	kept := w.history.State(now)
	err := w.shared.state.save(ctx, timeout, func(d state.Dir) error { return d.SaveHistory(w.spec.ID, kept) })
	w.shared.state.report(historyOf(w.spec.ID), err)
	if err != nil {
		w.historySaved.Store(now.Add(firstSave - saveHistoryEvery).UnixNano()) // retry soon
	}
}

// keepHistories saves the histories that are due until ctx ends. It includes targets that are not probed, because
// they have traffic as well.
func (d *Daemon) keepHistories(ctx context.Context) error {
	for schedule.Pause(ctx, firstSave) {
		for _, w := range d.current() {
			if w.historyIsDue(time.Now()) {
				w.saveHistory(ctx, saveTimeout)
			}
		}
	}
	return nil
}

// historyIsDue reports whether the history has to be saved.
func (w *watch) historyIsDue(now time.Time) bool {
	ago := now.Sub(time.Unix(0, w.historySaved.Load()))
	return ago >= saveHistoryEvery || ago < 0 // the clock was set back
}

// remember adds a good round to the history. A single round has too few I/Os beyond its p99, so the p99 of the window
// is used instead.
func (w *watch) remember(p *probeState, m record.Measurement) {
	if m.Outcome != record.OutcomeOK {
		return
	}
	add := func(f history.Figure, value float64) {
		w.history.Add(history.Key{Source: m.Probe, Figure: f}, m.Start, value, 1)
	}
	add(history.P50, record.LatencyP50.Of(m))
	add(history.IOPS, m.IOPS())
	var window *record.Window
	w.shared.judging.look(func() { window = p.tracker.Status(time.Now()).Window })
	if window == nil {
		return
	}
	if p99, ok := window.Percentile(99); ok && p99.Supported() {
		add(history.P99, p99.Latency.Seconds())
	}
}

// rememberTraffic adds the traffic of one interval to the history.
func (w *watch) rememberTraffic(t record.Traffic) {
	add := func(f history.Figure, value, weight float64) {
		w.history.Add(history.Key{Source: record.SourceTraffic, Figure: f}, t.Time.Add(-t.Length/2), value, weight)
	}
	seconds := t.Span.Seconds()
	add(history.Reads, t.Work.Reads, seconds)
	add(history.Writes, t.Work.Writes, seconds)
	add(history.ReadBytes, t.Work.ReadBytes, seconds)
	add(history.WrittenBytes, t.Work.WrittenBytes, seconds)
	if !t.CoarseTimes {
		add(history.ReadLatency, t.Read.MeanLatency.Seconds(), float64(t.Read.IOs))
		add(history.WriteLatency, t.Write.MeanLatency.Seconds(), float64(t.Write.IOs))
	}
}
