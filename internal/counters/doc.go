// Package counters reads and parses what the kernel counts: I/O per block device
// (diskstats), interrupts per queue and CPU, I/O pressure, the time the calling
// thread ran and waited, and what the cgroup of the process allows.
//
// It owns the formats of those files. Each has a parser that takes an io.Reader and a
// reader that takes a sysfs.FS. It keeps no state and computes no rates: the caller,
// who knows what happened in between, reads a counter twice and subtracts. What cannot
// be parsed is an error, never a zero.
//
//	disks, err := counters.ReadDisks(fs)
//	before, ok := disks.ByNumber("259:0")
package counters
