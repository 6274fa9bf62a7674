package export

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Gather implements prometheus.Gatherer: what a registry would gather of the
// collector, without its checks of every series, which cost more than making
// them. That they would find nothing is what tests with such a registry show. The
// error joins the series that could not be made; all others are returned.
func (c *Collector) Gather() ([]*dto.MetricFamily, error) {
	families := make(map[*prometheus.Desc]*dto.MetricFamily, len(c.heads))
	var errs []error
	c.each(func(m prometheus.Metric) {
		made, err := written(m)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.Desc(), err))
			return
		}
		family, ok := families[m.Desc()]
		if !ok {
			head := c.heads[m.Desc()]
			family = &dto.MetricFamily{Name: &head.name, Help: &head.help, Type: &head.kind}
			if head.unit != "" {
				family.Unit = &head.unit
			}
			families[m.Desc()] = family
		}
		family.Metric = append(family.Metric, made)
	})
	all := make([]*dto.MetricFamily, 0, len(families))
	for _, family := range families {
		all = append(all, family)
	}
	sortByName(all)
	return all, errors.Join(errs...)
}

// written is what m writes; series hold it already.
func written(m prometheus.Metric) (*dto.Metric, error) {
	if s, ok := m.(*series); ok {
		return &s.metric, nil
	}
	made := new(dto.Metric)
	return made, m.Write(made)
}

func sortByName(families []*dto.MetricFamily) {
	slices.SortFunc(families, func(a, b *dto.MetricFamily) int { return cmp.Compare(a.GetName(), b.GetName()) })
}

// head is what stands before the series of a family.
type head struct {
	name, help, unit string
	kind             dto.MetricType
}

func addHeads[T any](heads map[*prometheus.Desc]*head, families []family[T]) {
	for _, f := range families {
		kind := dto.MetricType_GAUGE
		if f.kind == counter {
			kind = dto.MetricType_COUNTER
		}
		heads[f.desc] = &head{name: f.name, help: f.help, unit: unit(f.name), kind: kind}
	}
}

// headsOf are those of all families of a collector.
func headsOf(c *Collector) map[*prometheus.Desc]*head {
	heads := map[*prometheus.Desc]*head{}
	addHeads(heads, c.node)
	addHeads(heads, c.reports)
	addHeads(heads, c.target)
	addHeads(heads, c.probe)
	addHeads(heads, c.controller)
	addHeads(heads, c.drive)
	latency := make(chan *prometheus.Desc, 1) // a vector has one
	c.latencies.histograms.Describe(latency)
	heads[<-latency] = &head{name: latencyName, help: latencyHelp, unit: unit(latencyName), kind: dto.MetricType_HISTOGRAM}
	return heads
}
