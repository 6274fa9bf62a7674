package export

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// kept is a metric that need not be written anew for each scrape.
type kept interface {
	prometheus.Metric
	// written returns what Write writes; nobody may change it.
	written() (*dto.Metric, error)
}

// series is one value of a family: what prometheus.NewConstMetric makes.
type series struct {
	desc   *prometheus.Desc
	value  float64
	metric dto.Metric
}

// scrape is where the series of one scrape go, and the memory that they are made in,
// which the next scrape uses again: a node with 256 drives has 25 000 of them.
type scrape struct {
	send func(kept)

	families map[*prometheus.Desc]*dto.MetricFamily
	series   slab[series]
	gauges   slab[dto.Gauge]
	counters slab[dto.Counter]
	labels   slab[dto.LabelPair]
	pairs    slab[*dto.LabelPair]
	sent     [][]string // by one family
}

// forget makes room of what was made, which nobody may use any more.
func (s *scrape) forget() {
	s.series.used, s.gauges.used, s.counters.used, s.labels.used, s.pairs.used = 0, 0, 0, 0, 0
	for _, family := range s.families {
		clear(family.Metric) // which keeps alive what it points to
		family.Metric = family.Metric[:0]
	}
	clear(s.sent[:cap(s.sent)])
}

// slab is memory for many of what is forgotten together.
type slab[T any] struct {
	all  []T
	used int
}

// take returns n of them, which may hold what they held before: whoever takes them sets
// every field that anybody sets.
func (s *slab[T]) take(n int) []T {
	const atFirst = 256
	if len(s.all)-s.used < n {
		// Who has some of the old ones keeps them alive.
		s.all, s.used = make([]T, max(n, atFirst, 2*len(s.all))), 0
	}
	s.used += n
	return s.all[s.used-n : s.used : s.used]
}

// newSeries returns a gauge or a counter with labels in the order of their names, as the
// registry wants them.
func (s *scrape) newSeries(desc *prometheus.Desc, kind prometheus.ValueType, value float64, labels []*dto.LabelPair) *series {
	made := &s.series.take(1)[0]
	made.desc, made.value = desc, value
	made.metric.Label, made.metric.Counter, made.metric.Gauge = labels, nil, nil
	if kind == counter {
		made.metric.Counter = &s.counters.take(1)[0]
		made.metric.Counter.Value = &made.value
	} else {
		made.metric.Gauge = &s.gauges.take(1)[0]
		made.metric.Gauge.Value = &made.value
	}
	return made
}

// Desc implements prometheus.Metric.
func (s *series) Desc() *prometheus.Desc { return s.desc }

// Write implements prometheus.Metric.
func (s *series) Write(out *dto.Metric) error {
	out.Label, out.Gauge, out.Counter = s.metric.Label, s.metric.Gauge, s.metric.Counter
	return nil
}

func (s *series) written() (*dto.Metric, error) { return &s.metric, nil }

// labelOrder is the order of a family's labels by their names.
type labelOrder struct {
	names []string // as values are given: first the leading ones
	from  []int    // the places in names, in order
}

func newLabelOrder(names []string) labelOrder {
	o := labelOrder{names: names, from: make([]int, len(names))}
	for i := range names {
		o.from[i] = i
	}
	slices.SortFunc(o.from, func(a, b int) int { return cmp.Compare(names[a], names[b]) })
	return o
}

// lead returns the labels that lead all series of several families, of which o is
// one: the series share them.
func lead(o labelOrder, values []string) []*dto.LabelPair {
	pairs := make([]*dto.LabelPair, len(values))
	for i := range values {
		pairs[i] = &dto.LabelPair{Name: &o.names[i], Value: &values[i]}
	}
	return pairs
}

// byName returns labels in the order of their names.
func byName(labels []*dto.LabelPair) []*dto.LabelPair {
	return slices.SortedFunc(slices.Values(labels), func(a, b *dto.LabelPair) int { return cmp.Compare(a.GetName(), b.GetName()) })
}

// labelled returns the labels of a series: those that lead it and its own, into whose
// values it points.
func (s *scrape) labelled(o labelOrder, leading []*dto.LabelPair, own []string) []*dto.LabelPair {
	made := s.labels.take(len(own))
	pairs := s.pairs.take(len(o.names))
	for i, from := range o.from {
		if from < len(leading) {
			pairs[i] = leading[from]
			continue
		}
		pair := &made[from-len(leading)]
		pair.Name, pair.Value = &o.names[from], &own[from-len(leading)]
		pairs[i] = pair
	}
	return pairs
}
