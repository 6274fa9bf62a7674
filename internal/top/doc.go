// Package top shows live what all devices of this machine do: IOPS, throughput, mean latencies, I/O in flight
// and stalls from the kernel's counters, next to what the daemon says about each drive.
//
// It reads /proc/diskstats once a second, through package traffic, and does no I/O on a device. It asks the
// daemon every few seconds; without a daemon, only the verdicts, ratios and percentiles are missing.
//
// All I/O is counted, including that of our own probes. A View turns samples and keys into lines and is
// independent of a terminal; a Screen is the terminal.
//
//	source := top.NewSource(top.Options{Host: host, Node: "stor-07", Interval: time.Second})
//	err := source.Run(ctx, func(s top.Sample) { head, lines := top.Table(s.Devices, 80); … })
package top
