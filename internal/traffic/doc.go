// Package traffic knows what applications do to the watched devices, and when a device stalls,
// without any I/O of its own: once a second it reads what the kernel counts of all of them.
//
// Of each device it yields a record.Traffic for every 30 s, the record.Work of others before a round,
// and every record.Stall: I/O was in flight for a second or longer, and none completed.
//
// Our own I/O is left out together with its time: Begin is told of each round of a probe, and what
// is counted until its end belongs to nobody. So the writes of a filesystem for our file are left
// out as well, and no latency is guessed. An interval with a run of ours says nothing of others.
//
// It judges no latency. A second in which this process or the machine stood still is nobody's.
//
//	s := traffic.New(traffic.Options{FS: fs, Devices: watched, Sample: feed, Stall: log})
//	work, end := s.Begin("259:0") // before a round
//	defer end()
package traffic
