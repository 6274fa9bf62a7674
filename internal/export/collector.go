package export

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Build says what is running.
type Build struct{ Version, Revision, GoVersion string }

// Collector is a prometheus.Collector of what a snapshot holds. All its metrics
// are made anew in each scrape.
type Collector struct {
	snapshot  func() record.Snapshot
	latencies *Latencies
	node      []family[record.Snapshot]
	target    []family[record.TargetStatus]
	probe     []family[probeNow]
}

// New returns a collector of what snapshot returns at the time of the scrape.
// snapshot must not wait for a device.
func New(snapshot func() record.Snapshot, latencies *Latencies, build Build) *Collector {
	return &Collector{
		snapshot:  snapshot,
		latencies: latencies,
		node:      described(nodeFamilies(build)),
		target:    described(targetFamilies(), deviceLabels()...),
		probe:     described(probeFamilies(), probeLabels()...),
	}
}

// deviceLabels lead the labels of every series of a target.
func deviceLabels() []string { return []string{"device", "id"} }

// probeLabels lead the labels of every series of a probe on a target.
func probeLabels() []string { return append(deviceLabels(), "probe") }

// Describe sends the descriptions of all families.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	describe(c.node, out)
	describe(c.target, out)
	describe(c.probe, out)
	c.latencies.histograms.Describe(out)
}

// Collect sends the metrics of one snapshot. Targets and probes that cannot be
// told apart by their labels would make Prometheus refuse the scrape: the first
// of them is sent, the others are reported as errors of the scrape.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	s := c.snapshot()
	collect(c.node, s, out)
	seen := map[[2]string]bool{}
	for _, t := range s.Targets {
		device, id := labelValue(t.Device.Name), labelValue(t.ID)
		if key := [2]string{device, id}; seen[key] {
			out <- c.clash(fmt.Errorf("two targets on device %q have the id %q", device, id))
			continue
		} else {
			seen[key] = true
		}
		collect(c.target, t, out, device, id)
		c.collectProbes(s, t, out, device, id)
	}
}

func (c *Collector) collectProbes(s record.Snapshot, t record.TargetStatus, out chan<- prometheus.Metric, device, id string) {
	seen := map[string]bool{}
	for _, p := range t.Probes {
		name := labelValue(p.Probe.Name)
		if seen[name] {
			out <- c.clash(fmt.Errorf("target %q has two probes named %q", id, name))
			continue
		}
		seen[name] = true
		collect(c.probe, probeNow{ProbeStatus: p, now: s.Time}, out, device, id, name)
		if histogram, ok := c.latencies.metric(t.Device.Name, t.ID, p.Probe.Name); ok {
			out <- histogram
		}
	}
}

func (c *Collector) clash(err error) prometheus.Metric {
	return prometheus.NewInvalidMetric(c.target[0].desc, err)
}
