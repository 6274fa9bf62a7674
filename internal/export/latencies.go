package export

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	latencyName = "ssdprobe_probe_latency_seconds"
	latencyHelp = "Latency of every successful I/O, in seconds, as a classic and a native histogram. Disturbed and loaded rounds do not count. Rounds that timed out do once they have returned, so that an I/O that hung counts with its age."
)

// Latencies is a cumulative latency histogram per probe and target, classic and
// native at once. It is fed after each round and may be used by several
// goroutines. It grows with targets and probes only; Forget takes them out.
type Latencies struct {
	histograms *prometheus.HistogramVec

	mu      sync.Mutex
	byProbe map[latencyKey]latency
}

// latency is one of the histograms, and the device's name that it has as a label.
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
			// Few on purpose: each costs a series per device and probe. They
			// tell what a flash drive reads at once from what waited and from
			// what hung; the percentile gauges and the native histogram tell the rest.
			Buckets: []float64{250e-6, 1e-3, 10e-3},
			// Eight buckets per power of two. From 10 µs to 10 s those are 160;
			// more widely spread latencies halve the resolution, as a reset
			// would make the counters go down.
			NativeHistogramBucketFactor:    1.1,
			NativeHistogramMaxBucketNumber: 160,
		}, probeLabels()),
		byProbe: map[latencyKey]latency{},
	}
}

// Observe adds the I/Os of a round on a target, whose device has this name now. Rounds that did not measure the device add nothing, nor do good ones on a busy device; of a round with
// errors, and of one that timed out and returned, the I/Os that succeeded count. A device that came back under another
// name begins anew, and its series of before are dropped.
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

// of returns that of a probe on a target, a new one if there is none yet under this
// name of the device.
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

// drop forgets one histogram. The caller holds the lock.
func (l *Latencies) drop(key latencyKey) {
	l.histograms.DeleteLabelValues(l.byProbe[key].device, key.id, key.probe)
	delete(l.byProbe, key)
}

// collect sends the histogram of a probe, if there is one under the device's
// current name.
func (l *Latencies) collect(o owner, out chan<- prometheus.Metric) {
	l.mu.Lock()
	known, ok := l.byProbe[latencyKey{id: o.id, probe: o.probe}]
	l.mu.Unlock()
	if ok && known.device == o.device {
		out <- known
	}
}
