// Package compare decides whether a run is slower than earlier ones: one run against
// one (Pair), or a run against a history (History). Both give a record.Comparison with
// one of four verdicts: slower, faster, same, inconclusive.
//
// It owns what may decide, how certain a change has to be, and the conditions that
// differ. It is pure: nothing is read or run.
//
// How certain a change has to be:
//
//   - With repeats on both sides, the Mann-Whitney U test decides for each load, at 5 %
//     shared by all loads (Bonferroni): three loads take five repeats on each side.
//   - Without repeats, nothing but a change far beyond the noise between runs is known,
//     and only when all loads agree on it. Anything between that and the threshold is
//     inconclusive.
//   - In a history of four runs or more, a load has to be behind all earlier runs, and
//     further from their median than they lie apart.
//
// What was measured under a warning that says that it was not the drive alone never
// decides (Disregarded), nor does one p99 of one load, nor a p99 of few I/Os.
//
//	c := compare.Pair(baseline, now, 0.2)
package compare
