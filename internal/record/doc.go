// Package record defines the plain values that all packages of ssdprobe share: devices, probes, measurements,
// conditions, baselines, drift, run reports and warnings.
//
// It defines names and units and nothing else: it imports no other package of the project, and it does not read,
// write or log anything. Every type can be marshalled to JSON; the types that are stored carry a version.
//
// A measurement is the outcome of one round of a probe:
//
//	m := record.Measurement{Probe: "read-4k", Outcome: record.OutcomeOK, Latency: h}
//	p99 := m.Latency.Quantile(0.99)
package record
