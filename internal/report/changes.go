package report

import (
	"fmt"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/analysis"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Changes set runs against the first of them. Where Compare asks whether a run of
// today passes, this is for people who look for what changed: it knows the spread of
// repeats, and says first what differs in the conditions.
type Changes struct {
	Runs []ComparedRun `json:"runs"`
	// Threshold is the change below which a figure does not count as slower or
	// faster, however certain: 0.05 for a twentieth.
	Threshold float64 `json:"threshold"`
	// Conditions are what differs between any of the runs besides the figures.
	Conditions []Difference `json:"conditions_differing,omitempty"`
	// Against has each further run against the first one.
	Against []RunChanges `json:"against"`
}

// ComparedRun is one of the runs.
type ComparedRun struct {
	Name string `json:"name"` // of its file
	RunReference
	Warnings []record.Warning `json:"warnings,omitempty"`
}

// Difference is a condition that is not the same in all runs.
type Difference struct {
	Condition string   `json:"condition"`
	Values    []string `json:"values"` // by run; empty when not known
}

// RunChanges are what changed from the first run to another one.
type RunChanges struct {
	Run         int                `json:"run"` // index in Runs
	Verdict     Verdict            `json:"verdict"`
	Loads       []LoadChange       `json:"loads,omitempty"`
	NotCompared []UnmatchedFigures `json:"not_compared,omitempty"`
}

// LoadChange is one direction of one load, its repeats taken together.
type LoadChange struct {
	Load        string         `json:"load"`
	Plan        string         `json:"plan"`
	Direction   string         `json:"direction"` // read, write or sync
	FromRepeats int            `json:"from_repeats"`
	ToRepeats   int            `json:"to_repeats"`
	Figures     []FigureChange `json:"figures"`
	// Warnings are those that either run attached to the steps.
	Warnings []record.Warning `json:"warnings,omitempty"`
}

// FigureChange is the change of one figure: "IOPS", or in seconds "mean", "p50" and
// "p99". From and To are means over the repeats.
type FigureChange struct {
	Figure string  `json:"figure"`
	From   float64 `json:"from"`
	To     float64 `json:"to"`
	// Ratio is To over From, by the geometric means of the repeats; its interval is
	// known when both sides have two repeats or more.
	Ratio record.Interval `json:"ratio"`
	// Verdict is same when the interval holds 1, and without an interval when the
	// change is below the threshold: what people write as "~".
	Verdict Verdict `json:"verdict"`
	// Counts reports whether the verdict takes part in that of the run: the change is
	// beyond the threshold, and a tail has I/Os enough.
	Counts bool `json:"counts"`
}

// Contrast sets runs against the first of them, load by load as they are named. names
// say where each comes from.
func Contrast(names []string, runs []record.RunReport, threshold float64) Changes {
	c := Changes{Threshold: threshold, Conditions: differences(runs)}
	for i, r := range runs {
		c.Runs = append(c.Runs, ComparedRun{Name: names[i], RunReference: Reference(r), Warnings: r.Warnings})
		if i > 0 {
			c.Against = append(c.Against, runChanges(i, runs[0], r, threshold))
		}
	}
	return c
}

// Slower reports whether any run is slower than the first one by a figure that counts.
func (c Changes) Slower() bool {
	return slices.ContainsFunc(c.Against, func(r RunChanges) bool { return r.Verdict == Slower })
}

// differences lists what is not the same in all runs: conditions, and then what else
// may explain figures.
func differences(runs []record.RunReport) []Difference {
	rows := make([][]record.Condition, len(runs))
	for i, r := range runs {
		rows[i] = append(r.Conditions.List(),
			record.Condition{Name: "serial", Value: r.Device.Serial}, record.Condition{Name: "target", Value: runTarget(r)},
			record.Condition{Name: fileSize, Value: fileSizeText(runs[0].File, r.File)},
			record.Condition{Name: "node", Value: r.Node}, record.Condition{Name: "suite", Value: r.Suite},
			record.Condition{Name: engineOfRun, Value: r.Engine}, record.Condition{Name: "measured by", Value: r.Generator})
		for _, name := range settingNames(runs) {
			value, set := r.Settings[name]
			if !set {
				value = "default"
			}
			rows[i] = append(rows[i], record.Condition{Name: "parameter " + name, Value: value})
		}
	}
	var all []Difference
	for k := range rows[0] {
		d := Difference{Condition: rows[0][k].Name}
		same := true
		for _, row := range rows {
			d.Values = append(d.Values, row[k].Value)
			same = same && row[k].Value == rows[0][k].Value
		}
		told := d.Condition == engineOfRun && slices.ContainsFunc(all, func(d Difference) bool { return d.Condition == "engine" })
		if !same && !told {
			all = append(all, d)
		}
	}
	return all
}

// fileSize is what the size of the file measured is called among conditions.
const fileSize = "file size"

// fileSizeText is the size of a run's file, or that of the first run's when they are alike.
func fileSizeText(first, f *record.RunFile) string {
	switch {
	case f == nil:
		return ""
	case first != nil && record.AlikeFiles(first, f):
		return BlockSize(first.Bytes)
	default:
		return BlockSize(f.Bytes)
	}
}

// engineOfRun is the engine of a run whose conditions do not name it.
const engineOfRun = "engine of the run"

func settingNames(runs []record.RunReport) []string {
	names := map[string]bool{}
	for _, r := range runs {
		for name := range r.Settings {
			names[name] = true
		}
	}
	return sortedKeys(names)
}

// sample is the repeats of one direction of one load.
type sample struct {
	load, plan, direction string
	results               []record.Result
	warnings              []record.Warning
}

func samples(r record.RunReport) []sample {
	var all []sample
	for _, step := range r.Steps {
		load := step.Name
		if step.Series != "" {
			load = step.Series
		}
		for _, p := range parts(step) {
			i := slices.IndexFunc(all, func(s sample) bool { return s.load == load && s.direction == p.direction })
			if i < 0 {
				all = append(all, sample{load: load, plan: step.Plan, direction: p.direction})
				i = len(all) - 1
			}
			all[i].results = append(all[i].results, p.result)
			all[i].warnings = append(all[i].warnings, step.Warnings...)
		}
	}
	return all
}

func runChanges(index int, from, to record.RunReport, threshold float64) RunChanges {
	c := RunChanges{Run: index, Verdict: Incomplete}
	leaveOut := func(s sample, reason string) {
		c.NotCompared = append(c.NotCompared, UnmatchedFigures{Step: s.load, Direction: s.direction, Reason: reason})
	}
	before := samples(from)
	for _, s := range samples(to) {
		i := slices.IndexFunc(before, func(b sample) bool { return b.load == s.load && b.direction == s.direction })
		if i < 0 {
			leaveOut(s, "only in the later run")
			continue
		}
		b := before[i]
		before = slices.Delete(before, i, i+1)
		if b.plan != s.plan {
			leaveOut(s, fmt.Sprintf("the plan changed from %q to %q", b.plan, s.plan))
			continue
		}
		l := loadChange(b, s, threshold)
		if len(l.Figures) == 0 {
			leaveOut(s, "no figures on one side")
			continue
		}
		c.Loads = append(c.Loads, l)
	}
	for _, s := range before {
		leaveOut(s, "only in the first run")
	}
	for _, l := range c.Loads {
		for _, f := range l.Figures {
			switch {
			case f.Counts && f.Verdict == Slower:
				c.Verdict = Slower
			case c.Verdict == Slower:
			case f.Counts && f.Verdict == Faster:
				c.Verdict = Faster
			case c.Verdict == Incomplete:
				c.Verdict = Same
			}
		}
	}
	return c
}

func loadChange(from, to sample, threshold float64) LoadChange {
	l := LoadChange{
		Load: to.load, Plan: to.plan, Direction: to.direction, FromRepeats: len(from.results), ToRepeats: len(to.results),
		Warnings: bothSides("The first run: ", "The later run: ", once(from.warnings), once(to.warnings)),
	}
	latency := func(q float64) func(record.Result) float64 {
		return func(r record.Result) float64 { return r.Latency.Quantile(q).Seconds() }
	}
	for _, figure := range []struct {
		name string
		of   func(record.Result) float64
		tail bool
	}{
		{"IOPS", func(r record.Result) float64 { return r.IOPS }, false},
		{"mean", meanSeconds, false},
		{"p50", latency(0.5), false},
		{"p99", latency(0.99), true},
	} {
		a, b := values(from.results, figure.of), values(to.results, figure.of)
		ratio, ok := analysis.Ratio(a, b)
		if !ok {
			continue
		}
		f := FigureChange{Figure: figure.name, From: mean(a), To: mean(b), Ratio: ratio}
		f.Verdict, f.Counts = judge(ratio, figure.name == "IOPS", threshold)
		if figure.tail && min(fewest(from.results), fewest(to.results)) < tailIOs {
			f.Counts = false
		}
		l.Figures = append(l.Figures, f)
	}
	return l
}

// judge says what a ratio is, and whether it is beyond the threshold.
func judge(ratio record.Interval, moreIsBetter bool, threshold float64) (v Verdict, beyond bool) {
	beyond = ratio.Value > 1+threshold || ratio.Value < 1/(1+threshold)
	known := ratio.Lower != nil && ratio.Upper != nil
	switch {
	case known && !analysis.Certain(ratio), !known && !beyond:
		return Same, false
	case (ratio.Value > 1) == moreIsBetter:
		return Faster, beyond
	default:
		return Slower, beyond
	}
}

func meanSeconds(r record.Result) float64 {
	if r.Mean > 0 {
		return r.Mean.Seconds()
	}
	return r.Latency.Mean().Seconds()
}

func values(results []record.Result, of func(record.Result) float64) []float64 {
	all := make([]float64, len(results))
	for i, r := range results {
		all[i] = of(r)
	}
	return all
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}

// fewest is the number of I/Os of the shortest repeat.
func fewest(results []record.Result) int64 {
	least := results[0].Latency.Count()
	for _, r := range results {
		least = min(least, r.Latency.Count())
	}
	return least
}
