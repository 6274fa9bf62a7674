// Package schedule decides when something is due, by pure functions of the clock, and waits for it.
//
// Every probe of every device has its own rhythm, derived from the names of the node, the device
// and the probe. The devices of a node and the nodes of a fleet are thus spread over the interval,
// and a restart does not move them.
//
//	rhythm := schedule.NewRhythm("node-7", id, "read-4k", 30*time.Second)
//	next := rhythm.Next(now)
package schedule
