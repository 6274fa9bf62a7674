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
	return c.gather(new(scrape))
}

// gather is Gather in the memory of a scrape.
func (c *Collector) gather(in *scrape) ([]*dto.MetricFamily, error) {
	if in.families == nil {
		in.families = make(map[*prometheus.Desc]*dto.MetricFamily, len(c.heads))
	}
	in.forget()
	var errs []error
	in.send = func(m kept) {
		made, err := m.written()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.Desc(), err))
			return
		}
		family, ok := in.families[m.Desc()]
		if !ok {
			head := c.heads[m.Desc()]
			family = &dto.MetricFamily{Name: &head.name, Help: &head.help, Type: &head.kind}
			if head.unit != "" {
				family.Unit = &head.unit
			}
			in.families[m.Desc()] = family
		}
		family.Metric = append(family.Metric, made)
	}
	c.each(in)
	all := make([]*dto.MetricFamily, 0, len(in.families))
	for _, family := range in.families {
		if len(family.Metric) > 0 {
			all = append(all, family)
		}
	}
	sortByName(all)
	return all, errors.Join(errs...)
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
