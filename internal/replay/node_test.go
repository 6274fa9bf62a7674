package replay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/replay"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

const withTraffic = "time,latency_p50_seconds,latency_p95_seconds,latency_p99_seconds,iops,utilisation,conditions," +
	"others_read_iops,others_write_iops,others_read_bytes_per_second,others_write_bytes_per_second," +
	"others_read_latency_seconds,others_write_latency_seconds,others_flush_latency_seconds,in_flight"

// recorded writes a scenario as a folder and returns its path.
func recorded(t *testing.T, s drifttest.Scenario) string {
	t.Helper()
	dir := t.TempDir()
	files := make([]bytes.Buffer, len(s.Drives))
	for i := range files {
		fmt.Fprintln(&files[i], withTraffic)
	}
	figure := func(v float64) string {
		if v == 0 {
			return ""
		}
		return fmt.Sprintf("%.4e", v)
	}
	for i, x := range s.Samples {
		row := []string{fmt.Sprint(x.Time.Unix())}
		for _, v := range x.Values {
			row = append(row, figure(v))
		}
		row = append(row, fmt.Sprintf("%.3f", x.Utilisation), "")
		o := x.Others
		for _, v := range []float64{o.Reads, o.Writes, o.ReadBytes, o.WriteBytes, o.ReadLatency, o.WriteLatency, o.FlushLatency, o.InFlight} {
			row = append(row, figure(v))
		}
		fmt.Fprintln(&files[i], strings.Join(row, ","))
	}
	for i, d := range s.Drives {
		require.NoError(t, os.WriteFile(filepath.Join(dir, d.ID+".csv"), files[i].Bytes(), 0o600))
	}
	return dir
}

func runFolder(t *testing.T, path string) *replay.Report {
	t.Helper()
	f, err := replay.OpenFolder(path)
	require.NoError(t, err)
	defer f.Close()
	report, err := replay.RunNode(t.Context(), f.Drives, drift.Default(), nil)
	require.NoError(t, err)
	return report
}

func TestAFolderIsANode(t *testing.T) {
	testenv.Long(t)
	s := drifttest.Node{Kind: "one", Noise: "calm", Seed: 1, Drives: 8, Days: 4}.Scenario()
	report := runFolder(t, recorded(t, s))
	double := ""
	for _, d := range s.Drives {
		for _, e := range d.Episodes {
			if e.Kind == "double" {
				double = d.ID
			}
		}
	}
	assert.Equal(t, 8*4*1440, report.Rounds)
	require.Len(t, report.Drives, 8)
	assert.Equal(t, double, report.Drives[0].Drive, "the worst first")
	assert.Equal(t, record.Severe, report.Drives[0].Verdict.Verdict)
	assert.Equal(t, []string{"probes"}, report.Drives[0].Verdict.Witnesses)
	assert.InDelta(t, 2, report.Drives[0].Verdict.Ratio, 0.3)
	assert.Equal(t, record.Healthy, report.Drives[7].Verdict.Verdict)
	for _, l := range report.Lines {
		assert.NotEmpty(t, l.State, "%+v", l)
		assert.NotEmpty(t, l.Verdict, "%+v", l)
	}
	var text bytes.Buffer
	require.NoError(t, report.Text(&text))
	assert.Contains(t, text.String(), "46 080 rounds of 8 drives")
	assert.Regexp(t, `(?m)^`+double+` +severe since .* by its probes$`, text.String())
	_, err := json.Marshal(report)
	require.NoError(t, err)
}

func TestAFolderOfTrafficAlone(t *testing.T) {
	s := drifttest.Reacting{Utilisation: 0.3, Wave: 0.1, Slower: 2, Seed: 1, Days: 4, Unprobed: true}.Scenario()
	report := runFolder(t, recorded(t, s))
	assert.Zero(t, report.Rounds)
	require.Len(t, report.Drives, 1)
	assert.Nil(t, report.Drives[0].Now)
	require.NotNil(t, report.Drives[0].Traffic)
	assert.Equal(t, []string{"traffic"}, report.Drives[0].Verdict.Witnesses)
	assert.Contains(t, []record.DriveVerdict{record.Degraded, record.Severe}, report.Drives[0].Verdict.Verdict)
}

// The name of a folder is no pattern.
func TestAFolderWithBracketsInItsName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rack[1]")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nvme0n1.csv"), []byte(header+"0,1e-4,1e-4,1e-4,9000,,\n"), 0o644))
	assert.Equal(t, 1, runFolder(t, dir).Rounds)
}

func TestAGapPassesAsTime(t *testing.T) {
	stream := drifttest.Stream{Kind: "none", Noise: "quiet", Seed: 1, Days: 2}
	var b strings.Builder
	b.WriteString("time,latency_p50_seconds,latency_p95_seconds,latency_p99_seconds,iops\n")
	for r := range stream.Rounds() {
		if at := r.Time.Sub(drifttest.Start()); at < 30*time.Hour || at > 40*time.Hour {
			fmt.Fprintf(&b, "%d,%.4e,%.4e,%.4e,%.1f\n", r.Time.Unix(), r.Values[0], r.Values[1], r.Values[2], r.Values[3])
		}
	}
	report := run(t, b.String(), nil)
	var silent []string
	for _, l := range report.Lines {
		if l.Verdict == record.Unjudged && time.Time(l.Time).Sub(drifttest.Start()) > 24*time.Hour {
			silent = append(silent, l.Time.String())
		}
	}
	assert.NotEmpty(t, silent, "nothing green is stale")
}

func TestDescribedDrives(t *testing.T) {
	s := drifttest.Node{Kind: "none", Noise: "calm", Seed: 1, Drives: 2, Days: 0.01}.Scenario()
	dir := recorded(t, s)
	describe := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "drives.json"), []byte(text), 0o600))
	}
	describe(`{"d01": {"model": "X", "size_bytes": 1000, "rotational": true, "group": "g"}}`)
	f, err := replay.OpenFolder(dir)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	assert.Equal(t, judge.Drive{ID: "d00"}, f.Drives[0].Drive)
	assert.Equal(t, judge.Drive{ID: "d01", Model: "X", SizeBytes: 1000, Rotational: true, Group: "g"}, f.Drives[1].Drive)

	for name, c := range map[string]struct{ json, says string }{
		"a drive that is not there": {`{"d02": {}}`, `drives.json describes "d02", but d02.csv is not there`},
		"no object":                 {`[]`, `want an object like {"nvme0n1":`},
		"a key that is none":        {`{"d01": {"modell": "X"}}`, `unknown field "modell"`},
	} {
		t.Run(name, func(t *testing.T) {
			describe(c.json)
			_, err := replay.OpenFolder(dir)
			require.ErrorContains(t, err, c.says)
		})
	}
	_, err = replay.OpenFolder(t.TempDir())
	require.ErrorContains(t, err, "has no file whose name ends in .csv")
}

// The judge gets the same rounds and traffic from a history as from a daemon, so the report is what the daemon shows in the end.
func TestAReplayEndsWithWhatADaemonShows(t *testing.T) {
	testenv.Long(t)
	s := drifttest.Node{Kind: "one", Noise: "calm", Seed: 3, Drives: 6, Days: 3}.Scenario()
	dir := recorded(t, s)
	daemon := judge.NewNode(drift.Default())
	readers := make([]*replay.Reader, len(s.Drives))
	for i, d := range s.Drives {
		daemon.AddDrive(judge.Drive{ID: d.ID})
		file, err := os.Open(filepath.Join(dir, d.ID+".csv"))
		require.NoError(t, err)
		defer file.Close()
		readers[i], err = replay.NewReader(file.Name(), file)
		require.NoError(t, err)
	}
	var now time.Time
	for drive, sample := range s.Samples {
		for ; !now.IsZero() && now.Before(sample.Time); now = now.Add(10 * time.Second) { // as often as a daemon does
			daemon.Advance(now)
		}
		now = sample.Time
		x, err := readers[drive].Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, now.Unix(), x.Time.Unix())
		if id := s.Drives[drive].ID; x.Probed() {
			daemon.Round(id, "read-4k", x.Round, x.Conditions)
		}
	}
	daemon.Advance(now)
	report := runFolder(t, dir)
	require.Equal(t, record.Severe, report.Drives[0].Verdict.Verdict)
	for _, d := range report.Drives {
		v, _ := daemon.Verdict(d.Drive)
		assert.Equal(t, v.Verdict, d.Verdict.Verdict, d.Drive)
		assert.Equal(t, v.Scope, d.Verdict.Scope, d.Drive)
		assert.Equal(t, v.Since.Unix(), time.Time(d.Verdict.Since).Unix(), d.Drive)
		assert.InDeltaSlice(t, []float64{v.Ratio.Ratio, v.Ratio.Lower, v.Ratio.Upper}, []float64{d.Verdict.Ratio, d.Verdict.Lower, d.Verdict.Upper}, 1e-4, d.Drive)
		assert.Equal(t, daemon.Tracker(d.Drive, "read-4k").Explain(now).Statistics, d.Now.Statistics, d.Drive)
	}
}
