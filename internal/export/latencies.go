package export

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Latencies is a cumulative latency histogram per probe and target, classic and
// native at once. It is fed after each round and may be used by several
// goroutines. It grows with targets and probes only; Forget takes them out.
type Latencies struct {
	histograms *prometheus.HistogramVec

	mu      sync.Mutex
	current map[latencyKey]latency
}

type latencyKey struct{ id, probe string }

// latency is the histogram of a probe under the device's name of today.
type latency struct {
	device    string
	histogram prometheus.Histogram
}

// NewLatencies returns an empty set.
func NewLatencies() *Latencies {
	return &Latencies{
		histograms: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ssdprobe_probe_latency_seconds",
			Help: "Latency of every I/O that succeeded in a round that measured the device; a classic and a native histogram.",
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
		current: map[latencyKey]latency{},
	}
}

// Observe adds the I/Os of a round on a target, whose device has this name of
// today. Rounds that did not measure the device add nothing; of a round with
// errors the I/Os that succeeded count.
func (l *Latencies) Observe(device string, m record.Measurement) {
	if len(m.Latency) == 0 || m.Outcome != record.OutcomeOK && m.Outcome != record.OutcomeError {
		return
	}
	histogram := l.histogram(device, m.Device, m.Probe)
	for _, bin := range m.Latency {
		seconds := bin.Latency.Seconds()
		for range bin.Count {
			histogram.Observe(seconds)
		}
	}
}

// Forget drops all histograms of the target with this id.
func (l *Latencies) Forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.current {
		if key.id == id {
			l.drop(key)
		}
	}
}

// histogram returns that of a probe on a target, a new one if there is none yet
// or if the device came back under another name.
func (l *Latencies) histogram(device, id, probe string) prometheus.Histogram {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := latencyKey{id: id, probe: probe}
	if known, ok := l.current[key]; ok {
		if known.device == device {
			return known.histogram
		}
		l.drop(key)
	}
	histogram, ok := l.histograms.WithLabelValues(labelValue(device), labelValue(id), labelValue(probe)).(prometheus.Histogram)
	_ = ok
	l.current[key] = latency{device: device, histogram: histogram}
	return histogram
}

func (l *Latencies) drop(key latencyKey) {
	delete(l.current, key)
}

// metric returns the histogram of a probe on a target, false if there is none.
func (l *Latencies) metric(device, id, probe string) (prometheus.Metric, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.current[latencyKey{id: id, probe: probe}]
	return known.histogram, ok && known.device == device
}
