// Package record is the vocabulary of ssdprobe as plain values: devices,
// probes, measurements, conditions, baselines, drift, run reports and warnings.
//
// It owns the words and their units and nothing else: no package of the project
// is imported here, nothing is read, written or logged. Every type can be
// marshalled to JSON; those that are stored carry a version.
//
// A measurement is the outcome of one round of a probe:
//
//	m := record.Measurement{Probe: "read-4k", Outcome: record.OutcomeOK, Latency: h}
//	p99 := m.Latency.Quantile(0.99)
package record
