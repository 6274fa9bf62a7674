package drift

import (
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// window keeps the recent good measurements whole, so that percentiles of all
// their I/Os together can be shown. Nothing is decided by it.
type window struct {
	span time.Duration
	kept []kept
	all  *record.Window
}

// kept is what the window needs of a measurement.
type kept struct {
	at      time.Time
	took    time.Duration
	latency record.Histogram
}

func (w *window) clear() { w.kept, w.all = nil, nil }

// add puts a measurement in and drops those that have left the window.
func (w *window) add(m record.Measurement) {
	w.kept = append(w.kept, kept{m.Start, m.Duration, m.Latency})
	w.kept = slices.DeleteFunc(w.kept, func(old kept) bool {
		age := m.Start.Sub(old.at)
		// A negative age: the clock was set back, and old times mean nothing now.
		return age >= w.span || age < 0
	})
	histograms := make([]record.Histogram, len(w.kept))
	var took time.Duration
	var ios int64
	for i, k := range w.kept {
		histograms[i] = k.latency
		took += k.took
		ios += k.latency.Count()
	}
	w.all = &record.Window{
		Span: w.span, Rounds: len(w.kept), Latency: record.Merge(histograms...),
		IOPS: float64(ios) / took.Seconds(),
	}
}

// at returns the window at a time; nil when its last round has left it.
func (w *window) at(now time.Time) *record.Window {
	if len(w.kept) == 0 || now.Sub(w.kept[len(w.kept)-1].at) >= w.span {
		return nil
	}
	return w.all
}
