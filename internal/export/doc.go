// Package export turns a record.Snapshot into Prometheus metrics. It owns the
// names, help texts and labels of everything that ssdprobe exports: they are a
// contract that dashboards and alerts are built on.
//
// It refuses to cause I/O: a scrape reads one snapshot and takes milliseconds
// while every device hangs. It refuses to invent: what has no result has no
// series, never a zero and never a stale value.
//
// Every series of a target carries device (the current kernel name) and id
// (the identity that survives re-enumeration). A probe file and the raw device
// below it have the same device and different ids.
//
//	latencies := export.NewLatencies()
//	registry, err := export.NewRegistry(daemon.Snapshot, latencies, build)
//	…
//	latencies.Observe("nvme0n1", measurement) // after each round
package export
