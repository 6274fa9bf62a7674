package export

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Build says what is running.
type Build struct{ Version, Revision, GoVersion, Engine string }

// Collector is a prometheus.Collector of what a snapshot holds. Several goroutines may
// use it.
type Collector struct {
	snapshot  func() record.Snapshot
	latencies *Latencies
	node      []family[record.Snapshot]
	reports   []family[[]record.CollectorStatus]
	target    []family[record.TargetStatus]
	io        ioHistograms
	probe     []family[probeNow]

	controller []family[record.Controller]
	drive      []family[record.Controller]
}

// New returns a collector of what snapshot returns at the time of the scrape.
// snapshot must not wait for a device.
func New(snapshot func() record.Snapshot, latencies *Latencies, build Build) *Collector {
	return &Collector{
		snapshot:  snapshot,
		latencies: latencies,
		node:      described(slices.Concat(nodeFamilies(build), hostFamilies())),
		reports:   described(reportFamilies(), deviceLabels()...),
		target:    described(targetFamilies(), deviceLabels()...),
		probe:     described(probeFamilies(), probeLabels()...),
		io:        newIOHistograms(),

		controller: described(controllerFamilies(), controllerLabels()...),
		drive:      described(driveFamilies(), deviceLabels()...),
	}
}

// deviceLabels lead the labels of every series of a target.
func deviceLabels() []string { return []string{"device", "id"} }

// probeLabels lead the labels of every series of a probe on a target.
func probeLabels() []string { return append(deviceLabels(), "probe") }

// Describe sends the descriptions of all families.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	describe(c.node, out)
	describe(c.reports, out)
	describe(c.target, out)
	describe(c.probe, out)
	describe(c.controller, out)
	describe(c.drive, out)
	c.latencies.histograms.Describe(out)
	out <- c.io.desc
}

// owner is whose series something is: of the node when empty, of a target, or of
// a probe on a target.
type owner struct{ device, id, probe string }

// Collect sends the metrics of one snapshot. Of targets and probes that have the same
// labels it sends the first, and the finding duplicate tells of the others: sent as they
// are, they would make Prometheus refuse everything.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	s := c.snapshot()
	collect(c.node, s, out)
	collect(c.reports, s.Collectors, out, "", "")
	seen := map[owner]bool{{}: true} // with the node
	first := func(o owner) bool {
		before := seen[o]
		seen[o] = true
		return !before
	}
	for _, t := range s.Targets {
		o := owner{device: labelValue(t.Device.Name), id: labelValue(t.ID)}
		if !first(o) {
			continue
		}
		collect(c.reports, t.Collectors, out, o.device, o.id)
		collect(c.target, t, out, o.device, o.id)
		c.io.collect(t, out, o.device, o.id)
		for _, p := range t.Probes {
			o.probe = labelValue(p.Probe.Name)
			if !first(o) {
				continue
			}
			collect(c.probe, newProbeNow(s, t, p), out, o.device, o.id, o.probe)
			c.latencies.collect(o, out)
		}
	}
	c.collectControllers(s, out)
}
