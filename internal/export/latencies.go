package export

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	latencyName = "ssdprobe_probe_latency_seconds"
	latencyHelp = "Latency of every I/O that succeeded in a round that measured the device; a classic and a native histogram."
)

// Latencies is a cumulative latency histogram per probe and target, classic and
// native at once. It is fed after each round and may be used by several
// goroutines. It grows with targets and probes only; Forget takes them out.
type Latencies struct {
	histograms *prometheus.HistogramVec

	mu sync.Mutex
	// devices holds the device's name that each histogram has as a label.
	devices map[latencyKey]string
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
			// tell a good flash drive from a slow one and from a sick one; the
			// percentile gauges and the native histogram tell the rest.
			Buckets: []float64{50e-6, 100e-6, 250e-6, 1e-3, 10e-3, 100e-3},
			// Eight buckets per power of two. From 10 µs to 10 s those are 160;
			// more widely spread latencies halve the resolution, as a reset
			// would make the counters go down.
			NativeHistogramBucketFactor:    1.1,
			NativeHistogramMaxBucketNumber: 160,
		}, probeLabels()),
		devices: map[latencyKey]string{},
	}
}

// Observe adds the I/Os of a round on a target, whose device has this name of
// today. Rounds that did not measure the device add nothing; of a round with
// errors the I/Os that succeeded count. A device that came back under another
// name begins anew, and its series of before are dropped.
func (l *Latencies) Observe(device string, m record.Measurement) {
	if len(m.Latency) == 0 || m.Outcome != record.OutcomeOK && m.Outcome != record.OutcomeError {
		return
	}
	histogram := l.histogram(labelValue(device), latencyKey{id: labelValue(m.Device), probe: labelValue(m.Probe)})
	for _, bin := range m.Latency {
		seconds := bin.Latency.Seconds()
		for range bin.Count {
			histogram.Observe(seconds)
		}
	}
}

// Forget drops all histograms of the target with this id.
func (l *Latencies) Forget(id string) {
	id = labelValue(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.devices {
		if key.id == id {
			l.drop(key)
		}
	}
}

// histogram returns that of a probe on a target, a new one if there is none yet
// under this name of the device.
func (l *Latencies) histogram(device string, key latencyKey) prometheus.Observer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, ok := l.devices[key]; ok && before != device {
		l.drop(key)
	}
	l.devices[key] = device
	return l.histograms.WithLabelValues(device, key.id, key.probe)
}

// drop forgets one histogram. The caller holds the lock.
func (l *Latencies) drop(key latencyKey) {
	l.histograms.DeleteLabelValues(l.devices[key], key.id, key.probe)
	delete(l.devices, key)
}

// collect sends the histogram of a probe, if there is one under the device's
// name of today.
func (l *Latencies) collect(o owner, out func(prometheus.Metric)) {
	if histogram, ok := l.current(o); ok {
		out(histogram)
	}
}

func (l *Latencies) current(o owner) (prometheus.Metric, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if device, ok := l.devices[latencyKey{id: o.id, probe: o.probe}]; !ok || device != o.device {
		return nil, false
	}
	histogram, ok := l.histograms.WithLabelValues(o.device, o.id, o.probe).(prometheus.Metric)
	return histogram, ok
}
