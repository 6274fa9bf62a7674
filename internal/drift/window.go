package drift

import (
	"cmp"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// mergedShare bounds how coarse the older past of a window is: pieces are merged while together they cover at most
// one in so many parts of their age. Six hours make about 30 pieces.
const mergedShare = 8

// wholeShare bounds how coarse a window is within its span: rounds are merged while together they cover at most one in so
// many parts of it. Of a window of minutes, each round is a piece; one of days would otherwise fill the memory.
const wholeShare = 64

// window keeps the recent good measurements, so that percentiles over all their I/Os can be shown. No verdict depends
// on it. Rounds that are older than span are kept only as long as a rare percentile needs them.
type window struct {
	span   time.Duration
	pieces []piece // oldest first
	all    *record.Window
}

// piece is one round, or several that were merged.
type piece struct {
	from, to time.Time // when its first and its last round began
	rounds   int
	took     time.Duration
	latency  record.Histogram
}

func (p piece) ios() int64 { return p.latency.Count() }

func (w *window) clear() { w.pieces, w.all = nil, nil }

// add adds a measurement, drops what no percentile needs any more, and merges what is old enough.
func (w *window) add(m record.Measurement) {
	// Pieces that lie ahead are from before the clock was set back.
	w.pieces = slices.DeleteFunc(w.pieces, func(p piece) bool { return p.to.After(m.Start) })
	w.pieces = append(w.pieces, piece{from: m.Start, to: m.Start, rounds: 1, took: m.Duration, latency: m.Latency})
	recent := slices.IndexFunc(w.pieces, func(p piece) bool { return m.Start.Sub(p.from) < w.span })
	w.all = w.summary(w.pieces[recent:])
	oldest := recent
	for _, q := range record.Percentiles() {
		p, first := w.percentile(q, recent)
		w.all.Percentiles = append(w.all.Percentiles, p)
		oldest = min(oldest, first)
	}
	w.merge(oldest, recent)
}

// summary returns the figures of the rounds within the span.
func (w *window) summary(pieces []piece) *record.Window {
	s := record.Window{Span: w.span}
	histograms := make([]record.Histogram, len(pieces))
	var took time.Duration
	for i, p := range pieces {
		histograms[i] = p.latency
		took += p.took
		s.Rounds += p.rounds
	}
	s.Latency = record.Merge(histograms...)
	s.IOPS = float64(s.Latency.Count()) / took.Seconds()
	return &s
}

// percentile returns a percentile of the rounds within the span, which begin at index recent. It adds as many earlier
// rounds as are needed to support it. first is the index of the oldest piece that it uses.
func (w *window) percentile(percent float64, recent int) (result record.WindowPercentile, first int) {
	q := percent / 100
	n, first := w.all.Latency.Count(), recent
	now := w.pieces[len(w.pieces)-1].to
	longest := max(record.LongestWindow, w.span)
	for first > 0 && !record.Supported(q, n) && now.Sub(w.pieces[first-1].from) < longest {
		first--
		n += w.pieces[first].ios()
	}
	result = record.WindowPercentile{Percentile: percent, Span: w.span, IOs: n}
	switch {
	case !record.Supported(q, n):
		result.Span = longest // there are no more I/Os to add
	case first < recent:
		result.Span = now.Sub(w.pieces[first].from)
	}
	if first == recent {
		result.Latency = w.all.Latency.Quantile(q)
	} else {
		result.Latency = highest(w.pieces[first:], n-record.Rank(q, n))
	}
	return result, first
}

// highest returns the latency that n I/Os of the pieces lie above. They are only few, so merging all of the pieces is
// not worth it.
func highest(pieces []piece, n int64) time.Duration {
	var top []record.Bin
	for _, p := range pieces {
		left := n
		for i := len(p.latency) - 1; i >= 0 && left >= 0; i-- {
			top = append(top, p.latency[i])
			left -= p.latency[i].Count
		}
	}
	slices.SortFunc(top, func(a, b record.Bin) int { return cmp.Compare(b.Latency, a.Latency) })
	for _, b := range top {
		if n -= b.Count; n < 0 {
			return b.Latency
		}
	}
	return 0
}

// merge drops the pieces before oldest. It merges pieces that are small: up to recent for their age, and from there on for
// the span.
func (w *window) merge(oldest, recent int) {
	now := w.pieces[len(w.pieces)-1].to
	older := merged(w.pieces[oldest:recent], func(from, to time.Time) bool { return mergedShare*to.Sub(from) <= now.Sub(from) })
	within := merged(w.pieces[recent:], func(from, to time.Time) bool { return to.Sub(from) <= w.span/wholeShare })
	w.pieces = slices.Concat(older, within)
}

// merged merges each piece with the one before it if both together, from their first to their last round, are small.
func merged(pieces []piece, small func(from, to time.Time) bool) []piece {
	var kept []piece
	for _, p := range pieces {
		if last := len(kept) - 1; last >= 0 && small(kept[last].from, p.to) {
			before := &kept[last]
			before.to, before.rounds, before.took = p.to, before.rounds+p.rounds, before.took+p.took
			before.latency = record.Merge(before.latency, p.latency)
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

// at returns the window at a time; nil when its last round has left it.
func (w *window) at(now time.Time) *record.Window {
	if len(w.pieces) == 0 || now.Sub(w.pieces[len(w.pieces)-1].to) >= w.span {
		return nil
	}
	return w.all
}
