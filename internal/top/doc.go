// Package top shows what all devices of this machine do, live: IOPS, bytes, mean latencies, I/O in
// flight and stalls from what the kernel counts, beside what the daemon says of each drive.
//
// It reads /proc/diskstats once a second, through package traffic, and does no I/O to a device. The
// daemon is asked every few seconds; without one, only verdicts and ratios are missing.
//
// What is counted is all I/O, our own probes' included. A View turns samples and keys into lines and
// knows no terminal; a Screen is the terminal.
//
//	source := top.NewSource(top.Options{Host: host, Node: "stor-07", Interval: time.Second})
//	err := source.Run(ctx, func(s top.Sample) { lines := top.Table(s, 80); … })
package top
