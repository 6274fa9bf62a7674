// Package iolatency measures the latency of each I/O that applications do on the watched devices, with eBPF
// programs in the kernel (bpf/iolatency.bpf.c). It causes no I/O.
//
// Start loads the programs, for which the process needs CAP_BPF and CAP_PERFMON. Everything after that goes
// through memory shared with the programs, and needs no capabilities.
//
// The I/O of this process is left out, and so is all I/O on a device during a run of ssdprobe. Latencies are
// counted in the buckets of Prometheus' native histograms.
//
//	t, err := iolatency.Start()
//	t.Follow(map[string]iolatency.Device{"259:0": {Requests: true}})
//	for _, h := range t.Of("259:0").Histograms { … }
package iolatency

//go:generate ../../scripts/compile-bpf.sh
