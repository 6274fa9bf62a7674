package export

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Build identifies the running program.
type Build struct{ Version, Revision, GoVersion, Engine string }

// Collector is a prometheus.Collector of the contents of a snapshot. It is safe for concurrent use.
type Collector struct {
	snapshot  func() record.Snapshot
	latencies *Latencies
	node      []family[record.Snapshot]
	reports   []family[[]record.CollectorStatus]
	target    []family[record.TargetStatus]
	counts    []family[record.TargetStatus] // of what the kernel counts of a device
	io        ioHistograms
	probe     []family[probeNow]

	controller []family[record.Controller]
	drive      []family[record.Controller]
}

// New returns a collector that calls snapshot during each scrape. snapshot must not wait for a device.
func New(snapshot func() record.Snapshot, latencies *Latencies, build Build) *Collector {
	return &Collector{
		snapshot:  snapshot,
		latencies: latencies,
		node:      described(slices.Concat(nodeFamilies(build), hostFamilies())),
		reports:   described(reportFamilies(), deviceLabels()...),
		target:    described(targetFamilies(), deviceLabels()...),
		counts:    described(slices.Concat(trafficFamilies(), ioFamilies()), deviceLabels()...),
		probe:     described(probeFamilies(), probeLabels()...),
		io:        newIOHistograms(),

		controller: described(controllerFamilies(), controllerLabels()...),
		drive:      described(driveFamilies(), deviceLabels()...),
	}
}

// deviceLabels returns the first labels of every series of a target.
func deviceLabels() []string { return []string{"device", "id"} }

// probeLabels returns the first labels of every series of a probe on a target.
func probeLabels() []string { return append(deviceLabels(), "probe") }

// Describe sends the descriptions of all families.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	describe(c.node, out)
	describe(c.reports, out)
	describe(c.target, out)
	describe(c.counts, out)
	describe(c.probe, out)
	describe(c.controller, out)
	describe(c.drive, out)
	c.latencies.histograms.Describe(out)
	out <- c.io.desc
}

// owner identifies what a series is about: the node when it is empty, a target, or a probe on a target.
type owner struct{ device, id, probe string }

// Collect sends the metrics of one snapshot. If several targets or probes have the same labels, it sends only the
// first; the finding duplicate reports the others. With all of them, Prometheus would reject the whole scrape.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	s := c.snapshot()
	collect(c.node, s, out)
	collect(c.reports, s.Collectors, out, "", "")
	seen := map[owner]bool{{}: true} // the node is always there
	first := func(o owner) bool {
		before := seen[o]
		seen[o] = true
		return !before
	}
	counts := counters(s.Targets)
	for _, t := range s.Targets {
		o := owner{device: labelValue(t.Device.Name), id: labelValue(t.ID)}
		if !first(o) {
			continue
		}
		collect(c.reports, t.Collectors, out, o.device, o.id)
		t.Runs = current(t.Runs)
		collect(c.target, t, out, o.device, o.id)
		if counts[t.Device.Number] == t.ID {
			collect(c.counts, t, out, o.device, o.id)
			c.io.collect(t, out, o.device, o.id)
		}
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
