// Package state is the schema of the state directory. It holds what is kept across restarts about each target and
// about the node, stored runs, saved baselines of runs, recordings, histories, and requests to the daemon.
//
// The types here only describe files. A daemon's memory and its API use other types, so that each can change
// without the others. The schema has a version: values of earlier versions are migrated when they are read
// (migrate.go), and values of later versions are refused and left unchanged.
//
//	dir, err := state.Open("/var/lib/ssdprobe")
//	targets, err := dir.Targets()
//
// The journal of device settings is kept here as well; package settings defines its form.
package state
