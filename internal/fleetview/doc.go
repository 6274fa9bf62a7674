// Package fleetview shows a fleet through Prometheus: the verdict of each node on its drives, joined with where each
// drive stands among those of its model on all nodes.
//
// It asks for series of ssdprobe, and for those of the recording rules that ship with it. Nothing else knows the
// fleet: each daemon knows its own node.
package fleetview
