// Package drifttest makes streams of probe rounds in which it is known what
// happens, to judge and to test the comparison of package drift.
//
// A stream has a kind, what happens to the drive, and a noise, what its host and
// its nature do all the time. The same seed gives the same rounds.
//
// A Scenario is the history of a whole node: drives under one host (Node), a drive in a closed loop,
// busier when it is slower (Reacting), or the nodes of a fleet with all of that (Fleet).
//
//	s := drifttest.Stream{Kind: "step20", Noise: "diurnal", Seed: 1, Days: 10}
//	for r := range s.Rounds() { … }
package drifttest
