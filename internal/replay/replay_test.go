package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/replay"
)

var update = flag.Bool("update", false, "rewrite the expected outputs")

const header = "time,latency_p50_seconds,latency_p95_seconds,latency_p99_seconds,iops,utilisation,conditions\n"

// history writes a stream as CSV.
func history(s drifttest.Stream) string {
	var b strings.Builder
	b.WriteString(header)
	for r := range s.Rounds() {
		fmt.Fprintf(&b, "%d,%.3e,%.3e,%.3e,%.1f,%.3f,fw=%s\n", r.Time.Unix(),
			r.Values[0], r.Values[1], r.Values[2], r.Values[3], r.Utilisation, r.Conditions.Firmware)
	}
	return b.String()
}

func run(t *testing.T, csv string, emit func(replay.Line) error) *replay.Report {
	t.Helper()
	r, err := replay.NewReader("h.csv", strings.NewReader(csv))
	require.NoError(t, err)
	report, err := replay.Run(t.Context(), "d", r, drift.Default(), emit)
	require.NoError(t, err)
	return report
}

// golden compares got with a file, or writes the file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
}

func TestGoldenReplays(t *testing.T) {
	for _, kind := range []string{"none", "step20", "firmware", "transient"} {
		t.Run(kind, func(t *testing.T) {
			csv := history(drifttest.Stream{Kind: kind, Noise: "diurnal", Seed: 3, Days: 4})
			report := run(t, csv, nil)
			var text bytes.Buffer
			require.NoError(t, report.Text(&text))
			golden(t, kind+".txt", text.Bytes())

			var lines bytes.Buffer
			out := json.NewEncoder(&lines)
			streamed := run(t, csv, func(l replay.Line) error { return out.Encode(l) })
			golden(t, kind+".jsonl", lines.Bytes())
			assert.Empty(t, streamed.Lines, "what was emitted is not kept")
			assert.Equal(t, report.Drives[0].Now, streamed.Drives[0].Now)
		})
	}
}

func TestEmptyHistory(t *testing.T) {
	r, err := replay.NewReader("h.csv", strings.NewReader(header))
	require.NoError(t, err)
	_, err = replay.Run(t.Context(), "d", r, drift.Default(), nil)
	require.ErrorIs(t, err, replay.ErrEmpty)
}

// A history that is too short for a verdict has none that was told at a time.
func TestAVerdictThatWasNeverToldHasNoTime(t *testing.T) {
	text, err := json.Marshal(run(t, header+"0,1e-4,1e-4,1e-4,9000,,\n", nil).Drives[0].Verdict)
	require.NoError(t, err)
	assert.JSONEq(t, `{"drive": "d", "scope": "drive", "verdict": "unknown", "state": "unknown"}`, string(text))
}

func TestRunStopsWhenToldTo(t *testing.T) {
	csv := history(drifttest.Stream{Kind: "none", Noise: "quiet", Seed: 1, Days: 1})
	r, err := replay.NewReader("h.csv", strings.NewReader(csv))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = replay.Run(ctx, "d", r, drift.Settings{}, nil)
	require.ErrorIs(t, err, context.Canceled)

	r, err = replay.NewReader("h.csv", strings.NewReader(csv))
	require.NoError(t, err)
	full := errors.New("disk full")
	_, err = replay.Run(t.Context(), "d", r, drift.Settings{}, func(replay.Line) error { return full })
	require.ErrorIs(t, err, full)
}

func TestReaderTakesColumnsInAnyOrder(t *testing.T) {
	r, err := replay.NewReader("h.csv", strings.NewReader(
		"iops,note,time,latency_p99_seconds,latency_p95_seconds,latency_p50_seconds,conditions\n"+
			"9000,x,2026-01-02T03:04:05Z,0.0003,0.0002,0.0001,firmware=A;kernel=6.12\n"+
			"9000,,1767323106.25,3e-4,2e-4,1e-4,nvme cli run\n"))
	require.NoError(t, err)
	got, err := r.Next(t.Context())
	require.NoError(t, err)
	assert.Equal(t, replay.Sample{
		Round: drift.Round{
			Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Values: drift.Values{1e-4, 2e-4, 3e-4, 9000}, Utilisation: -1,
		},
		Conditions: record.Conditions{Firmware: "A", Kernel: "6.12"},
	}, got)
	got, err = r.Next(t.Context())
	require.NoError(t, err)
	assert.Equal(t, time.Date(2026, 1, 2, 3, 5, 6, 250e6, time.UTC), got.Time)
	assert.Equal(t, record.Conditions{Engine: "nvme cli run"}, got.Conditions)
	_, err = r.Next(t.Context())
	require.ErrorIs(t, err, io.EOF)
}

func TestReaderTakesTrafficAndRefusedRounds(t *testing.T) {
	r, err := replay.NewReader("h.csv", strings.NewReader(
		"time,latency_p50_seconds,latency_p95_seconds,latency_p99_seconds,iops,utilisation,others_read_iops,others_read_bytes_per_second,others_read_latency_seconds,in_flight\n"+
			"0,,,,,0.95,4000,16384000,2e-4,0.8\n"+
			"60,1e-4,2e-4,3e-4,9000,0,,,,\n"))
	require.NoError(t, err)
	got, err := r.Next(t.Context())
	require.NoError(t, err)
	assert.Equal(t, replay.Sample{
		Round: drift.Round{
			Time: time.Unix(0, 0).UTC(), Utilisation: 0.95, Work: drift.Work{Known: true, Reads: 4000, ReadBytes: 16384000},
		},
		Traffic: replay.Traffic{ReadLatency: 2e-4, InFlight: 0.8},
	}, got)
	assert.False(t, got.Probed())
	got, err = r.Next(t.Context())
	require.NoError(t, err)
	assert.True(t, got.Probed())
	assert.False(t, got.Work.Known)
	assert.False(t, got.Traffic.Known())

	_, err = replay.NewReader("h.csv", strings.NewReader("time,others_write_latency_seconds\n"))
	require.NoError(t, err, "traffic alone is enough")
}

func TestReaderSaysWhatIsWrongAndWhere(t *testing.T) {
	good := "0,1e-4,1e-4,1e-4,9000,0.1,\n"
	for name, tt := range map[string]struct{ csv, want string }{
		"nothing":           {"", "read a history: h.csv: it is empty; want a header line"},
		"no columns":        {"time,iops\n", "read a history: h.csv: the header lacks latency_p50_seconds, latency_p95_seconds, latency_p99_seconds"},
		"twice":             {"time,time\n", `read a history: h.csv: the header names "time" twice`},
		"a word":            {header + good + "60,fast,1e-4,1e-4,9000,0.1,\n", `read a history: h.csv: line 3: latency_p50_seconds "fast": want a number above 0, at most 1e+12`},
		"zero":              {header + "60,1e-4,1e-4,1e-4,0,0.1,\n", `read a history: h.csv: line 2: iops "0": want a number above 0, at most 1e+12`},
		"not a number":      {header + "60,NaN,1e-4,1e-4,1,0.1,\n", `read a history: h.csv: line 2: latency_p50_seconds "NaN": want a number above 0, at most 1e+12`},
		"beyond all drives": {header + "60,1e-4,1e-4,1e13,1,0.1,\n", `read a history: h.csv: line 2: latency_p99_seconds "1e13": want a number above 0, at most 1e+12`},
		"others beyond":     {"time,others_read_latency_seconds\n60,1e13\n", `read a history: h.csv: line 2: others_read_latency_seconds "1e13": want a number of 0 or more, at most 1e+12, or nothing when not known`},
		"percent":           {header + "60,1e-4,1e-4,1e-4,1,55,\n", `read a history: h.csv: line 2: utilisation "55": want a share of 0 to 1, or nothing when not known`},
		"yesterday":         {header + "yesterday,1e-4,1e-4,1e-4,1,0.1,\n", `read a history: h.csv: line 2: time "yesterday": want unix seconds or RFC 3339`},
		"half a round":      {header + "60,1e-4,,1e-4,1,0.1,\n", `read a history: h.csv: line 2: latency_p95_seconds "": want a number above 0, at most 1e+12`},
		"less than nothing": {"time,others_read_latency_seconds\n60,-1\n", `read a history: h.csv: line 2: others_read_latency_seconds "-1": want a number of 0 or more, at most 1e+12, or nothing when not known`},
		"a short line":      {header + "60,1e-4\n", "read a history: h.csv: record on line 2: wrong number of fields"},
		"a stray quote":     {header + "60,\"1e-4,1e-4,1e-4,1,0.1,\n", `read a history: h.csv: parse error on line 2, column 27: extraneous or missing " in quoted-field`},
		"back in time": {
			header + good + "120,1e-4,1e-4,1e-4,9000,0.1,\n1970-01-01T00:01:00Z,1e-4,1e-4,1e-4,9000,0.1,\n",
			`read a history: h.csv: line 4: time "1970-01-01T00:01:00Z" is before the "120" of line 3; sort the rows by time, the earliest first`,
		},
		"far in the future": {header + "1e300,1e-4,1e-4,1e-4,1,0.1,\n", `read a history: h.csv: line 2: time "1e300": want unix seconds or RFC 3339`},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := replay.NewReader("h.csv", strings.NewReader(tt.csv))
			for err == nil {
				_, err = r.Next(t.Context())
			}
			require.EqualError(t, err, tt.want)
			require.ErrorIs(t, err, replay.ErrHistory)
		})
	}
}

// A round and the traffic beside it may have rows of their own.
func TestReaderTakesRowsOfOneTime(t *testing.T) {
	r, err := replay.NewReader("h.csv", strings.NewReader(header+"60,1e-4,1e-4,1e-4,9000,0.1,\n60,,,,,0.1,\n"))
	require.NoError(t, err)
	for range 2 {
		_, err = r.Next(t.Context())
		require.NoError(t, err)
	}
}

// A file that cannot be read to its end is not a wrong history.
func TestReaderThatFails(t *testing.T) {
	broken := errors.New("input/output error")
	r, err := replay.NewReader("h.csv", io.MultiReader(strings.NewReader(header), iotest.ErrReader(broken)))
	require.NoError(t, err)
	_, err = r.Next(t.Context())
	require.ErrorIs(t, err, broken)
	require.NotErrorIs(t, err, replay.ErrHistory)
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(history(drifttest.Stream{Kind: "firmware", Noise: "quiet", Seed: 1, Days: 0.02})))
	f.Add([]byte(header + "0,1,1,1,1,,\n-1,1,1,1,1,,\n"))
	f.Add([]byte(header + "9e11,1,1,1,1,,\"a\nb\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := replay.NewReader("h.csv", bytes.NewReader(data))
		if err != nil {
			return
		}
		report, err := replay.Run(t.Context(), "d", r, drift.Settings{BaselineRounds: 3}, nil)
		if err != nil {
			return
		}
		require.NoError(t, report.Text(io.Discard))
		_, err = json.Marshal(report)
		require.NoError(t, err)
	})
}

// The verdict on a drive names the change of conditions that came with it, as the daemon does.
func TestAVerdictNamesWhatChanged(t *testing.T) {
	stream := drifttest.Stream{Kind: "double", Noise: "quiet", Seed: 3, Days: 4}
	onset := drifttest.Start().Add(stream.Label().Onset)
	var csv strings.Builder
	csv.WriteString(header)
	for r := range stream.Rounds() {
		firmware := "A"
		if !r.Time.Before(onset) {
			firmware = "B"
		}
		fmt.Fprintf(&csv, "%d,%.3e,%.3e,%.3e,%.1f,%.3f,fw=%s\n", r.Time.Unix(), r.Values[0], r.Values[1], r.Values[2], r.Values[3], r.Utilisation, firmware)
	}
	report := run(t, csv.String(), nil)
	i := slices.IndexFunc(report.Lines, func(l replay.Line) bool { return l.Statistic == "" && l.Verdict.Blames() })
	require.GreaterOrEqual(t, i, 0)
	assert.Equal(t, []record.Change{{Condition: "firmware", From: "A", To: "B"}}, report.Lines[i].Attribution)
	var text bytes.Buffer
	require.NoError(t, report.Text(&text))
	said := strings.Join(strings.Fields(text.String()), " ")
	assert.Regexp(t, ` drive (degraded|severe) since .*, by its probes, changed with it: firmware A → B `, said)
}
