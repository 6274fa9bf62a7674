// Package drifttest makes streams of probe rounds, to judge and to test the comparison of package drift. It is known
// what happens in a stream.
//
// A stream has a kind, which is what happens to the drive, and a noise, which is what its host and its nature do all
// the time. The same seed gives the same rounds.
//
// A Scenario is the history of a whole node: drives under one host (Node, Site), a drive in a closed loop that is
// busier when it is slower (Reacting), or a node of a fleet with all of that (Fleet).
//
//	s := drifttest.Stream{Kind: "step20", Noise: "diurnal", Seed: 1, Days: 10}
//	for r := range s.Rounds() { … }
package drifttest
