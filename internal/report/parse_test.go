package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/compare"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

func encoded(t testing.TB, v any) []byte {
	t.Helper()
	var b strings.Builder
	require.NoError(t, report.JSON(&b, v))
	return []byte(b.String())
}

func TestParse(t *testing.T) {
	r := depthRun()
	c := compare.Pair(r, r, 0.1)
	want := report.NewDocument(r, &c)
	for name, v := range map[string]any{
		"document": want, "list": []report.Document{want}, "list of reports": []record.RunReport{r}, "report": r,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := report.Parse(encoded(t, v))
			require.NoError(t, err)
			require.Len(t, got, 1)
			assert.Equal(t, want.Summary, got[0].Summary)
			assert.Equal(t, r.Analysis, got[0].Report.Analysis)
			assert.Equal(t, r.Steps, got[0].Report.Steps)
			if _, bare := v.(record.RunReport); !bare && name != "list of reports" {
				require.NotNil(t, got[0].Comparison)
				assert.Equal(t, c.Verdict, got[0].Comparison.Verdict)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	newer := quickRun()
	newer.Version = record.RunReportVersion + 1
	for name, c := range map[string]struct{ text, says string }{
		"nothing":          {"", "not JSON: unexpected EOF"},
		"no JSON":          {"fio-3.33", "not JSON at byte"},
		"cut off":          {string(encoded(t, quickRun())[:2000]), "not JSON at byte"},
		"something else":   {`{"fio version": "fio-3.33", "jobs": []}`, "not a report of a run: it has no version, suite and steps"},
		"a number":         {"17", "cannot unmarshal number"},
		"newer":            {string(encoded(t, newer)), "version 3, and this ssdprobe knows 2: written by a newer ssdprobe"},
		"negative bins":    {`{"version":1,"suite":"a","steps":[{"read":{"latency":[[-1,2]]}}]}`, "negative"},
		"second of a list": {`[{"version":1,"suite":"a","steps":[]},{}]`, "report 2: not a report of a run"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := report.Parse([]byte(c.text))
			require.ErrorContains(t, err, c.says)
		})
	}
	_, err := report.Parse(encoded(t, newer))
	require.ErrorIs(t, err, report.ErrNewer)
}

// Any file is either rejected or shown.
func FuzzParse(f *testing.F) {
	for _, r := range suiteRuns() {
		for i := range r.Steps { // short seeds are mutated more
			for _, result := range []*record.Result{r.Steps[i].Read, r.Steps[i].Write} {
				if result != nil {
					result.Latency = result.Latency[:min(3, len(result.Latency))]
				}
			}
		}
		r.Steps = r.Steps[:min(2, len(r.Steps))]
		r.Targets = r.Targets[:min(1, len(r.Targets))]
		if r.Analysis != nil && r.Analysis.Offsets != nil {
			r.Analysis.Offsets[0].Points = r.Analysis.Offsets[0].Points[:2]
		}
		if r.Analysis != nil && r.Analysis.Steady != nil {
			r.Analysis.Steady.Path = r.Analysis.Steady.Path[:2]
		}
		if r.Analysis != nil && len(r.Analysis.Scalings) > 0 {
			r.Analysis.Scalings[0].Points = r.Analysis.Scalings[0].Points[:2]
		}
		if r.Analysis != nil {
			r.Analysis.Bounds = r.Analysis.Bounds[:min(1, len(r.Analysis.Bounds))]
		}
		text, err := json.Marshal(r)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(`{"version":1,"suite":"a","steps":[{"read":{"iops":1e308,"mean_ns":9223372036854775807,"latency":[[0,1],[9223372036854775807,9223372036854775807]]}}]}`))
	f.Add([]byte(`{"version":1,"suite":"a","steps":[],"analysis":{"steady":{"path":[{"round":-1,"value":-1e308}],"reached":true,"window":-5},"scalings":[{"points":[{}]}],"offsets":{"points":[{}]},"spreads":[{}],"data_sheet":[{}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		documents, err := report.Parse(text)
		if err != nil {
			return
		}
		var b strings.Builder
		require.NoError(t, report.HTML(&b, documents...))
		assert.Zero(t, strings.Count(b.String(), "<script"))
		var runs []record.RunReport
		var names []string
		for _, d := range documents {
			require.NoError(t, report.Run(&b, d.Report))
			runs, names = append(runs, d.Report), append(names, "a")
		}
		if len(runs) == 0 {
			return
		}
		c := against(append(names, "b"), append(runs, runs[0])...)
		require.NoError(t, c.Text(&b))
		require.NoError(t, c.CSV(&b))
	})
}
