// Package export turns a record.Snapshot into Prometheus metrics. It owns the names, help texts and labels of
// everything that ssdprobe exports: dashboards and alerts depend on them.
//
// It never causes I/O: a scrape reads one snapshot, and takes milliseconds even while every device hangs. It never
// makes up values: a missing result has no series, and is neither exported as zero nor as a stale value.
//
// Every series of a target has the labels device (the current kernel name) and id (the identity that survives
// re-enumeration). A probe file and the raw device below it have the same device and different ids.
//
//	latencies := export.NewLatencies()
//	registry, err := export.NewRegistry(daemon.Snapshot, latencies, build)
//	…
//	latencies.Observe("nvme0n1", measurement) // after each round
package export
