package compare_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/compare"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

func TestOneRunAgainstOne(t *testing.T) {
	usual := quick(10_000, 50_000, 8000)
	const repeat = "repeat with --repeats 5, the earlier run too: "
	const again = "measure again once the cause is gone, because more repeats do not help: "
	busy := func(r record.RunReport, others float64) record.RunReport {
		r = warned(r, record.WarnOthersActive, 0, 1, 2)
		for i := range r.Steps {
			r.Steps[i].OthersRatio = others
		}
		return r
	}
	for name, c := range map[string]struct {
		before, after record.RunReport
		want          record.Verdict
		reason        string
	}{
		"equal":                        {usual, usual, record.Same, ""},
		"all within the threshold":     {usual, quick(8500, 43_000, 7000), record.Same, ""},
		"all at half speed":            {usual, quick(5000, 25_000, 4000), record.Slower, ""},
		"all twice as fast":            {usual, quick(20_000, 100_000, 16_000), record.Faster, ""},
		"all slower, within the noise": {usual, quick(7000, 35_000, 5600), record.Inconclusive, repeat + "3 of 3 loads changed by more than 20 %, which may be noise"},
		"one at a third":               {usual, quick(10_000, 50_000, 2600), record.Inconclusive, repeat + "1 of 3 loads changed by more than 20 %, which may be noise"},
		"they contradict each other":   {usual, quick(5000, 100_000, 4000), record.Inconclusive, repeat + "3 of 3 loads changed by more than 20 %, which may be noise"},
		"one of three disturbed": {
			usual, warned(quick(5000, 25_000, 5000), record.WarnDisturbed, 2), record.Slower, "",
		},
		"one of three disturbed, and as fast as before": {
			usual, warned(quick(5000, 25_000, 8000), record.WarnDisturbed, 2), record.Inconclusive, repeat + "2 of 3 loads changed by more than 20 %, which may be noise",
		},
		"two of three disturbed": {
			usual, warned(quick(5000, 25_000, 4000), record.WarnDisturbed, 0, 2), record.Inconclusive, repeat + "1 of 3 loads changed by more than 20 %, which may be noise",
		},
		"the earlier one disturbed": {
			warned(quick(10_000, 50_000, 8000), record.WarnDisturbed, 0, 1, 2), quick(5000, 25_000, 4000), record.Inconclusive,
			again + "3 of 3 loads cannot decide (disturbed)",
		},
		"others used the device much":   {usual, busy(quick(5000, 25_000, 4000), 0.5), record.Inconclusive, again + "3 of 3 loads cannot decide (others_active)"},
		"others used it, who knows":     {usual, busy(quick(5000, 25_000, 4000), 0), record.Inconclusive, again + "3 of 3 loads cannot decide (others_active)"},
		"others used it a little":       {usual, busy(quick(5000, 25_000, 4000), 0.05), record.Slower, ""},
		"a load alone at half speed":    {runOf(steps("a", 10_000)...), runOf(steps("a", 5000)...), record.Inconclusive, "repeat with --repeats 4, the earlier run too: 1 of 1 load changed by more than 20 %, which may be noise"},
		"a load alone at a tenth":       {runOf(steps("a", 10_000)...), runOf(steps("a", 1000)...), record.Slower, ""},
		"nothing now":                   {usual, runOf(), record.Inconclusive, "the runs have no load in common"},
		"both empty":                    {record.RunReport{}, record.RunReport{}, record.Inconclusive, "the runs have no load in common"},
		"no figures":                    {runOf(record.Step{Name: "a", Read: &record.Result{}}), runOf(record.Step{Name: "a", Read: &record.Result{}}), record.Inconclusive, "the runs have no load in common"},
		"latency of a rate that is set": {rated(100*us, 900*us), rated(400*us, 900*us), record.Slower, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := compare.Pair(c.before, c.after, 0.2)
			assert.Equal(t, c.want, got.Verdict)
			assert.Equal(t, c.reason, got.Reason)
		})
	}
}

// rated returns a run of two loads whose IOPS are set by the job, with the given latencies.
func rated(median, tail time.Duration) record.RunReport {
	return runOf(record.Step{Name: "a", Read: result(5000, 1000, median, tail)}, record.Step{Name: "b", Write: result(5000, 500, median, tail)})
}

// The p99 of one load, or of all loads without repeats, decides nothing.
func TestTailsOfOneRun(t *testing.T) {
	got := compare.Pair(rated(100*us, 200*us), rated(100*us, 900*us), 0.2)
	assert.Equal(t, record.Same, got.Verdict)
	for _, l := range got.Loads {
		assert.Equal(t, record.Same, l.Verdict)
		assert.Equal(t, record.LatencyP99, l.Figures[2].Statistic)
		assert.Equal(t, record.Inconclusive, l.Figures[2].Verdict)
	}
}

func TestRepeats(t *testing.T) {
	calm := []float64{10_000, 10_100, 9900, 10_050, 9950}
	times := func(factor float64, values []float64) []float64 {
		var all []float64
		for i, v := range values {
			all = append(all, v*factor*(1+float64(i)/10_000)) // no ties
		}
		return all
	}
	three := func(a, b, c []float64) record.RunReport {
		return runOf(append(append(steps("a", a...), steps("b", b...)...), steps("c", c...)...)...)
	}
	usual := three(calm, calm, calm)
	wide := []float64{5000, 15_000, 10_000, 8000, 12_000}
	for name, c := range map[string]struct {
		before, after record.RunReport
		want          record.Verdict
		reason        string
	}{
		"equal":                       {usual, three(times(1.001, calm), calm, calm), record.Same, ""},
		"certain and small":           {usual, three(times(0.9, calm), calm, calm), record.Same, ""},
		"one load, a quarter slower":  {usual, three(times(0.75, calm), calm, calm), record.Slower, ""},
		"one load, a third faster":    {usual, three(calm, calm, times(1.34, calm)), record.Faster, ""},
		"one slower, one faster":      {usual, three(calm, times(0.7, calm), times(1.34, calm)), record.Slower, ""},
		"large within a large spread": {three(wide, calm, calm), three(times(0.75, wide), calm, calm), record.Inconclusive, "repeat with --repeats 10, the earlier run too: 1 of 3 loads changed by more than 20 %, which may be noise"},
		"four are too few for three loads": {
			three(calm[:4], calm[:4], calm[:4]), three(times(0.75, calm[:4]), calm[:4], calm[:4]), record.Inconclusive,
			"repeat with --repeats 5, the earlier run too: 1 of 3 loads changed by more than 20 %, which may be noise",
		},
		"and enough for one": {runOf(steps("a", calm[:4]...)...), runOf(steps("a", times(0.75, calm[:4])...)...), record.Slower, ""},
		"repeats on one side": {
			usual, three([]float64{7500}, []float64{10_000}, []float64{10_000}), record.Inconclusive,
			"repeat with --repeats 5: 1 of 3 loads changed by more than 20 %, which may be noise",
		},
		"a disturbed repeat is left out": {usual, warned(three([]float64{10_000, 10_100, 9900, 10_050, 9950, 100}, calm, calm), record.WarnDisturbed, 5), record.Same, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := compare.Pair(c.before, c.after, 0.2)
			assert.Equal(t, c.want, got.Verdict)
			assert.Equal(t, c.reason, got.Reason)
		})
	}

	// Loads without figures take no share of the level, so the advised number of repeats suffices.
	void := []record.Step{{Name: "d", Read: &record.Result{}}, {Name: "e", Read: &record.Result{IOPS: math.Inf(1)}}}
	four := func(factor float64) record.RunReport {
		return runOf(append(steps("a", times(factor, calm[:4])...), void...)...)
	}
	assert.Equal(t, record.Slower, compare.Pair(four(1), four(0.75), 0.2).Verdict)
	assert.Len(t, compare.Pair(four(1), four(0.75), 0.2).NotCompared, 2)
	// Distant medians are not a certain change when the test says that they may be noise.
	noisy, noisier := runOf(steps("a", 1000, 9000, 10_000, 11_000)...), runOf(steps("a", 900, 2500, 2600, 9500)...)
	assert.Equal(t, record.Inconclusive, compare.Pair(noisy, noisier, 0.2).Verdict)

	got := compare.Pair(usual, three(times(0.75, calm), calm, calm), 0.2)
	iops := got.Loads[0].Figures[0]
	assert.Equal(t, [2]int{5, 5}, [2]int{got.Loads[0].Before, got.Loads[0].After})
	assert.InDelta(t, 1.333, iops.Slower.Value, 0.001)
	require.NotNil(t, iops.Slower.Lower)
	assert.InDelta(t, 1.32, *iops.Slower.Lower, 0.01)
	assert.InDelta(t, 1.35, *iops.Slower.Upper, 0.01)
	assert.InDelta(t, 0.0079, *iops.P, 0.0001)
	assert.InDelta(t, 9900, iops.Worst, 0)
}

// A certain p99 decides when two loads have it and there are enough I/Os.
func TestTailsOfRepeats(t *testing.T) {
	repeated := func(n int64, a, b time.Duration) record.RunReport {
		var all []record.Step
		for i := range time.Duration(5) {
			all = append(all,
				record.Step{Name: "a", Series: "a", Read: result(n, 10_000, 100*us+i, a+i)},
				record.Step{Name: "b", Series: "b", Read: result(n, 20_000, 100*us+i, b+i)})
		}
		return runOf(all...)
	}
	const usual, slow = 200 * us, 900 * us
	verdict := func(n int64, a, b time.Duration) record.Verdict {
		return compare.Pair(repeated(n, usual, usual), repeated(n, a, b), 0.2).Verdict
	}
	assert.Equal(t, record.Same, verdict(5000, slow, usual))
	assert.Equal(t, record.Slower, verdict(5000, slow, slow))
	assert.Equal(t, record.Same, verdict(500, slow, slow))
}

func TestPairTellsWhatItCompared(t *testing.T) {
	before, after := quick(10_000, 50_000, 8000), quick(10_000, 50_000, 8000)
	governor := record.Warning{Code: record.WarnGovernor, Text: "The governor saves power."}
	link := record.Warning{Code: record.WarnLinkBelowMaximum, Text: "The link is slow."}
	before.Warnings, after.Warnings = []record.Warning{governor, link}, []record.Warning{governor}
	before.Conditions.Scheduler, after.Conditions.Scheduler = "none", "mq-deadline"
	before.Settings, after.Settings = map[string]string{"repeats": "1"}, map[string]string{"time": "2s", "repeats": "1"}
	before.File, after.File = &record.RunFile{Bytes: 64 << 20}, &record.RunFile{Bytes: 16 << 20}
	before.Node = "storage-07"
	before.Steps[0].Sync, after.Steps[0].Write = &record.Result{}, &record.Result{}
	before.Steps[1].Plan = "8 KiB random read"
	before.Steps = append(before.Steps, steps("gone", 1)...)
	after = warned(after, record.WarnDisturbed, 2)

	got := compare.Pair(before, after, 0.2)
	assert.Equal(t, before.Reference(), got.Before)
	assert.Equal(t, after.Reference(), got.After)
	assert.Equal(t, []record.Change{
		{Condition: "scheduler", From: "none", To: "mq-deadline"}, {Condition: "file size", From: "64 MiB", To: "16 MiB"},
		{Condition: "node", From: "storage-07"}, {Condition: "parameter time", From: "default", To: "2s"},
	}, got.Conditions)
	assert.Equal(t, []record.Warning{
		{Code: record.WarnConditionsDiffer, Text: "4 conditions changed between the runs and may explain any difference."},
		governor, {Code: link.Code, Text: "The earlier run: The link is slow."},
	}, got.Warnings)
	assert.Equal(t, []record.UnmatchedLoad{
		{Load: "a", Direction: record.Write, Reason: "only in the later run"},
		{Load: "b", Direction: record.Read, Reason: `the plan changed from "8 KiB random read" to "4 KiB random read"`},
		{Load: "a", Direction: "sync", Reason: "only in the earlier run"},
		{Load: "gone", Direction: record.Read, Reason: "only in the earlier run"},
	}, got.NotCompared)
	require.Len(t, got.Loads, 2)
	c := got.Loads[1]
	assert.Equal(t, record.WarnDisturbed, c.Ignored)
	assert.Equal(t, []record.Warning{{Code: record.WarnDisturbed, Text: "The later run: disturbed."}}, c.Warnings)
	for _, f := range c.Figures {
		assert.Equal(t, record.Inconclusive, f.Verdict, "what is disturbed has no verdict")
	}
}

// A run on several targets is on all of them, not on the first alone.
func TestChangesOfFurtherTargets(t *testing.T) {
	on := func(path, serial, firmware string) record.RunTarget {
		return record.RunTarget{Path: path, Device: record.Device{Serial: serial}, Conditions: record.Conditions{Firmware: firmware}}
	}
	before, after := quick(10_000, 50_000, 8000), quick(10_000, 50_000, 8000)
	before.Targets = []record.RunTarget{on("/dev/nvme0n1", "S1", "A"), on("/dev/nvme1n1", "S2", "A"), on("/dev/nvme2n1", "S3", "A")}
	after.Targets = []record.RunTarget{on("/dev/nvme0n1", "S1", "A"), on("/dev/nvme1n1", "S9", "B"), on("/dev/nvme3n1", "S3", "A")}
	assert.Equal(t, []record.Change{
		{Condition: "firmware of /dev/nvme1n1", From: "A", To: "B"}, {Condition: "serial of /dev/nvme1n1", From: "S2", To: "S9"},
		{Condition: "target", From: "/dev/nvme2n1", To: "/dev/nvme3n1"},
	}, compare.Pair(before, after, 0.2).Conditions)
}

// The plan of a user's own job says little of what the file asks for.
func TestChangesOfTheJobFile(t *testing.T) {
	run := func(suite, job string) record.RunReport {
		r := quick(10_000, 50_000, 8000)
		r.Suite = suite
		for i := range r.Steps {
			r.Steps[i].JobFile = job
		}
		return r
	}
	const file = "[global]\nioengine=libaio\n\n[a]\nfilename=/dev/nvme0n1\n"
	changes := func(before, after record.RunReport) []record.Change {
		return compare.Pair(before, after, 0.2).Conditions
	}
	assert.Equal(t, []record.Change{{Condition: "job file", From: "size=1g", To: "size=2g, buffer_compress_percentage=50"}},
		changes(run("job-a", file+"size=1g\n"), run("job-a", file+"size=2g\nbuffer_compress_percentage=50\n")))
	assert.Empty(t, changes(run("job-a", file), run("job-a", strings.ReplaceAll(file, "nvme0n1", "nvme5n1"))), "the target is told by itself")
	assert.Empty(t, changes(run("quick", file+"size=1g\n"), run("quick", file+"size=2g\n")), "the jobs of a suite follow from its parameters")
}

// The warnings of the run that is named first come first. One that both have is told once.
func TestWarningsComeInTheOrderOfTheRuns(t *testing.T) {
	warning := func(code string) record.Warning { return record.Warning{Code: code, Text: code + "."} }
	before, after := quick(10_000, 50_000, 8000), quick(10_000, 50_000, 8000)
	before.Warnings = []record.Warning{warning("old"), warning("both")}
	after.Warnings = []record.Warning{warning("new"), warning("both")}
	assert.Equal(t, []record.Warning{
		{Code: "old", Text: "A: old."}, warning("both"), {Code: "new", Text: "B: new."},
	}, compare.Names{Before: "A", After: "B"}.Pair(before, after, 0.2).Warnings)
}

// Which repeat was disturbed is said, because its figures are left out. What all repeats have is said once.
func TestADisturbedRepeatIsNamed(t *testing.T) {
	host, waited := record.Warning{Code: "governor", Text: "It saves power."}, record.Warning{Code: record.WarnDisturbed, Text: "It waited for a CPU."}
	run := func(disturbed ...int) record.RunReport {
		r := runOf(steps("a", 10_000, 10_000, 10_000)...)
		for i := range r.Steps {
			r.Steps[i].Warnings = []record.Warning{host}
			if slices.Contains(disturbed, i) {
				r.Steps[i].Warnings = append(r.Steps[i].Warnings, waited)
			}
		}
		return r
	}
	l := compare.Pair(run(1), run(0, 2), 0.2).Loads[0]
	assert.Equal(t, []int{2, 1}, []int{l.Before, l.After})
	assert.Equal(t, []record.Warning{
		host,
		{Code: record.WarnDisturbed, Text: "The earlier run: a-repeat2: It waited for a CPU."},
		{Code: record.WarnDisturbed, Text: "The later run: a-repeat1, a-repeat3: It waited for a CPU."},
	}, l.Warnings)
	l = compare.Pair(run(0, 1, 2), run(), 0.2).Loads[0]
	assert.Equal(t, []record.Warning{host, {Code: record.WarnDisturbed, Text: "The earlier run: It waited for a CPU."}}, l.Warnings)
}

func TestDisregarded(t *testing.T) {
	r := warned(quick(1, 2, 3), record.WarnDisturbed, 0)
	r = warned(r, record.WarnShort, 1)
	n, codes := compare.Disregarded(r)
	assert.Equal(t, 2, n)
	assert.Equal(t, []string{record.WarnDisturbed, record.WarnShort}, codes)
	r.Warnings = []record.Warning{{Code: record.WarnIOLimited}}
	n, codes = compare.Disregarded(r)
	assert.Equal(t, 3, n, "a limit of the whole run is one of each step")
	assert.Equal(t, []string{record.WarnDisturbed, record.WarnIOLimited, record.WarnShort}, codes)
	r = quick(1, 2, 3)
	r.Warnings = []record.Warning{{Code: record.WarnShort}, {Code: record.WarnGovernor}}
	n, _ = compare.Disregarded(r)
	assert.Zero(t, n, "steps that ended before the run was cut short may decide")
}

// Neither a suite without repeats nor a run that has enough of them gets the advice to repeat.
func TestAdviceCanBeFollowed(t *testing.T) {
	before, after := runOf(steps("round-01", 10_000)...), runOf(steps("round-01", 7000)...)
	assert.Equal(t, 4, compare.MoreRepeats(after))
	assert.Zero(t, compare.MoreRepeats(runOf(steps("a", 10_000, 10_000, 10_000, 10_000)...)))
	after.Suite, after.Unrepeatable = "steady-state", true
	assert.Zero(t, compare.MoreRepeats(after))
	assert.Equal(t, "run it again: steady-state has no repeats, and one run against one shows only large changes that all loads have in common: "+
		"1 of 1 load changed by more than 20 %, which may be noise", compare.Pair(before, after, 0.2).Reason)
}

// The advised number of repeats is enough to find a change that is there; one less would not be.
func TestAdvisedRepeatsSuffice(t *testing.T) {
	run := func(loads, repeats int, factor float64) record.RunReport {
		var all []record.Step
		for i := range loads {
			var iops []float64
			for k := range repeats {
				iops = append(iops, factor*(10_000+float64(k)))
			}
			for k, s := range steps("load", iops...) {
				s.Name, s.Series = fmt.Sprintf("load%d-repeat%d", i, k+1), fmt.Sprintf("load%d", i)
				all = append(all, s)
			}
		}
		return runOf(all...)
	}
	for loads, repeats := range map[int]int{1: 4, 2: 5, 3: 5, 6: 5, 7: 6, 12: 6, 40: 7} {
		before, after := run(loads, 1, 1), run(loads, 1, 1)
		after.Steps[0].Read.IOPS *= 0.7
		assert.Contains(t, compare.Pair(before, after, 0.2).Reason, fmt.Sprintf("repeat with --repeats %d, ", repeats), "%d loads", loads)
		slower := func(repeats int) record.Verdict {
			before, after := run(loads, repeats, 1), run(loads, repeats, 1)
			for k := range repeats {
				after.Steps[k].Read.IOPS *= 0.7
			}
			return compare.Pair(before, after, 0.2).Verdict
		}
		assert.Equal(t, record.Slower, slower(repeats), "%d loads", loads)
		assert.Equal(t, record.Inconclusive, slower(repeats-1), "%d loads", loads)
	}
}

// Figures that cannot be true are compared neither with an earlier run nor with a later one.
func TestTheImpossibleIsNotCompared(t *testing.T) {
	good := quick(1000, 2000, 3000)
	bad := warned(quick(1000, 9000, 3000), record.WarnImpossible, 1)
	want := []record.UnmatchedLoad{{Load: "b", Direction: record.Read, Reason: record.WarnImpossible + "."}}
	for _, runs := range [][2]record.RunReport{{good, bad}, {bad, good}, {bad, bad}} {
		got := compare.Pair(runs[0], runs[1], 0.2)
		assert.Len(t, got.Loads, 2)
		assert.Equal(t, want, got.NotCompared)
	}
	bad.Started = bad.Started.AddDate(0, 0, -1)
	history := compare.History(good, []record.RunReport{bad})
	for _, l := range history.Loads {
		assert.Equal(t, map[string]int{"a": 1, "b": 0, "c": 1}[l.Load], l.Before, l.Load)
	}
	// Only repeats that can be true count.
	repeated := warned(runOf(steps("a", 9000, 1000, 1000)...), record.WarnImpossible, 0)
	got := compare.Pair(repeated, repeated, 0.2)
	assert.Equal(t, 2, got.Loads[0].Before)
}

// Names in fio's own output are arbitrary, so its loads are matched by plan when only one on each side has that plan.
func TestImportedLoadsAreMatchedByPlan(t *testing.T) {
	own := runOf(steps("random-read-qd1", 10_000)...)
	imported := runOf(append(steps("a", 10_000), steps("b", 10_000)...)...)
	imported.Suite = record.ImportedSuite
	assert.Empty(t, compare.Pair(imported, own, 0.2).Loads, "which of two earlier ones is meant is not guessed")
	assert.Empty(t, compare.Pair(own, imported, 0.2).Loads, "nor which of two later ones")

	imported.Steps[0].Name, imported.Steps[0].Plan = "random-read-qd1", "4 KiB random read, depth 32"
	c := compare.Pair(own, imported, 0.2)
	require.Len(t, c.Loads, 1, "the same name stands for another load, and the same load has another name")
	assert.Equal(t, "b", c.Loads[0].Load)
}

func TestRunsAreCalledByTheirNames(t *testing.T) {
	before, after := runOf(steps("a", 10_000)...), runOf(append(steps("a", 5000), steps("b", 10_000)...)...)
	after.Warnings = []record.Warning{{Code: record.WarnShort, Text: "Stopped."}}
	for names, called := range map[compare.Names][2]string{
		{Before: "A", After: "B"}:                           {"A", "B"},
		{Before: "the earlier run", After: "the later run"}: {"the earlier run", "The later run"},
	} {
		c := names.Pair(before, after, 0.2)
		assert.Contains(t, c.Warnings, record.Warning{Code: record.WarnShort, Text: called[1] + ": Stopped."})
		assert.Equal(t, "only in "+names.After, c.NotCompared[0].Reason)
		assert.Contains(t, c.Reason, ", "+called[0]+" too: ")
	}
}
