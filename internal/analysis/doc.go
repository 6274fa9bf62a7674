// Package analysis draws conclusions from the steps of a run: where the knee of a depth
// sweep lies, whether rounds have become steady, what each added device contributed, how
// far repeats lie apart, what effect a setting had, what the limit was, and how much of
// the data sheet was reached.
//
// It owns the rules and their thresholds. All of it is pure: the same steps give the same
// conclusions, and nothing is read or run. What cannot be concluded is left out, never
// guessed.
//
//	spreads := analysis.Spreads(report.Steps)
//	steady := analysis.Steadiness(report.Steps, analysis.PTS())
package analysis
