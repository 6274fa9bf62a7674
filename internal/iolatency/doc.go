// Package iolatency measures how long the I/O of applications takes on the watched devices, each
// I/O, by eBPF programs in the kernel (bpf/iolatency.bpf.c). It causes no I/O.
//
// Start loads the programs, for which the process needs CAP_BPF and CAP_PERFMON. All that follows
// goes through memory that is shared with them, and needs no rights.
//
// The I/O of this process is left out, and all I/O on a device during a run of ssdprobe. What a
// device serves of others is counted in the buckets of Prometheus' native histograms.
//
//	t, err := iolatency.Start()
//	t.Follow(map[string]iolatency.Device{"259:0": {Requests: true}})
//	for _, h := range t.Of("259:0").Histograms { … }
package iolatency

//go:generate ../../scripts/compile-bpf.sh
