// Package drift compares a device with its own past. It says when the device has become
// slower or faster, since when, by how much, and how certain that is.
//
// How it works, in the order of the data:
//
//   - Rounds become blocks of five minutes: per statistic the median round, as a
//     logarithm, so that a shift is a ratio (block.go, shift.go).
//   - Blocks make a baseline per set of conditions, an epoch (epoch.go). It is early
//     after Settings.BaselineRounds, provisional after two hours, and final after a
//     day; then it is frozen, so that a creep cannot hide in it (baseline.go).
//   - What the load of others explains is taken out of each block by a monotone
//     curve learned within the baseline (curve.go, extend.go).
//   - What is left is ranked among the baseline's own blocks: no law of noise is
//     assumed (noise.go). Ranks become scores, scores add up in a CUSUM
//     (cusum.go), and it alarms at a threshold that follows from the wanted rate of false alarms.
//   - Three CUSUMs per direction look for shifts of three sizes; one more looks for
//     slow rounds that have become common (verdict.go); and a run of rounds far too
//     slow needs no CUSUM at all (stretch.go).
//   - A verdict has an onset, a ratio with its interval (estimate.go), and the changes of
//     conditions that came with it (change.go).
//
// It is pure: no clock, no files, no logging. What it knows can be taken out as a
// State and put back, and gives the same verdicts then. Rounds that measured
// something other than the device never reach a baseline or a window.
//
//	t := drift.NewTracker(drift.Default())
//	for _, event := range t.Add(m) { … }
//	status := t.Status(now)
package drift
