package export

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Section is a group of families with the same first labels, for docs/metrics.md.
type Section struct {
	Title    string
	Families []Family
}

// Family describes a family, without its values.
type Family struct {
	Name, Type string // Type is that of Prometheus: "gauge", "counter", "histogram"
	Labels     []string
	Help       string
}

// Sections returns all families, sorted by name within each section.
func Sections() []Section {
	c := New(func() record.Snapshot { return record.Snapshot{} }, NewLatencies(), Build{})
	latency := Family{latencyName, "histogram", probeLabels(), latencyHelp}
	all := []Section{
		{"The node", rows(c.node)},
		{"The node and each target", rows(c.reports, deviceLabels()...)},
		{"Each target", rows(c.target, deviceLabels()...)},
		{"Each device", append(rows(c.counts, deviceLabels()...), Family{ioName, "histogram", ioLabels(), ioHelp})},
		{"Each probe on a target", append(rows(c.probe, probeLabels()...), latency)},
		{"Each NVMe controller", rows(c.controller, controllerLabels()...)},
		{"Each SATA or SAS drive", rows(c.drive, deviceLabels()...)},
	}
	for _, s := range all {
		slices.SortFunc(s.Families, func(x, y Family) int { return cmp.Compare(x.Name, y.Name) })
	}
	return all
}

func rows[T any](families []family[T], leading ...string) []Family {
	var list []Family
	for _, f := range families {
		kind := "gauge"
		if f.kind == prometheus.CounterValue {
			kind = "counter"
		}
		list = append(list, Family{f.name, kind, slices.Concat(leading, f.labels), f.help})
	}
	return list
}
