package daemon

import (
	"context"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/history"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/schedule"
	"github.com/ssdprobe/ssdprobe/internal/state"
)

// saveHistoryEvery bounds what a crash loses of the plots. They are for the eye: it is not worth a write every ten minutes.
const saveHistoryEvery = time.Hour

// History returns the figures of a target over the last month; false when no target under watch has this id. It reads
// memory only.
func (d *Daemon) History(id string) (*history.History, bool) {
	w, ok := d.current()[id]
	if !ok {
		return nil, false
	}
	return &w.history, true
}

// restoreHistory puts back what is stored. Without it the plots begin anew.
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
}

func (w *watch) saveHistory(ctx context.Context, timeout time.Duration) {
	now := time.Now()
	w.historySaved.Store(now.UnixNano())
	kept := w.history.State(now)
	err := w.shared.state.save(ctx, timeout, func(d state.Dir) error { return d.SaveHistory(w.spec.ID, kept) })
	w.shared.state.report(historyOf(w.spec.ID), err)
	if err != nil {
		w.historySaved.Store(now.Add(firstSave - saveHistoryEvery).UnixNano()) // so soon again
	}
}

// keepHistories saves what is due until ctx ends. Traffic is known of targets that are not probed, too.
func (d *Daemon) keepHistories(ctx context.Context) error {
	for schedule.Pause(ctx, firstSave) {
		for _, w := range d.current() {
			if time.Since(time.Unix(0, w.historySaved.Load())) >= saveHistoryEvery {
				w.saveHistory(ctx, saveTimeout)
			}
		}
	}
	return nil
}

// remember adds a good round to the history. Too few of its I/Os lie beyond its p99: that of the window stands for it.
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

// rememberTraffic adds what others did in half a minute to the history.
func (w *watch) rememberTraffic(t record.Traffic) {
	add := func(f history.Figure, value, weight float64) {
		w.history.Add(history.Key{Source: history.Traffic, Figure: f}, t.Time.Add(-t.Length/2), value, weight)
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
