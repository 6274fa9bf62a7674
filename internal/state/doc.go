// Package state is the schema of the state directory: what is kept over a restart of each
// target and of all of them together, stored runs, saved baselines of runs, and requests to the daemon.
//
// The forms here are those of files alone. What a daemon has in memory and what its API answers are
// other types, so that each can change without the others. The schema has a version: values of earlier versions are
// migrated when they are read (migrate.go), those of later ones are refused and left as they are.
//
//	dir, err := state.Open("/var/lib/ssdprobe")
//	targets, err := dir.Targets()
//
// The journal of device settings is kept here as well; its form is package settings' own.
package state
