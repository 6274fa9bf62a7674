package report_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

// updated is cacheRun a week later on newer firmware with another governor and fio:
// with the cache off at depth 1 it is a third slower, and a tiny bit at depth 32.
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

func changesText(t *testing.T, c report.Changes) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, c.Text(&b))
	return b.String()
}

func TestChangesText(t *testing.T) {
	three := report.Contrast([]string{"monday.json", "tuesday.json", "other.json"}, []record.RunReport{cacheRun(), updated(), depthRun()}, 0.05)
	golden(t, "changes_three.txt", changesText(t, three))
	assert.True(t, three.Slower())

	alike := report.Contrast([]string{"a.json", "b.json"}, []record.RunReport{depthRun(), depthRun()}, 0.05)
	golden(t, "changes_alike.txt", changesText(t, alike))
	assert.False(t, alike.Slower())

	faster := report.Contrast([]string{"a.json", "b.json"}, []record.RunReport{updated(), cacheRun()}, 0.05)
	assert.False(t, faster.Slower())
	assert.Contains(t, changesText(t, faster), "B is faster than A: 4 of 16 figures, most of all random-write-qd1-cache-off write IOPS +50 %")
}

func TestChangesCSV(t *testing.T) {
	second := updated()
	second.Steps[0].Series, second.Steps[0].Plan = "=cmd|' /C calc'!A0", "+1"
	first := cacheRun()
	first.Steps[0].Series, first.Steps[0].Plan = second.Steps[0].Series, second.Steps[0].Plan
	c := report.Contrast([]string{"-a.json", "@b.json"}, []record.RunReport{first, second}, 0.05)
	var b strings.Builder
	require.NoError(t, c.CSV(&b))
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+5*4)
	assert.Equal(t, []string{
		"'-a.json", "'@b.json", "2026-05-04 11:02:11", "2026-05-11 11:02:11",
		"firmware GDC5602Q → GDC5702Q; governor powersave → performance; engine fio-3.33 libaio → fio-3.38 libaio; parameter time default → 30s",
		"'=cmd|' /C calc'!A0", "'+1", "write", "IOPS", "1/s",
	}, rows[1][:10], "what a spreadsheet would run is text")
	byName := map[string]string{}
	for i, name := range rows[0] {
		byName[name] = rows[9][i] // the second load's first figure
	}
	assert.Equal(t, "random-write-qd1-cache-off", byName["load"])
	assert.Equal(t, "4", byName["from_repeats"])
	assert.Equal(t, "-33.333", byName["change_percent"])
	assert.Equal(t, "slower", byName["verdict"])
	assert.Equal(t, "true", byName["counts"])
	assert.NotEmpty(t, byName["lower_percent"])

	require.EqualError(t, c.CSV(brokenPipe{errors.New("broken pipe")}), "write CSV: broken pipe")
}

// repeated is a run of one load with a repeat for each of some IOPS.
func repeated(ios int64, iops ...float64) record.RunReport {
	r := record.RunReport{Suite: "quick"}
	for i, v := range iops {
		latency := time.Duration(float64(time.Second) / v)
		s := oneStep(ios, latency, latency, v).Steps[0]
		s.Name, s.Series = fmt.Sprintf("read-%d", i), "read"
		r.Steps = append(r.Steps, s)
	}
	return r
}

func TestVerdictOfChanges(t *testing.T) {
	for name, c := range map[string]struct {
		from, to record.RunReport
		want     report.Verdict
		figure   report.Verdict // of IOPS
		counts   bool
		interval bool
	}{
		"the same":                         {repeated(2000, 100, 101, 99), repeated(2000, 100, 101, 99), report.Same, report.Same, false, true},
		"beyond the spread":                {repeated(2000, 100, 101, 99), repeated(2000, 80, 81, 79), report.Slower, report.Slower, true, true},
		"faster":                           {repeated(2000, 80, 81, 79), repeated(2000, 100, 101, 99), report.Faster, report.Faster, true, true},
		"a large change in a large spread": {repeated(2000, 100, 150, 50), repeated(2000, 80, 120, 45), report.Same, report.Same, false, true},
		"certain and small":                {repeated(2000, 100, 100.1, 99.9), repeated(2000, 98, 98.1, 97.9), report.Same, report.Slower, false, true},
		"no repeats, small":                {repeated(2000, 100), repeated(2000, 97), report.Same, report.Same, false, false},
		"no repeats, large":                {repeated(2000, 100), repeated(2000, 80), report.Slower, report.Slower, true, false},
		"repeats on one side":              {repeated(2000, 100, 101, 99), repeated(2000, 80), report.Slower, report.Slower, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := report.Contrast([]string{"a", "b"}, []record.RunReport{c.from, c.to}, 0.05)
			require.Len(t, got.Against, 1)
			assert.Equal(t, c.want, got.Against[0].Verdict)
			require.Len(t, got.Against[0].Loads, 1)
			f := got.Against[0].Loads[0].Figures[0]
			assert.Equal(t, "IOPS", f.Figure)
			assert.Equal(t, c.figure, f.Verdict)
			assert.Equal(t, c.counts, f.Counts)
			assert.Equal(t, c.interval, f.Ratio.Lower != nil)
			assert.Equal(t, c.want == report.Slower, got.Slower())
		})
	}
}

// A tail of few I/Os is shown and does not decide.
func TestTailsOfFewIOsDoNotCount(t *testing.T) {
	tails := func(n int64) report.Changes {
		return report.Contrast([]string{"a", "b"}, []record.RunReport{oneStep(n, 80*us, 200*us, 12_000), oneStep(n, 80*us, 400*us, 12_000)}, 0.05)
	}
	// The mean moves too, by less than the threshold.
	few, many := tails(500), tails(1500)
	p99 := func(c report.Changes) report.FigureChange { return c.Against[0].Loads[0].Figures[3] }
	assert.Equal(t, report.Slower, p99(few).Verdict)
	assert.False(t, p99(few).Counts)
	assert.Equal(t, report.Same, few.Against[0].Verdict)
	assert.True(t, p99(many).Counts)
	assert.Equal(t, report.Slower, many.Against[0].Verdict)
}

func TestDifferencesOfConditions(t *testing.T) {
	a, b, c := quickRun(), quickRun(), quickRun()
	b.Conditions.Firmware, c.Node = "NEWER", "storage-08"
	c.Device.Serial = ""
	got := report.Contrast([]string{"a", "b", "c"}, []record.RunReport{a, b, c}, 0.05)
	assert.Equal(t, []report.Difference{
		{Condition: "firmware", Values: []string{"GDC5602Q", "NEWER", "GDC5602Q"}},
		{Condition: "serial", Values: []string{"S64HNE0R401137", "S64HNE0R401137", ""}},
		{Condition: "node", Values: []string{"storage-07", "storage-07", "storage-08"}},
	}, got.Conditions)
}
