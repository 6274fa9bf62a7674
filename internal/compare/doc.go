// Package compare decides whether a run is slower than earlier ones: one run against one
// (Pair), or a run against a history (History). Both return a record.Comparison with one
// of four verdicts: slower, faster, same, inconclusive.
//
// It owns the rules for what may decide, how certain a change has to be, and which
// conditions differ. It is pure: nothing is read or run.
//
// How certain a change has to be:
//
//   - With repeats on both sides, the Mann-Whitney U test decides for each load, at 5 %
//     shared by all loads (Bonferroni): three loads take five repeats on each side.
//   - Without repeats, a change counts only if it is far beyond the noise between runs
//     and all loads agree on it. Anything between that and the threshold is
//     inconclusive.
//   - In a history of four runs or more, a load has to be outside the range of all earlier
//     runs, and further from their median than they lie apart.
//
// A measurement with a warning that it did not measure the drive alone never decides
// (Disregarded). Neither does the p99 of a single load, nor a p99 of few I/Os.
//
//	c := compare.Pair(baseline, now, 0.2)
package compare
