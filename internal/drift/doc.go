// Package drift compares a device with its own past. It says when the device has become slower or faster, since when,
// by how much, and how certain that is.
//
// How it works, in the order of the data:
//
//   - Rounds become blocks of five minutes. A block has the median round of each statistic, as a
//     logarithm, so that a shift is a ratio (block.go, shift.go).
//   - Blocks make a baseline for each epoch, which is a set of conditions (epoch.go). The baseline
//     is early after Settings.BaselineRounds, provisional after two hours, and final after a
//     day; then it is frozen, so that a creep cannot hide in it (baseline.go).
//   - What the load of others explains is taken out of each block by a monotone
//     curve learned within the baseline (curve.go, extend.go).
//   - What is left is ranked among the baseline's own blocks: no distribution of noise is
//     assumed (noise.go). Ranks become scores, and scores add up in a CUSUM (cusum.go). It alarms
//     at a threshold that follows from the wanted rate of false alarms.
//   - Three CUSUMs per direction look for shifts of three sizes; one more looks for
//     slow rounds that have become common (verdict.go). A run of rounds that are far too
//     slow needs no CUSUM at all (stretch.go).
//   - A verdict has an onset, a ratio with its interval (estimate.go), and the changes of
//     conditions that came with it (change.go).
//
// The package is pure: no clock, no files, no logging. A tracker can be saved as a State, and gives the same verdicts
// after it was restored. Rounds that measured something other than the device never reach a baseline or a window.
//
//	t := drift.NewTracker(drift.Default())
//	for _, event := range t.Add(m) { … }
//	status := t.Status(now)
package drift
