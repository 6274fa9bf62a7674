// Package traffic measures what applications do to the watched devices and detects when a device stalls. It
// does no I/O of its own on them: once a second it reads the kernel's counters of all devices.
//
// For each device it yields a record.Traffic every 30 s, the record.Work of others before a round, and every
// record.Stall: I/O was in flight for a second or longer, and none completed.
//
// Our own I/O is left out together with its time: Begin marks the start of a probe round, and nothing counted
// until the end of the round is attributed to others. This also leaves out what a filesystem writes for our
// file, and no latency has to be guessed. An interval with a run of ours has no result for others.
//
// The package judges no latency. A second in which this process or the machine stood still is discarded.
//
//	s := traffic.New(traffic.Options{FS: fs, Devices: watched, Sample: feed, Stall: log})
//	work, end := s.Begin("259:0") // before a round
//	defer end()
package traffic
