package export

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Build says what is running.
type Build struct{ Version, Revision, GoVersion string }

// Collector is a prometheus.Collector and a prometheus.Gatherer of what a snapshot
// holds. Its metrics are made in each scrape; histograms only after new I/Os. It may be used by several goroutines.
type Collector struct {
	snapshot  func() record.Snapshot
	latencies *Latencies
	node      []family[record.Snapshot]
	reports   []family[[]record.CollectorStatus]
	target    []family[record.TargetStatus]
	probe     []family[probeNow]

	controller []family[record.Controller]
	drive      []family[record.Controller]

	heads map[*prometheus.Desc]*head
}

// New returns a collector of what snapshot returns at the time of the scrape.
// snapshot must not wait for a device.
func New(snapshot func() record.Snapshot, latencies *Latencies, build Build) *Collector {
	c := &Collector{
		snapshot:  snapshot,
		latencies: latencies,
		node:      described(nodeFamilies(build)),
		reports:   described(reportFamilies(), deviceLabels()...),
		target:    described(targetFamilies(), deviceLabels()...),
		probe:     described(probeFamilies(), probeLabels()...),

		controller: described(controllerFamilies(), controllerLabels()...),
		drive:      described(driveFamilies(), deviceLabels()...),
	}
	c.heads = headsOf(c)
	return c
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
}

// owner is whose series something is: of the node when empty, of a target, or of
// a probe on a target.
type owner struct{ device, id, probe string }

// Collect sends the metrics of one snapshot.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	c.each(&scrape{send: func(m kept) { out <- m }})
}

// each sends every metric of one snapshot. Of targets and probes that cannot
// be told apart by their labels the first is sent, and the finding duplicate tells of the others:
// sent as they are, they would make Prometheus refuse everything.
func (c *Collector) each(to *scrape) {
	s := c.snapshot()
	collect(c.node, s, to)
	collect(c.reports, s.Collectors, to, "", "")
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
		collect(c.reports, t.Collectors, to, o.device, o.id)
		collect(c.target, t, to, o.device, o.id)
		for _, p := range t.Probes {
			o.probe = labelValue(p.Probe.Name)
			if !first(o) {
				continue
			}
			collect(c.probe, newProbeNow(s, p), to, o.device, o.id, o.probe)
			c.latencies.collect(o, to.send)
		}
	}
	c.collectControllers(s, to)
}
