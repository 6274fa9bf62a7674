// Package fleetview shows a fleet through Prometheus: the verdict of each node on its drives, joined with how each
// drive compares with those of its model on all nodes.
//
// It queries the series of ssdprobe and of the recording rules that ship with it. Only Prometheus knows the whole
// fleet: each daemon knows its own node.
package fleetview
