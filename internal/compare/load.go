package compare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// sync is the direction of fsync and fdatasync calls.
const sync record.Direction = "sync"

// tailIOs is how many I/Os a result needs before its p99 may decide. The median of a few
// hundred I/Os hardly moves from run to run. But of 256 I/Os only two or three lie above p99,
// and a single pause of the drive (a refresh, a garbage collection) makes p99 several times
// slower. From 1 000 I/Os on, ten or more lie above it.
const tailIOs = 1000

// impossible is larger than any figure of a drive. Ratios and medians of smaller values are
// finite.
const impossible = 1e100

// load is one direction of one load of a run, its repeats taken together.
type load struct {
	name, plan string
	direction  record.Direction
	// results holds the results that may decide. When there are none, it holds all results that
	// can be true, and ignored is the code of the warning that disqualifies them.
	results []record.Result
	ignored string
	repeats []record.Step
}

// loads returns the loads that a run measured, in the order of its steps.
func loads(r record.RunReport) []load {
	var all []load
	for _, step := range r.Steps {
		ignored := disregarded(r, step)
		name := cmp.Or(step.Series, step.Name)
		for _, part := range []struct {
			direction record.Direction
			result    *record.Result
		}{{record.Read, step.Read}, {record.Write, step.Write}, {sync, step.Sync}} {
			if part.result == nil {
				continue
			}
			i := slices.IndexFunc(all, func(l load) bool { return l.name == name && l.direction == part.direction })
			if i < 0 {
				all = append(all, load{name: name, plan: step.Plan, direction: part.direction, ignored: ignored})
				i = len(all) - 1
			}
			if !step.Impossible() {
				all[i].add(*part.result, ignored)
			}
			all[i].repeats = append(all[i].repeats, step)
		}
	}
	return all
}

// add adds a result. A result that may decide replaces those that may not, and they are not
// added beside one that may.
func (l *load) add(r record.Result, ignored string) {
	switch {
	case len(l.results) == 0, ignored == "" && l.ignored != "": // the first, or the first that may decide
		l.results, l.ignored = []record.Result{r}, ignored
	case ignored == "" || l.ignored != "":
		l.results = append(l.results, r)
	}
}

// warnings returns the warnings of all repeats, each once. One that only some repeats have names them: a disturbed
// repeat is left out of the figures.
func (l *load) warnings() []record.Warning {
	var all []record.Warning
	for _, step := range l.repeats {
		for _, w := range step.Warnings {
			if !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	for i, w := range all {
		var of []string
		for _, step := range l.repeats {
			if slices.Contains(step.Warnings, w) {
				of = append(of, step.Name)
			}
		}
		if len(of) < len(l.repeats) {
			all[i].Text = strings.Join(of, ", ") + ": " + w.Text
		}
	}
	return all
}

// unfit says why a load has no results; empty when it has some.
func (l *load) unfit() string {
	if len(l.results) > 0 {
		return ""
	}
	all := l.warnings()
	return all[slices.IndexFunc(all, func(w record.Warning) bool { return w.Code == record.WarnImpossible })].Text
}

// values returns the values of a statistic that are known and plausible for a drive.
func (l *load) values(s record.Statistic) []float64 {
	var all []float64
	for _, r := range l.results {
		if v := s.OfResult(r); v > 0 && v < impossible {
			all = append(all, v)
		}
	}
	return all
}

// unsure reports whether any result has too few I/Os for a statistic to decide: for its p99.
func (l *load) unsure(s record.Statistic) bool {
	return s == record.LatencyP99 && slices.ContainsFunc(l.results, func(r record.Result) bool { return r.Samples() < tailIOs })
}

// statistics returns the figures of a load that are compared: IOPS for the mean, p50 for the
// median, and p99 for the slowest I/Os.
func statistics() []record.Statistic {
	return []record.Statistic{record.IOPS, record.LatencyP50, record.LatencyP99}
}
