package report_test

import (
	"encoding/json"
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

func runText(t *testing.T, r record.RunReport) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, report.Run(&b, r))
	return b.String()
}

func TestRunText(t *testing.T) {
	for name, r := range map[string]record.RunReport{
		"run_quick.txt": quickRun(),
		"run_probe.txt": probeRun(),
		"run_nothing.txt": {
			Suite: "quick", Target: "/srv/probe.dat", TargetID: "file:/srv/probe.dat", Started: started(), Engine: "fio-3.33",
			Warnings: []record.Warning{{Code: record.WarnFilesystemUnknown, Text: "The device below overlay is not known: figures cannot be attributed to a drive."}},
		},
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, runText(t, r)) })
	}
}

// The widest figures, of a drive at its data sheet and a stall of seconds, fit into 120 columns.
func TestRunTableFits120Columns(t *testing.T) {
	h := spread(20_000, at{0, 9400 * us / 1000}, at{0.5, 64 * us}, at{0.99, 900 * us}, at{0.999, 12 * ms}, at{1, 2300 * ms})
	r := quickRun()
	fast := &record.Result{
		IOs: 120_000_000, IOPS: 2_000_000, BytesPerSecond: 14_000e6, Latency: h, Min: h.Min(), Mean: h.Mean(), Max: h.Max(),
	}
	r.Steps = []record.Step{{
		Name: "random-mixed-qd128x16", Plan: "4 KiB random, 70 % read 30 % write, depth 128, 16 jobs", Duration: time.Minute,
		Read: fast, Write: fast, UserCPU: 9.31, SystemCPU: 6.69, InterruptsPerIO: 0.123, Errors: map[string]int64{"EIO": 100_000},
	}}
	got := runText(t, r)
	assert.LessOrEqual(t, widest(got), 120, got)
	assert.Contains(t, got, "2 000 000")
	assert.Contains(t, got, "14 000")
	golden(t, "run_wide.txt", got)
}

func TestRunPrintsForeignStringsPlainly(t *testing.T) {
	r := quickRun()
	r.Device.Model = "EVIL\x1b[31m\nMODEL\x00\u202e"
	r.Target = "/srv/a\nwarning: forged"
	got := runText(t, r)
	assert.NotContains(t, got, "\x1b")
	assert.NotContains(t, got, "\nwarning: forged")
	assert.Contains(t, got, `EVIL\x1b[31m\nMODEL\x00\u202e`)
}

func TestSummarise(t *testing.T) {
	h := record.Histogram{{Latency: 20 * us, Count: 150}, {Latency: 40 * us, Count: 100}, {Latency: 90 * us, Count: 6}}
	r := record.RunReport{Steps: []record.Step{
		{
			Name: "read-4k", Plan: "4 KiB random read, depth 1",
			Read: &record.Result{IOs: 256, IOPS: 31_000, BytesPerSecond: 126.976e6, Latency: h, Min: 19700, Mean: 29400, Max: 91234},
		},
		{Name: "no-histogram", Sync: &record.Result{IOs: 3, IOPS: 100}},
		{Name: "no-exact", Write: &record.Result{IOs: 2, Latency: record.Histogram{{Latency: 10 * us, Count: 1}, {Latency: 30 * us, Count: 1}}}},
		{Name: "no-result"},
	}}
	assert.Equal(t, []report.Summary{
		{
			Step: "read-4k", Plan: "4 KiB random read, depth 1", Direction: "read", IOs: 256, IOPS: 31_000, BytesPerSecond: 126.976e6,
			Min: 19700, Mean: 29400, P50: 20 * us, P95: 40 * us, P99: 90 * us, P999: 90 * us, Max: 91234,
			Unsure: []string{"p99", "p99.9"},
		},
		{Step: "no-histogram", Direction: "sync", IOs: 3, IOPS: 100},
		{
			Step: "no-exact", Direction: "write", IOs: 2, Min: 10 * us, Mean: 20 * us, P50: 10 * us, P95: 30 * us, P99: 30 * us,
			P999: 30 * us, Max: 30 * us, Unsure: []string{"p50", "p95", "p99", "p99.9"},
		},
	}, report.Summarise(r))
}

func TestJSON(t *testing.T) {
	r := probeRun()
	for i := range r.Steps { // a short histogram keeps the file readable
		if r.Steps[i].Read != nil {
			r.Steps[i].Read.Latency = r.Steps[i].Read.Latency[:4]
		}
	}
	r.Steps[1].Sync, r.Steps[1].Write = nil, nil
	c := compare.Pair(r, r, 0.1)
	var b strings.Builder
	require.NoError(t, report.JSON(&b, report.NewDocument(r, &c)))
	golden(t, "run_probe.json", b.String())

	var back report.Document
	require.NoError(t, json.Unmarshal([]byte(b.String()), &back))
	assert.True(t, back.Report.Started.Equal(r.Started))
	back.Report.Started, back.Report.Finished = r.Started, r.Finished
	assert.Equal(t, r, back.Report)
	assert.Equal(t, report.Summarise(r), back.Summary)
}

func TestJSONKeepsTextThatLooksLikeAPair(t *testing.T) {
	var b strings.Builder
	require.NoError(t, report.JSON(&b, map[string]any{"z": "[\n 1,\n 2\n ]", "a": []int{1, 2}, "b": []int{1, 2, 3}, "c": "1 < 2"}))
	assert.Equal(t, `{
  "a": [1, 2],
  "b": [
    1,
    2,
    3
  ],
  "c": "1 < 2",
  "z": "[\n 1,\n 2\n ]"
}
`, b.String())
}

type brokenPipe struct{ err error }

func (p brokenPipe) Write([]byte) (int, error) { return 0, p.err }

func TestWriteErrorsAreReturned(t *testing.T) {
	broken := brokenPipe{errors.New("broken pipe")}
	c := compare.Pair(quickRun(), quickRun(), 0.1)
	for name, err := range map[string]error{
		"write run report: broken pipe": report.Run(broken, quickRun()),
		"write comparison: broken pipe": report.Comparison(broken, report.NewDocument(quickRun(), &c)),
		"write devices: broken pipe":    report.Devices(broken, report.DeviceList{}, time.Time{}),
		"write drift: broken pipe":      report.Drift(broken, record.Snapshot{}),
		"write baselines: broken pipe":  report.Baselines(broken, nil),
		"write JSON: broken pipe":       report.JSON(broken, 1),
	} {
		require.ErrorIs(t, err, broken.err)
		require.EqualError(t, err, name)
	}
	assert.ErrorContains(t, report.JSON(&strings.Builder{}, func() {}), "encode JSON: ")
}
