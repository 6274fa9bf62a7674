// Package recordtest holds a realistic record.Snapshot for the tests of whatever
// shows one: the metrics, the HTTP API, the status page.
//
// It owns no behaviour, and no test of its own depends on the time of day: every
// call returns the same values, and every value is fresh, so a test may change
// what it got.
//
//	s := recordtest.Snapshot()
//	s.Targets[0].Problem = "open /dev/nvme0n1: permission denied"
package recordtest
