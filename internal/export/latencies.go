package export

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	latencyName = "ssdprobe_probe_latency_seconds"
	latencyHelp = "Latency of every successful I/O, in seconds, as a classic and a native histogram. Disturbed, unmapped and loaded rounds do not count. Rounds that " +
		"timed out count once they have returned, so an I/O that hung counts with the time it took."
)

// Latencies holds a cumulative latency histogram, both classic and native, per probe and target. It is updated after
// each round and is safe for concurrent use. It only grows with targets and probes; Forget removes them.
type Latencies struct {
	histograms *prometheus.HistogramVec

	mu      sync.Mutex
	byProbe map[latencyKey]latency
}

// latency is one histogram and the device name that it has as a label.
type latency struct {
	prometheus.Histogram
	device string
}

// latencyKey is a probe on a target, both as label values.
type latencyKey struct{ id, probe string }

// NewLatencies returns an empty set.
func NewLatencies() *Latencies {
	return &Latencies{
		histograms: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: latencyName,
			Help: latencyHelp,
			Unit: unit(latencyName),
			// Few buckets, because each costs a series per device and probe. They separate what a flash drive reads
			// at once from what waited and from what hung. The percentile gauges and the native histogram have the
			// details.
			Buckets: []float64{250e-6, 1e-3, 10e-3},
			// Eight buckets per power of two; from 10 µs to 10 s these are 160. A wider range of latencies halves the
			// resolution, because a reset would decrease the counters.
			NativeHistogramBucketFactor:    1.1,
			NativeHistogramMaxBucketNumber: 160,
		}, probeLabels()),
		byProbe: map[latencyKey]latency{},
	}
}

// Observe adds the I/Os of a round. device is the current name of the target's device. Rounds that did not measure
// the device are ignored, and so are good rounds on a busy device. Of a round with errors, or one that timed out and
// returned, the successful I/Os count. When a device returns under another name, its series begin anew and the
// previous ones are dropped.
func (l *Latencies) Observe(device string, m record.Measurement) {
	switch m.Outcome {
	case record.OutcomeOK, record.OutcomeError, record.OutcomeTimeout:
	case record.OutcomeBusy, record.OutcomeDisturbed, record.OutcomeUnmapped:
		return
	}
	if len(m.Latency) == 0 || m.Loaded && m.Outcome != record.OutcomeTimeout {
		return
	}
	histogram := l.of(labelValue(device), latencyKey{id: labelValue(m.Device), probe: labelValue(m.Probe)})
	for _, bin := range m.Latency {
		for range bin.Count {
			histogram.Observe(bin.Latency.Seconds())
		}
	}
}

// Forget drops all histograms of the target with this id.
func (l *Latencies) Forget(id string) {
	id = labelValue(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.byProbe {
		if key.id == id {
			l.drop(key)
		}
	}
}

// of returns the histogram of a probe on a target. It makes a new one if there is none under the current device name.
func (l *Latencies) of(device string, key latencyKey) latency {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.byProbe[key]
	if ok && known.device == device {
		return known
	}
	if ok {
		l.drop(key)
	}
	made := l.histograms.WithLabelValues(device, key.id, key.probe).(prometheus.Histogram) //nolint:forcetypeassert // as documented
	l.byProbe[key] = latency{Histogram: made, device: device}
	return l.byProbe[key]
}

// drop removes one histogram. The caller holds the lock.
func (l *Latencies) drop(key latencyKey) {
	l.histograms.DeleteLabelValues(l.byProbe[key].device, key.id, key.probe)
	delete(l.byProbe, key)
}

// collect sends the histogram of a probe, if there is one under the current device name.
func (l *Latencies) collect(o owner, out chan<- prometheus.Metric) {
	l.mu.Lock()
	known, ok := l.byProbe[latencyKey{id: o.id, probe: o.probe}]
	l.mu.Unlock()
	if ok && known.device == o.device {
		out <- known
	}
}
