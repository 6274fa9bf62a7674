// Package nodestatus reports to Kubernetes what is known about the drives of a node: a condition of the Node,
// Events when a verdict begins and ends and, only if configured, a taint while a drive is severe.
//
// It owns the condition SlowDrive and the taint ssdprobe/slow-drive of one node, and changes nothing else on
// it. It compares the state in the API server with the wanted state each time, so nothing is queued: after an
// outage, it reports what is true then. The condition has the words of `ssdprobe check`.
//
// The number of nodes that have the taint at a time is limited by permits. Permits are Leases (package fleet)
// that belong to nodes, not to processes. A permit that is no longer renewed becomes free only once the node
// that it names is gone or no longer has the taint. So a daemon that is killed while its node has the taint
// keeps the permit.
//
// If two daemons claim the same node, the one that started last prevails. The other one notices that somebody
// else writes the condition, reports that, removes its taint, and writes nothing until the other one stops.
//
//	n, err := nodestatus.Connect(nodestatus.Options{Node: "storage-1", Snapshot: daemon.Snapshot, …})
//	…
//	err = n.Run(ctx)
package nodestatus
