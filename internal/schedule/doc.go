// Package schedule decides when something is due, by pure functions of the clock, and waits for it.
//
// Every probe of every device has a phase of its own within its interval, made
// from the node, the device and the probe, so that devices of a node and nodes of
// a fleet spread over the interval, and a restart does not move them.
//
//	next := schedule.Next(now, 30*time.Second, schedule.Phase("node-7", id, "read-4k", 30*time.Second))
package schedule
