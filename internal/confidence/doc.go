// Package confidence says how certain the figures of runs and steps are: their 95 % intervals, and whether chance
// alone explains a difference. It has each method once; what follows from it is decided by compare and analysis. It is
// pure.
//
// Two kinds of samples need two kinds of methods:
//
//   - Two runs may be days apart, and nothing is known of the distribution of what differs between them. Their repeats
//     are compared by rank (Chance, TimesSlower), which assumes none. Three values on each side are too few for it.
//   - The steps of one run alternate on one host, and most suites that compare steps measure each three times. Student's
//     methods suffice with two (Mean, Ratio, PairedRatio). They assume that the noise is normal; those of ratios assume it
//     of the logarithms, because the noise of rates and latencies is in proportion to their size.
//
// An interval or a probability is that of one comparison. Who draws one conclusion from several shares Alpha among
// them (Bonferroni), as compare does.
package confidence

// Alpha is the accepted probability that a comparison finds a change where there is none. Intervals contain the true
// value with probability 1 - Alpha.
const Alpha = 0.05
