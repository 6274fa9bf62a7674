package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Figure says what a series contains.
type Figure string

// The figures. Latencies are in seconds, the others are I/Os or bytes per second.
const (
	P50  Figure = "p50"
	P99  Figure = "p99"
	IOPS Figure = "iops"

	ReadLatency  Figure = "read_latency" // mean latency of others' reads
	WriteLatency Figure = "write_latency"
	Reads        Figure = "reads"
	Writes       Figure = "writes"
	ReadBytes    Figure = "read_bytes"
	WrittenBytes Figure = "written_bytes"
)

// Key identifies a series.
type Key struct {
	// Source is the name of a probe, or record.SourceTraffic.
	Source string `json:"source"`
	Figure Figure `json:"figure"`
}

// History holds all series of one drive. The zero value is empty. It is safe for concurrent use.
type History struct {
	mu     sync.Mutex
	series map[Key][]Series // one Series for each of Spans
}

// Add adds a value with a weight. Values without a positive weight and negative values are ignored.
func (h *History) Add(key Key, at time.Time, value, weight float64) {
	if value < 0 || weight <= 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	all, ok := h.series[key]
	if h.series == nil {
		h.series = map[Key][]Series{}
	}
	if !ok {
		all = make([]Series, len(Spans()))
		h.series[key] = all
	}
	for i, span := range Spans() {
		all[i].add(span, span.at(at), value, weight)
	}
}

// Keys returns the keys of all series, in order.
func (h *History) Keys() []Key {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.keys()
}

func (h *History) keys() []Key {
	return slices.SortedFunc(maps.Keys(h.series), func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Figure, b.Figure))
	})
}

// Points returns the means of a series over the span that ends at until, oldest first. A slot without a value has no
// point.
func (h *History) Points(key Key, span Span, until time.Time) []Point {
	h.mu.Lock()
	defer h.mu.Unlock()
	all, ok := h.series[key]
	if !ok {
		return nil
	}
	i := slices.Index(Spans(), span)
	return all[i].points(span, span.at(until)-int64(span.Slots)+1, span.at(until))
}

// State is the part of a history that is stored over a restart.
type State struct {
	Series []KeptSeries `json:"series"`
}

// KeptSeries is one series, with each of Spans.
type KeptSeries struct {
	Key
	Spans []Series `json:"spans"`
}

// State returns what to store. Series without a value in the longest span are left out, and forgotten.
func (h *History) State(now time.Time) State {
	h.mu.Lock()
	defer h.mu.Unlock()
	month := Month()
	oldest := month.at(now) - int64(month.Slots)
	maps.DeleteFunc(h.series, func(_ Key, all []Series) bool { return all[len(all)-1].Open < oldest })
	var s State
	for _, key := range h.keys() {
		kept := KeptSeries{Key: key, Spans: slices.Clone(h.series[key])}
		for i := range kept.Spans {
			kept.Spans[i].Means = slices.Clone(kept.Spans[i].Means)
		}
		s.Series = append(s.Series, kept)
	}
	return s
}

// Restore restores a stored state. It returns an error if a series is not valid; nothing is then restored.
func (h *History) Restore(s State) error {
	series := map[Key][]Series{}
	for _, kept := range s.Series {
		if len(kept.Spans) != len(Spans()) {
			return fmt.Errorf("history of %s %s: %d spans instead of %d", kept.Source, kept.Figure, len(kept.Spans), len(Spans()))
		}
		for i, span := range Spans() {
			if !kept.Spans[i].sound(span) {
				return fmt.Errorf("history of %s %s: the %s makes no sense", kept.Source, kept.Figure, span.Name)
			}
		}
		series[kept.Key] = kept.Spans
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.series = series
	return nil
}
