// Package schedule decides when something is due, by pure functions of the clock, and waits for it.
//
// Every probe of every device has a rhythm of its own, made from the names of the node,
// the device and the probe. So devices of a node and nodes of a fleet spread over the
// interval, and a restart does not move them.
//
//	rhythm := schedule.NewRhythm("node-7", id, "read-4k", 30*time.Second)
//	next := rhythm.Next(now)
package schedule
