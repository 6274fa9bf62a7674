package report_test

import (
	"encoding/csv"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/compare"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// comparisonText returns what is shown below the report of a run that is compared with an earlier one.
func comparisonText(t *testing.T, before, after record.RunReport) string {
	t.Helper()
	c := compare.Pair(before, after, 0.2)
	var b strings.Builder
	require.NoError(t, report.Comparison(&b, report.NewDocument(after, &c)))
	return b.String()
}

// beforeUpdate returns quickRun a fortnight earlier: older firmware, a full-speed link,
// faster by a factor. One step had another plan, and one has been dropped since.
func beforeUpdate(factor float64) record.RunReport {
	r := today()
	r.Started = r.Started.AddDate(0, 0, -14)
	r.Conditions.Firmware, r.Conditions.PCIeLink = "GDC5302Q", record.LinkRate{GTs: 16, Lanes: 4}
	r.Warnings = nil
	r.Steps[0].Read = result(slowed(depth1(124_300), factor), 4<<10, 1)
	r.Steps[1].Read = result(slowed(depth32(312_000), factor), 4<<10, 32)
	r.Steps[2].Plan = "128 KiB sequential read, depth 32"
	r.Steps = append(r.Steps, record.Step{Name: "random-write-qd1", Plan: "4 KiB random write, depth 1", Write: result(depth1(100), 4<<10, 1)})
	return r
}

// today returns quickRun on a host with enough CPUs.
func today() record.RunReport {
	r := quickRun()
	r.Steps[1].Warnings = nil
	return r
}

// updated returns cacheRun a week later with newer firmware, another governor and another
// fio. With the cache off at depth 1 it is a third slower.
func updated() record.RunReport {
	r := cacheRun()
	r.Started = r.Started.AddDate(0, 0, 7)
	r.Conditions.Firmware, r.Conditions.Governor, r.Conditions.Engine = "GDC5702Q", "performance", "fio-3.38 libaio"
	r.Engine, r.Settings = "fio-3.38", map[string]string{"time": "30s"}
	for i, s := range r.Steps {
		if s.Series == "random-write-qd1-cache-off" {
			r.Steps[i].Write = result(slowed(s.Write.Latency, 1.5), 8<<10, 1)
		}
	}
	return r
}

func TestComparisonText(t *testing.T) {
	for name, runs := range map[string]struct{ before, after record.RunReport }{
		"comparison_slower.txt":       {beforeUpdate(0.4), today()},
		"comparison_faster.txt":       {today(), beforeUpdate(0.4)},
		"comparison_inconclusive.txt": {beforeUpdate(0.75), quickRun()},
		"comparison_same.txt":         {today(), today()},
		"comparison_nothing.txt":      {probeRun(), quickRun()},
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, comparisonText(t, runs.before, runs.after)) })
	}
}

// What the run was warned of is said once on its report. The comparison below it adds what the earlier run had.
func TestWarningsOfAComparedRunAreToldOnce(t *testing.T) {
	own, shared := record.Warning{Code: "own", Text: "Only this run."}, record.Warning{Code: "shared", Text: "Every run here."}
	before, after := today(), today()
	after.Warnings = []record.Warning{own, shared}
	before.Warnings = []record.Warning{shared, {Code: "old", Text: "Only that run."}}
	c := compare.Pair(before, after, 0.2)
	d := report.NewDocument(after, &c)
	var text, markdown strings.Builder
	require.NoError(t, report.Brief(&text, after))
	require.NoError(t, report.Comparison(&text, d))
	require.NoError(t, report.Markdown(&markdown, d))
	for _, shown := range []string{text.String(), markdown.String(), page(t, d)} {
		assert.Equal(t, 1, strings.Count(shown, own.Text), shown)
		assert.Equal(t, 1, strings.Count(shown, shared.Text), shown)
		assert.Equal(t, 1, strings.Count(shown, "The earlier run: Only that run."), shown)
		assert.Regexp(t, `warnings of both runs: \W*(<bdi>)?shared\b`, shown)
	}
}

func TestComparisonJSON(t *testing.T) {
	var b strings.Builder
	require.NoError(t, report.JSON(&b, compare.Pair(beforeUpdate(0.4), today(), 0.2)))
	golden(t, "comparison_slower.json", b.String())
}

// against compares runs with the first of them.
func against(names []string, runs ...record.RunReport) report.Comparisons {
	c := report.Comparisons{Names: names}
	for i, r := range runs[1:] {
		c.Comparisons = append(c.Comparisons, compare.Names{Before: "A", After: report.Letter(i + 1)}.Pair(runs[0], r, 0.05))
	}
	return c
}

func comparisonsText(t *testing.T, c report.Comparisons) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, c.Text(&b))
	return b.String()
}

func TestComparisonsText(t *testing.T) {
	golden(t, "comparisons_three.txt", comparisonsText(t, against([]string{"monday.json", "tuesday.json", "other.json"}, cacheRun(), updated(), depthRun())))
	golden(t, "comparisons_same.txt", comparisonsText(t, against([]string{"a.json", "b.json"}, depthRun(), depthRun())))
}

func TestComparisonsCSV(t *testing.T) {
	first, second := cacheRun(), updated()
	for _, r := range []record.RunReport{first, second} {
		r.Steps[0].Series, r.Steps[0].Plan = "=cmd|' /C calc'!A0", "+1"
	}
	c := against([]string{"-a.json", "@b.json"}, first, second)
	var b strings.Builder
	require.NoError(t, c.CSV(&b))
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+5*3)
	assert.Equal(t, []string{
		"'-a.json", "'@b.json", "2026-05-04 11:02:11", "2026-05-11 11:02:11",
		"firmware GDC5602Q → GDC5702Q; governor powersave → performance; engine fio-3.33 libaio → fio-3.38 libaio; parameter time default → 30s",
		"'=cmd|' /C calc'!A0", "'+1", "write", "IOPS", "1/s",
	}, rows[1][:10], "what a spreadsheet would run is text")
	byName := map[string]string{}
	for i, name := range rows[0] {
		byName[name] = rows[7][i] // the second load's first figure
	}
	assert.Equal(t, "random-write-qd1-cache-off", byName["load"])
	assert.Equal(t, "4", byName["from_values"])
	assert.Equal(t, "1.5", byName["times_slower"])
	assert.Equal(t, "inconclusive", byName["verdict"], "four repeats are too few for five loads")
	assert.Equal(t, "inconclusive", byName["run_verdict"])
	assert.NotEmpty(t, byName["lower"])

	require.EqualError(t, c.CSV(brokenPipe{errors.New("broken pipe")}), "write CSV: broken pipe")
}

// The CSV also contains the warnings of a run and the loads that are not compared.
func TestComparisonsCSVLosesNothing(t *testing.T) {
	imported := today()
	imported.Suite = record.ImportedSuite
	imported.Warnings = []record.Warning{{Code: record.WarnConditionsUnknown, Text: "The conditions are unknown."}}
	imported.Steps = append(imported.Steps, record.Step{Name: "own", Plan: "fio job rw=randwrite", Write: result(depth1(100), 4<<10, 1)})
	var b strings.Builder
	require.NoError(t, against([]string{"a.json", "b.json"}, today(), imported).CSV(&b))
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	require.NoError(t, err)
	n := len(rows[0])
	assert.Equal(t, []string{"run_warnings", "not_compared", "percentile_of_few_ios"}, rows[0][n-3:])
	for _, row := range rows[1:] {
		assert.Contains(t, row[n-3], record.WarnConditionsUnknown)
	}
	last := rows[len(rows)-1]
	assert.Equal(t, []string{"own", "", "write"}, last[5:8])
	assert.Equal(t, "only in B", last[n-2])
}

func TestRunVerdict(t *testing.T) {
	figure := record.ComparedFigure{
		Statistic: record.LatencyP50, Before: 100e-6, Best: 98e-6, Worst: 104e-6, Slower: record.Interval{Value: 1.31}, Verdict: record.Slower,
	}
	c := record.Comparison{Runs: 6, Verdict: record.Slower, Loads: []record.ComparedLoad{
		{Load: "random-read-qd1", Direction: record.Read, Verdict: record.Slower, Figures: []record.ComparedFigure{figure}},
		{Load: "random-read-qd32", Direction: record.Read, Verdict: record.Same, Figures: []record.ComparedFigure{{Verdict: record.Same, Slower: record.Interval{Value: 1}}}},
	}}
	words, changed := report.RunVerdict(record.RunStatus{Comparison: &c})
	assert.Equal(t, "slower than the 6 runs before it in 1 of 2 loads, most of all random-read-qd1 read p50, 31 % slower", words)
	assert.Equal(t, []string{"random-read-qd1 read p50: 31 % slower than their median of 100 µs (98.0 µs to 104 µs)"}, changed)

	words, changed = report.RunVerdict(record.RunStatus{Comparison: &record.Comparison{Verdict: record.Inconclusive, Reason: "too few"}})
	assert.Equal(t, "inconclusive: too few", words)
	assert.Empty(t, changed)
	words, _ = report.RunVerdict(record.RunStatus{})
	assert.Empty(t, words)
}

func TestDriftTellsHowRunsCompare(t *testing.T) {
	s := record.Snapshot{Time: started(), Targets: []record.TargetStatus{{
		ID: "eui.1", Path: "/dev/nvme0n1", Runs: []record.RunStatus{
			{Suite: "quick", Last: &record.RunReport{Started: started()}, Comparison: &record.Comparison{
				Runs: 5, Verdict: record.Slower, Loads: []record.ComparedLoad{{
					Load: "mixed", Direction: record.Read, Verdict: record.Slower, Figures: []record.ComparedFigure{{
						Statistic: record.IOPS, Before: 1000, Best: 1010, Worst: 990, Slower: record.Interval{Value: 1.25}, Verdict: record.Slower,
					}},
				}},
			}},
			{Suite: "depth"},
		},
	}}}
	var b strings.Builder
	require.NoError(t, report.Drift(&b, s))
	assert.Contains(t, b.String(), `
  run of quick, 2026-05-04 11:02 UTC: slower than the 5 runs before it in 1 of 1 load, most of all mixed read IOPS, 25
  % slower
    mixed read IOPS: 25 % slower than their median of 1 000 IOPS (1 010 IOPS to 990 IOPS)
`)
	assert.NotContains(t, b.String(), "depth")
}

// A report from a version with another kind of comparison is shown without its
// comparison.
func TestComparisonsOfEarlierVersionsAreLeftOut(t *testing.T) {
	text := strings.Replace(string(encoded(t, report.NewDocument(quickRun(), nil))), `"summary"`, `"comparison": {"baseline": {"suite": "quick"}, "verdict": "incomplete"}, "summary"`, 1)
	got, err := report.Parse([]byte(text))
	require.NoError(t, err)
	assert.Nil(t, got[0].Comparison)
	assert.Equal(t, time.Duration(0), got[0].Report.Started.Sub(quickRun().Started))
}
