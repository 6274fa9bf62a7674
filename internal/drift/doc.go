// Package drift compares what a device does now with what it did: it learns a
// baseline from the first good rounds under one set of conditions (an epoch),
// keeps a window of recent rounds, and gives each statistic a state.
//
// It is pure: no clock, no files, no logging. What it knows can be taken out as a
// State and put back, and gives the same verdicts then. Rounds that measured
// something other than the device never reach a baseline or a window.
//
//	t := drift.NewTracker(drift.Settings{Window: 5 * time.Minute, BaselineRounds: 120, Threshold: 0.2})
//	for _, event := range t.Add(m) { … }
//	status := t.Status(now)
package drift
