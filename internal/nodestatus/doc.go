// Package nodestatus tells Kubernetes what is known of the drives of a node: a condition of the Node, Events when a
// verdict begins and ends, and, only when asked for, a taint while a drive is severe.
//
// It owns the condition SlowDrive and the taint ssdprobe/slow-drive of one node, and changes nothing else of it. What
// the API server has is compared with what is wanted each time, so that nothing is queued: after an outage, what is
// true then is told. The condition has the words of `ssdprobe check`.
//
// At most so many nodes as are permitted have the taint at a time. Permits are Leases (package fleet) that belong to
// nodes, not to processes. One that is not renewed any more is free only once the node that it names has the taint no
// longer, or is gone. So a daemon that is killed while its node has the taint keeps the permit.
//
// Of two daemons that claim one node, the one that began last is heard. The other notices that somebody else writes
// the condition, says so, takes its taint off, and writes nothing until that ends.
//
//	n, err := nodestatus.Connect(nodestatus.Options{Node: "storage-1", Snapshot: daemon.Snapshot, …})
//	…
//	err = n.Run(ctx)
package nodestatus
