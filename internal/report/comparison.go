package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// tailIOs is how many I/Os both sides need before p95 and p99 may decide a
// comparison. The median of a few hundred I/Os hardly moves from run to run, but
// of 256 I/Os only two or three lie above p99, and a single pause of the drive
// (a refresh, a garbage collection) makes it several times slower. From 1 000 on
// ten or more lie above it (see Supported) and a step in them is the drive's.
const tailIOs = 1000

// Verdict is what a comparison comes to.
type Verdict string

// The verdicts.
const (
	Slower     Verdict = "slower"
	Faster     Verdict = "faster"
	Same       Verdict = "same"
	Incomplete Verdict = "incomplete" // nothing could be compared
)

// Comparison sets a run against its baseline.
type Comparison struct {
	Baseline RunReference `json:"baseline"`
	Now      RunReference `json:"now"`
	// Threshold is the largest slow-down that still passes as the same: at 0.1 a
	// ratio above 1.1 is slower, and one below 1/1.1 is faster.
	Threshold float64 `json:"threshold"`
	Verdict   Verdict `json:"verdict"`
	// Conditions are what differs between the two runs besides the figures.
	Conditions  []record.Change    `json:"conditions_changed,omitempty"`
	Warnings    []record.Warning   `json:"warnings,omitempty"`
	Steps       []StepComparison   `json:"steps,omitempty"`
	NotCompared []UnmatchedFigures `json:"not_compared,omitempty"`
}

// RunReference tells which run a side of a comparison is.
type RunReference struct {
	Suite     string    `json:"suite"`
	TargetID  string    `json:"target_id"`
	Target    string    `json:"target"`
	Node      string    `json:"node"`
	Started   time.Time `json:"started"`
	Generator string    `json:"generator"`
}

// StepComparison compares one direction of one step.
type StepComparison struct {
	Step        string                `json:"step"`
	Plan        string                `json:"plan"`
	Direction   string                `json:"direction"` // read, write or sync
	BaselineIOs int64                 `json:"baseline_ios"`
	NowIOs      int64                 `json:"now_ios"`
	Statistics  []StatisticComparison `json:"statistics"`
	// Warnings are those that either run attached to the step.
	Warnings []record.Warning `json:"warnings,omitempty"`
}

// StatisticComparison compares one statistic; the values are in its unit.
type StatisticComparison struct {
	Statistic record.Statistic `json:"statistic"`
	Baseline  float64          `json:"baseline"`
	Now       float64          `json:"now"`
	// Ratio is how many times slower than the baseline; above 1 is worse for
	// every statistic.
	Ratio   float64 `json:"ratio"`
	Verdict Verdict `json:"verdict"` // slower, faster or same
	// Counts reports whether Verdict takes part in that of the comparison; p95
	// and p99 of fewer than 1 000 I/Os do not.
	Counts bool `json:"counts"`
}

// UnmatchedFigures are figures that have nothing to be compared with.
type UnmatchedFigures struct {
	Step      string `json:"step"`
	Direction string `json:"direction,omitempty"` // empty: the whole step
	Reason    string `json:"reason"`
}

// Compare sets now against baseline, step by step as they are named. A step
// whose plan changed is not compared. Threshold is the largest slow-down that
// still passes as the same, 0.1 for a tenth.
//
// The comparison is slower when IOPS or p50 of any step is beyond the threshold,
// or p95 or p99 where both sides have at least 1 000 I/Os.
func Compare(baseline, now record.RunReport, threshold float64) Comparison {
	c := Comparison{
		Baseline: Reference(baseline), Now: Reference(now), Threshold: threshold,
		Conditions: baseline.Conditions.Changes(now.Conditions),
	}
	if !record.AlikeFiles(baseline.File, now.File) {
		c.Conditions = append(c.Conditions, record.Change{Condition: fileSize, From: BlockSize(baseline.File.Bytes), To: BlockSize(now.File.Bytes)})
	}
	before := stepsByName(baseline)
	for _, step := range now.Steps {
		earlier, found := before[step.Name]
		delete(before, step.Name)
		switch {
		case !found:
			c.leaveOut(step.Name, "", "only in this run")
		case earlier.Plan != step.Plan:
			c.leaveOut(step.Name, "", fmt.Sprintf("the plan changed from %q to %q", earlier.Plan, step.Plan))
		default:
			c.addStep(earlier, step)
		}
	}
	for _, step := range baseline.Steps {
		if _, left := before[step.Name]; left {
			c.leaveOut(step.Name, "", "only in the baseline")
		}
	}
	c.Verdict = c.verdict()
	c.Warnings = append(c.ownWarnings(), bothSides(theBaseline, thisRun, baseline.Warnings, now.Warnings)...)
	return c
}

// Slower reports whether the run is slower than its baseline by a figure that
// counts: the ground for exit code 3.
func (c Comparison) Slower() bool { return c.Verdict == Slower }

func (c *Comparison) leaveOut(step, direction, reason string) {
	c.NotCompared = append(c.NotCompared, UnmatchedFigures{Step: step, Direction: direction, Reason: reason})
}

func (c *Comparison) addStep(baseline, now record.Step) {
	before := map[string]record.Result{}
	for _, p := range parts(baseline) {
		before[p.direction] = p.result
	}
	warnings := bothSides(theBaseline, thisRun, baseline.Warnings, now.Warnings)
	for _, p := range parts(now) {
		earlier, found := before[p.direction]
		delete(before, p.direction)
		if !found {
			c.leaveOut(now.Name, p.direction, "only in this run")
			continue
		}
		statistics := compareResults(earlier, p.result, c.Threshold)
		if len(statistics) == 0 {
			c.leaveOut(now.Name, p.direction, "no figures on one side")
			continue
		}
		c.Steps = append(c.Steps, StepComparison{
			Step: now.Name, Plan: now.Plan, Direction: p.direction,
			BaselineIOs: earlier.IOs, NowIOs: p.result.IOs,
			Statistics: statistics, Warnings: warnings,
		})
		warnings = nil // once a step
	}
	for _, p := range parts(baseline) {
		if _, left := before[p.direction]; left {
			c.leaveOut(now.Name, p.direction, "only in the baseline")
		}
	}
}

func compareResults(before, now record.Result, threshold float64) []StatisticComparison {
	tail := min(before.Latency.Count(), now.Latency.Count()) >= tailIOs
	var all []StatisticComparison
	for _, s := range record.Statistics() {
		c := StatisticComparison{
			Statistic: s, Baseline: valueOf(s, before), Now: valueOf(s, now),
			Verdict: Same,
			Counts:  tail || s == record.IOPS || s == record.LatencyP50,
		}
		c.Ratio = s.Slower(c.Baseline, c.Now)
		if c.Ratio == 0 { // a side lacks it
			continue
		}
		if c.Ratio > 1+threshold {
			c.Verdict = Slower
		} else if c.Ratio < 1/(1+threshold) {
			c.Verdict = Faster
		}
		all = append(all, c)
	}
	return all
}

func valueOf(s record.Statistic, r record.Result) float64 {
	if s == record.IOPS {
		return r.IOPS
	}
	return s.Of(record.Measurement{Latency: r.Latency})
}

// verdict is slower if any figure that counts is, whatever else got faster.
func (c Comparison) verdict() Verdict {
	verdict := Incomplete
	for _, step := range c.Steps {
		for _, s := range step.Statistics {
			switch {
			case !s.Counts:
			case s.Verdict == Slower:
				return Slower
			case s.Verdict == Faster, verdict == Incomplete:
				verdict = s.Verdict
			}
		}
	}
	return verdict
}

// ownWarnings are what makes the comparison itself doubtful.
func (c Comparison) ownWarnings() []record.Warning {
	var all []record.Warning
	if c.Baseline.TargetID != c.Now.TargetID {
		all = append(all, record.Warning{Code: record.WarnConditionsDiffer, Text: fmt.Sprintf(
			"The baseline is of another target: %s, not %s.", c.Baseline.TargetID, c.Now.TargetID)})
	}
	if c.Baseline.Suite != c.Now.Suite {
		all = append(all, record.Warning{Code: record.WarnConditionsDiffer, Text: fmt.Sprintf(
			"The baseline is of another suite: %s, not %s.", c.Baseline.Suite, c.Now.Suite)})
	}
	if len(c.Conditions) > 0 {
		all = append(all, record.Warning{Code: record.WarnConditionsDiffer, Text: fmt.Sprintf(
			"%s changed since the baseline and may explain any difference: save a new baseline once the change is meant to stay.",
			plural(len(c.Conditions), "condition"))})
	}
	if short := c.shortSteps(); len(short) > 0 {
		all = append(all, record.Warning{Code: record.WarnFewSamples, Text: fmt.Sprintf(
			"Fewer than %s I/Os on one side of %s: p95 and p99 are shown but do not count; measure longer to compare tails.",
			Count(tailIOs), strings.Join(short, ", "))})
	}
	return all
}

func (c Comparison) shortSteps() []string {
	var short []string
	for _, step := range c.Steps {
		for _, s := range step.Statistics {
			if !s.Counts {
				short = append(short, step.Step+" "+step.Direction)
				break
			}
		}
	}
	return short
}

// Reference tells which run r is.
func Reference(r record.RunReport) RunReference {
	return RunReference{
		Suite: r.Suite, TargetID: r.TargetID, Target: r.Target,
		Node: r.Node, Started: r.Started, Generator: r.Generator,
	}
}

func stepsByName(r record.RunReport) map[string]record.Step {
	steps := map[string]record.Step{}
	for _, step := range r.Steps {
		steps[step.Name] = step
	}
	return steps
}

// How the sides of a comparison are called in front of their warnings.
const (
	theBaseline = "The baseline: "
	thisRun     = "This run: "
)

// bothSides joins the warnings of two runs, each saying whose it is unless both
// have it.
func bothSides(earlier, later string, baseline, now []record.Warning) []record.Warning {
	var all []record.Warning
	shared := map[record.Warning]bool{}
	for _, w := range baseline {
		shared[w] = false
	}
	for _, w := range now {
		if _, both := shared[w]; both {
			shared[w] = true
			all = append(all, w)
		} else {
			all = append(all, record.Warning{Code: w.Code, Text: later + w.Text})
		}
	}
	for _, w := range baseline {
		if !shared[w] {
			all = append(all, record.Warning{Code: w.Code, Text: earlier + w.Text})
		}
	}
	return all
}
