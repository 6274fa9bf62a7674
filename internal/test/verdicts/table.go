package verdicts

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Rate is a number of events in a time, with its 95 % upper bound.
type Rate struct {
	Events int
	Years  float64
}

// PerYear returns the observed rate.
func (r Rate) PerYear() float64 { return float64(r.Events) / r.Years }

// Upper returns the 95 % upper bound of the rate.
func (r Rate) Upper() float64 { return UpperBound(r.Events) / r.Years }

// String returns text like "3 in 200.1 years: 0.0150 a year, at most 0.0387 (95 %)".
func (r Rate) String() string {
	if r.Years == 0 {
		return "-"
	}
	return fmt.Sprintf("%d in %.1f years: %.4f a year, at most %.4f (95 %%)", r.Events, r.Years, r.PerYear(), r.Upper())
}

// FalseDrives returns how often a drive was blamed falsely with one of some severities; with any when none is named.
func (s *Score) FalseDrives(severities ...Severity) Rate {
	if len(severities) == 0 {
		severities = []Severity{Regressed, Degraded, Severe}
	}
	return Rate{s.blamed(severities...), s.Drives}
}

// FalseShare returns for which share of their time drives were blamed falsely.
func (s *Score) FalseShare() float64 {
	var stood float64
	for _, w := range s.Wrong {
		if w.Scope != drifttest.OfHost && w.Severity != Regressed {
			stood += years(w.Stood)
		}
	}
	return stood / max(1e-9, s.Drives)
}

// FalseHosts returns how often a host was blamed falsely with one of some severities; with any when none is named.
func (s *Score) FalseHosts(severities ...Severity) Rate {
	return Rate{s.Count(func(w Wrong) bool {
		return w.Scope == drifttest.OfHost && (len(severities) == 0 || slices.Contains(severities, w.Severity))
	}), s.Nodes}
}

// without returns the score without some of the false verdicts.
func (s *Score) without(these func(Wrong) bool) *Score {
	return &Score{Wrong: slices.DeleteFunc(slices.Clone(s.Wrong), these), Drives: s.Drives, Nodes: s.Nodes}
}

// WriteFleet writes the figures of a fleet: false verdicts by kind, delays by kind, and what would have paged a
// person.
func (s *Score) WriteFleet(out io.Writer, list bool) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "false verdicts about drives\t%s\n", s.FalseDrives(Degraded, Severe))
	fmt.Fprintf(w, "  severe\t%s\n", s.FalseDrives(Severe))
	fmt.Fprintf(w, "    that their users did not feel, either\t%s\n", s.without(func(x Wrong) bool { return x.Why == FeltMore }).FalseDrives(Severe))
	fmt.Fprintf(w, "    of drives that are no slower\t%s\n", s.without(func(x Wrong) bool { return x.Why == Overstated || x.Why == FeltMore }).FalseDrives(Severe))
	fmt.Fprintf(w, "  and statistics that regressed falsely\t%s\n", s.FalseDrives())
	fmt.Fprintf(w, "  and stood for\t%.2f %% of the time of drives\n", 100*s.FalseShare())
	fmt.Fprintf(w, "hosts blamed falsely\t%s\n", s.FalseHosts())
	fmt.Fprintf(w, "  as degraded or severe, which alerts\t%s\n", s.FalseHosts(Degraded, Severe))
	fmt.Fprintf(w, "  that were no slower\t%s\n", s.without(func(x Wrong) bool { return x.Why == HostNoisy }).FalseHosts())
	ofLasting := func(n int) float64 { return 100 * float64(n) / max(1, float64(s.Lasting)) }
	fmt.Fprintf(w, "of the time of drives, on nodes of one\t%.0f %%\n", 100*s.Alone/max(1e-9, s.Drives))
	fmt.Fprintf(w, "lasting 2 × or worse, blamed within 15 min\t%d of %d, %.1f %%\n", s.LastingBlamed, s.Lasting, ofLasting(s.LastingBlamed))
	fmt.Fprintf(w, "  as severe\t%d of %d, %.1f %%\n", s.LastingSevere, s.Lasting, ofLasting(s.LastingSevere))
	fmt.Fprintf(w, "  meanwhile shown as healthy\t%.2f %% of the time; unknown for %.2f %%\n", share(s.SlowShown, record.Healthy), share(s.SlowShown, record.Unjudged))
	fmt.Fprintf(w, "all drives are unknown for\t%.2f %% of the time\n", share(s.Shown, record.Unjudged))
	s.writeStood(w)
	fmt.Fprintln(w, "\nfalse verdicts\tseverity\twhy\tby\tnoise of the drive\tin the day after\tcount")
	for _, c := range s.causes() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\n", c.scope, c.severity, c.why, c.by, c.noise, c.after, c.count)
	}
	fmt.Fprintln(w, "\nnoise of the host\tfalse verdicts about drives\thosts blamed falsely")
	for _, noise := range slices.Sorted(maps.Keys(s.Quiet)) {
		of := Score{Drives: s.Quiet[noise].Drives, Nodes: s.Quiet[noise].Nodes}
		for _, x := range s.Wrong {
			if x.HostNoise == noise {
				of.Wrong = append(of.Wrong, x)
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", noise, of.FalseDrives(Degraded, Severe), of.FalseHosts())
	}
	fmt.Fprintln(w, "\nwhat happened\tfound\tmedian\t9 of 10\tworst\ttold as a batch")
	kinds := map[string]bool{}
	for k := range s.Found {
		kinds[k.Kind] = true
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		f := s.Of(kind)
		fmt.Fprintf(w, "%s\t%d of %d\t%s\t%s\t%s\t%d\n", kind, len(f.Delays), f.Episodes, Minutes(f.Quantile(0.5)), Minutes(f.Quantile(0.9)),
			Minutes(f.Quantile(1-1/float64(f.Episodes))), f.Batches)
	}
	if list {
		fmt.Fprintln(w, "\nfalse verdict\tat\tdrive\tscope\tratio\tstood\tby\twhy\tafter")
		for _, x := range slices.SortedFunc(slices.Values(s.Wrong), func(a, b Wrong) int { return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.At, b.At)) }) {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.2f\t%s\t%s\t%s\t%s\n", x.Scenario, drifttest.Start().Add(x.At).Format("Jan 02 15:04"), x.Drive, string(x.Severity)+" "+string(x.Scope), x.Ratio, Minutes(x.Stood), x.by(), x.Why, x.After)
		}
		fmt.Fprintln(w, "\nlasting 2 × or worse, not severe within 15 min\tfrom\tdrive\twhat\tblamed after\tsevere after")
		for _, x := range slices.SortedFunc(slices.Values(s.Late), func(a, b Late) int { return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Onset, b.Onset)) }) {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", x.Scenario, drifttest.Start().Add(x.Onset).Format("Jan 02 15:04"), x.Drive, x.Kind, Minutes(x.Blamed), Minutes(x.Severe))
		}
	}
	return w.Flush()
}

// writeStood writes how many verdicts about drives stood for how long: what an alert would fire for that waits.
func (s *Score) writeStood(w io.Writer) {
	fmt.Fprintln(w, "\nwithout a break for\tfalse severe\tof those twice as slow for an hour\tfalse severe or degraded\tof those slower for a day")
	for _, d := range []time.Duration{0, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour} {
		short := func(stood time.Duration) bool { return stood < d }
		long := s.without(func(x Wrong) bool { return short(x.Stood) })
		of := func(stood []time.Duration) string {
			return fmt.Sprintf("%d of %d", len(slices.DeleteFunc(slices.Clone(stood), short)), len(stood))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", Minutes(d), long.FalseDrives(Severe), of(s.Stood), long.FalseDrives(Degraded, Severe), of(s.LongestStood))
	}
}

// cause is what false verdicts have in common.
type cause struct {
	scope            drifttest.Scope
	severity         Severity
	why              Reason
	by, noise, after string
	count            int
}

func (s *Score) causes() []cause {
	counts := map[cause]int{}
	for _, w := range s.Wrong {
		counts[cause{scope: w.Scope, severity: w.Severity, why: w.Why, by: w.by(), noise: w.Noise, after: w.After}]++
	}
	var list []cause
	for c, n := range counts {
		c.count = n
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b cause) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.by, b.by), cmp.Compare(a.after, b.after), cmp.Compare(a.noise, b.noise), cmp.Compare(a.severity, b.severity), cmp.Compare(a.why, b.why), cmp.Compare(a.scope, b.scope))
	})
	return list
}

// by returns the source and the statistic of a finding.
func (f Finding) by() string {
	if f.Statistic == "" {
		return f.Source
	}
	return f.Source + " " + f.Statistic
}
