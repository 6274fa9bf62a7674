// Package recordtest provides a realistic record.Snapshot for tests of everything that shows one: the metrics, the
// HTTP API, the status page.
//
// It has no behaviour of its own and does not depend on the time of day. Every call returns the same values in fresh
// memory, so a test may modify what it gets.
//
//	s := recordtest.Snapshot()
//	s.Targets[0].Problem = "open /dev/nvme0n1: permission denied"
package recordtest
