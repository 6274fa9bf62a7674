package export

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// series is like the result of prometheus.NewConstMetric, but all series of a target share their first labels, which
// saves half of the allocations of a scrape. Without this, a scrape of 24 targets took longer than one of
// node_exporter.
type series struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	value  float64
	labels []*dto.LabelPair // sorted by name
}

// Desc implements prometheus.Metric.
func (s *series) Desc() *prometheus.Desc { return s.desc }

// Write implements prometheus.Metric.
func (s *series) Write(out *dto.Metric) error {
	out.Label = s.labels
	if s.kind == counter {
		out.Counter = &dto.Counter{Value: &s.value}
	} else {
		out.Gauge = &dto.Gauge{Value: &s.value}
	}
	return nil
}

// pairs returns label pairs for the values of one series.
func pairs(names, values []string) []*dto.LabelPair {
	made := make([]dto.LabelPair, len(names))
	all := make([]*dto.LabelPair, len(names))
	for i := range names {
		made[i].Name, made[i].Value = &names[i], &values[i]
		all[i] = &made[i]
	}
	return all
}

// labelled returns the leading and own labels of a series, sorted by name.
func labelled(leading, own []*dto.LabelPair) []*dto.LabelPair {
	all := slices.Concat(leading, own)
	slices.SortFunc(all, func(a, b *dto.LabelPair) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return all
}
