package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/drift"
	"github.com/ssdprobe/ssdprobe/internal/drift/drifttest"
	"github.com/ssdprobe/ssdprobe/internal/judge"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// history writes a history of four days of a drive as CSV.
func history(t *testing.T, kind string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("time,latency_p50_seconds,latency_p95_seconds,latency_p99_seconds,iops,utilisation,conditions\n")
	for r := range (drifttest.Stream{Kind: kind, Noise: "quiet", Seed: 3, Days: 4}).Rounds() {
		fmt.Fprintf(&b, "%d,%.4e,%.4e,%.4e,%.1f,%.3f,firmware=%s\n", r.Time.Unix(),
			r.Values[0], r.Values[1], r.Values[2], r.Values[3], r.Utilisation, r.Conditions.Firmware)
	}
	return file(t, kind+".csv", b.String())
}

func TestDriftReplayOfAFile(t *testing.T) {
	slower := history(t, "step20")
	text := ssdprobe(t, "drift", "replay", slower)
	require.Equal(t, 0, text.code, text.stderr)
	assert.Contains(t, text.stdout, "5 760 rounds from 1970-01-01 00:00")
	assert.Regexp(t, `p50 +regressed since 1970-01-0\d \d\d:\d\d: 1\.\d\d×`, text.stdout)

	lines := in("drift", "replay", slower, "--output", "jsonl")
	require.Equal(t, 0, lines.code, lines.stderr)
	regressed := 0
	for line := range strings.Lines(lines.stdout) {
		var l struct {
			Time, Ratio, Since float64
			State              record.DriftState
		}
		require.NoError(t, json.Unmarshal([]byte(line), &l), line)
		if l.State == record.Regressed {
			regressed++
			assert.Greater(t, l.Time, l.Since)
			assert.Greater(t, l.Ratio, 1.1)
		}
	}
	assert.GreaterOrEqual(t, regressed, 4)

	whole := in("drift", "replay", slower, "--output", "json")
	require.Equal(t, 0, whole.code, whole.stderr)
	var r struct {
		Rounds  int
		Changes []map[string]any
		Drives  []struct{ Now drift.Explanation }
	}
	require.NoError(t, json.Unmarshal([]byte(whole.stdout), &r))
	assert.Equal(t, 5760, r.Rounds)
	assert.Len(t, r.Changes, strings.Count(lines.stdout, "\n"))
	assert.Equal(t, record.Final, r.Drives[0].Now.Maturity)

	deaf := in("drift", "replay", slower, "--smallest-effect", "40%", "--false-alarms", "0.1", "--threshold", "1", "--baseline-rounds", "200")
	assert.Equal(t, 0, deaf.code, deaf.stderr)
	assert.Contains(t, deaf.stdout, "Nothing has drifted.", "20 % is too small for it")
	deaf = in("drift", "replay", slower, "--config", file(t, "c.yaml", "drift: {smallest_effect: 40%, threshold: 1}"))
	assert.Contains(t, deaf.stdout, "Nothing has drifted.", "so it is by the configuration")
}

func TestDriftReplayOfANode(t *testing.T) {
	dir := t.TempDir()
	for name, kind := range map[string]string{"nvme0n1": "none", "nvme1n1": "none", "nvme2n1": "double", "nvme3n1": "none"} {
		data, err := os.ReadFile(history(t, kind))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".csv"), data, 0o600))
	}
	text := in("drift", "replay", dir)
	require.Equal(t, 0, text.code, text.stderr)
	assert.Contains(t, text.stdout, "23 040 rounds of 4 drives")
	assert.Regexp(t, `(?s)\nnvme2n1 +severe since .*\nnvme0n1 +healthy\n`, text.stdout, "the worst first")

	lines := in("drift", "replay", dir, "--output", "jsonl")
	require.Equal(t, 0, lines.code, lines.stderr)
	for line := range strings.Lines(lines.stdout) {
		var l struct{ Drive, Scope, State, Verdict string }
		require.NoError(t, json.Unmarshal([]byte(line), &l), line)
		assert.Equal(t, l.Drive == "", l.Scope == "host")
		assert.NotEmpty(t, l.State)
		if l.Verdict == "severe" {
			assert.Equal(t, "nvme2n1", l.Drive)
		}
	}
	assert.Contains(t, lines.stdout, `"verdict":"severe"`)
}

func TestDriftReplayFromPrometheus(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/prom/api/v1/query_range", r.URL.Path)
		user, password, _ := r.BasicAuth()
		assert.Equal(t, "me correct-horse", user+" "+password)
		asked = append(asked, r.FormValue("query"))
		values := ""
		if strings.Contains(r.FormValue("query"), "ssdprobe_probe_") {
			values = `{"metric": {"device": "nvme0n1"}, "values": [[600, "0.0001"], [660, "0.0001"]]}`
		}
		fmt.Fprintf(w, `{"status": "success", "data": {"resultType": "matrix", "result": [%s]}}`, values)
	}))
	defer server.Close()
	client := file(t, "client.yml", "basic_auth: {username: me, password_file: "+file(t, "password", "correct-horse")+"}\n")
	got := in("drift", "replay", "--prometheus", server.URL+"/prom", "--http.config.file", client, "--device", "nvme0n1", "--instance", "stor-07:10040", "--cluster", "east", "--probe", "read-128k",
		"--start", "1970-01-01T00:00:00Z", "--end", "3600", "--step", "30s", "--utilisation", "load")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "2 rounds from 1970-01-01 00:10 to 1970-01-01 00:11 UTC (1 min)")
	assert.Contains(t, strings.Join(asked, "\n"), `ssdprobe_probe_iops{device="nvme0n1",probe="read-128k",instance="stor-07:10040",cluster="east"}`)
	assert.Contains(t, asked, "load")
	assert.Contains(t, strings.Join(asked, "\n"), `ssdprobe_traffic_ios{device="nvme0n1",operation="read",instance="stor-07:10040",cluster="east"}`)
	server.Close()
	got = in("drift", "replay", "--prometheus", server.URL, "--device", "nvme0n1")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "connection refused")
}

// Thanos answers even while one of its stores is down. What is judged without the rest of the history may be wrong.
func TestDriftReplayOfAnIncompleteAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query, kind, result, warnings := r.FormValue("query"), "matrix", "", `["store b is away"]`
		switch {
		case strings.HasPrefix(query, "last_over_time("):
			kind, warnings = "vector", `["store c is away"]`
			result = `{"metric": {"instance": "a:1", "device": "nvme0n1", "id": "eui.1", "model": "X"}, "value": [3600, "1"]}`
		case strings.Contains(query, "ssdprobe_probe_"):
			result = `{"metric": {"device": "nvme0n1"}, "values": [[600, "0.0001"]]}`
		}
		fmt.Fprintf(w, `{"status": "success", "warnings": %s, "data": {"resultType": %q, "result": [%s]}}`, warnings, kind, result)
	}))
	defer server.Close()
	for _, form := range []string{"text", "json", "jsonl"} {
		got := in("drift", "replay", "--prometheus", server.URL, "--instance", "a:1", "--start", "0", "--end", "3600", "--output", form)
		require.Equal(t, 0, got.code, got.stderr)
		assert.Equal(t, "the answer may be incomplete: store b is away\nthe answer may be incomplete: store c is away\n", got.stderr, form)
	}
}

// What Prometheus does not have is not taken for a drive without drift, in whatever form that is printed.
func TestDriftReplayOfWhatPrometheusLacks(t *testing.T) {
	knows := false // the drive, but no round of it
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, result := "matrix", ""
		if strings.HasPrefix(r.FormValue("query"), "last_over_time(") {
			kind = "vector"
		}
		if knows && kind == "vector" {
			result = `{"metric": {"instance": "a:1", "device": "nvme0n1", "id": "eui.1", "model": "X"}, "value": [3600, "1"]}`
		}
		fmt.Fprintf(w, `{"status": "success", "data": {"resultType": %q, "result": [%s]}}`, kind, result)
	}))
	defer server.Close()
	replay := func(args ...string) done {
		return in(append([]string{"drift", "replay", "--prometheus", server.URL, "--start", "0", "--end", "3600"}, args...)...)
	}
	for _, form := range []string{"text", "json", "jsonl"} {
		got := replay("--device", "nosuch", "--output", form)
		assert.Equal(t, 2, got.code)
		assert.Empty(t, got.stdout)
		assert.Equal(t, "ssdprobe: read a history from prometheus: "+server.URL+" has no round of the probe read-4k and no traffic of nosuch"+
			" from 1970-01-01T00:00:00Z to 1970-01-01T01:00:00Z; see the labels device, id, instance and probe of ssdprobe_probe_iops\n", got.stderr)
	}
	knows = true
	got := replay("--instance", "a:1", "--probe", "read-5k")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "has no round of the probe read-5k and no traffic of a:1 from ")
}

// All drives of a node, and all of a model, are found by the labels of their metrics.
func TestDriftReplayOfDrivesThatPrometheusKnows(t *testing.T) {
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"status": "success", "data": {"resultType": "vector", "result": []}}`)
	}))
	defer empty.Close()
	for _, which := range [][2]string{{"--instance", "stor-07:10040"}, {"--model", "PM9A3"}} {
		got := in("drift", "replay", "--prometheus", empty.URL, which[0], which[1])
		assert.Equal(t, 2, got.code)
		assert.Contains(t, got.stderr, fmt.Sprintf("has no ssdprobe_device_info{%s=%q} from ", which[0][2:], which[1]))
	}

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query, kind, result := r.FormValue("query"), "matrix", ""
		switch {
		case strings.HasPrefix(query, "last_over_time(ssdprobe_device_info"):
			kind = "vector"
			for _, device := range []string{"nvme0n1", "nvme1n1"} {
				result += fmt.Sprintf(`,{"metric": {"instance": "a:1", "device": %q, "id": "eui.%s", "model": "X"}, "value": [3600, "1"]}`, device, device)
			}
		case strings.HasPrefix(query, "last_over_time("):
			kind = "vector"
		case strings.Contains(query, "ssdprobe_probe_"):
			result = `,{"metric": {"device": "nvme0n1"}, "values": [[600, "0.0001"], [660, "0.0001"]]}`
		}
		fmt.Fprintf(w, `{"status": "success", "data": {"resultType": %q, "result": [%s]}}`, kind, strings.TrimPrefix(result, ","))
	}))
	defer server.Close()
	got := in("drift", "replay", "--prometheus", server.URL, "--model", "X", "--start", "0", "--end", "3600")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "4 rounds of 2 drives")
	assert.Contains(t, got.stdout, "a:1 nvme1n1")
}

func TestDriftMistakes(t *testing.T) {
	good := file(t, "h.csv", "time,latency_p50_seconds,latency_p95_seconds,latency_p99_seconds,iops\n0,1e-4,1e-4,1e-4,1\n")
	disordered := file(t, "d.csv", "time,latency_p50_seconds,latency_p95_seconds,latency_p99_seconds,iops\n60,1e-4,1e-4,1e-4,1\n0,1e-4,1e-4,1e-4,1\n")
	state := learned(t)
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no such subcommand":  {[]string{"drift", "explian"}, 2, "did you mean explain?"},
		"nothing to replay":   {[]string{"drift", "replay"}, 2, "want a CSV file"},
		"a file and a server": {[]string{"drift", "replay", good, "--prometheus", "http://x"}, 2, "--prometheus: cannot be given with a file"},
		"parts of a file":     {[]string{"drift", "replay", good, "--start", "14d", "--device", "a"}, 2, "--device, --start: only for --prometheus; " + good + " is replayed as a whole"},
		"probe of a folder":   {[]string{"drift", "replay", filepath.Dir(good), "--probe", "a"}, 2, "--probe: only for --prometheus"},
		"a user for a file":   {[]string{"drift", "replay", good, "--http.config.file", "a"}, 2, "--http.config.file: only for --prometheus"},
		"no histories":        {[]string{"drift", "replay", t.TempDir()}, 2, "has no file whose name ends in .csv"},
		"no such file":        {[]string{"drift", "replay", "/no/such.csv"}, 2, "/no/such.csv"},
		"no such column":      {[]string{"drift", "replay", file(t, "x.csv", "time\n")}, 2, "the header lacks latency_p50_seconds"},
		"no rows":             {[]string{"drift", "replay", file(t, "x.csv", "time,latency_p50_seconds,latency_p95_seconds,latency_p99_seconds,iops\n")}, 2, "x.csv: the history holds no round"},
		"a bad line":          {[]string{"drift", "replay", file(t, "x.csv", "time,latency_p50_seconds,latency_p95_seconds,latency_p99_seconds,iops\nx,1,1,1,1\n")}, 2, "x.csv: line 2"},
		"back in time":        {[]string{"drift", "replay", disordered}, 2, disordered + `: line 3: time "0" is before the "60" of line 2; sort the rows by time`},
		"back in a folder":    {[]string{"drift", "replay", filepath.Dir(disordered)}, 2, disordered + ": line 3: "},
		"no drives":           {[]string{"drift", "replay", "--prometheus", "http://x"}, 2, "--prometheus: which drives? want --device, --instance"},
		"one and many":        {[]string{"drift", "replay", "--prometheus", "http://x", "--device", "a", "--model", "b"}, 2, "--model: cannot be given with --device"},
		"utilisation of many": {[]string{"drift", "replay", "--prometheus", "http://x", "--model", "b", "--utilisation", "x"}, 2, "--utilisation: applies to one drive"},
		"no time":             {[]string{"drift", "replay", "--prometheus", "http://x", "--device", "a", "--start", "soon", "--step", "0s"}, 2, `--start: "soon" is not a time`},
		"ends before":         {[]string{"drift", "replay", "--prometheus", "http://x", "--device", "a", "--start", "100", "--end", "50"}, 2, "it ends before it begins"},
		"wrong settings":      {[]string{"drift", "replay", good, "--smallest-effect", "much", "--false-alarms", "1%"}, 2, `--false-alarms: "1%" is not a number`},
		"out of range":        {[]string{"drift", "replay", good, "--smallest-effect", "0.001"}, 2, "drift.smallest_effect"},
		"no rounds":           {[]string{"drift", "replay", good, "--baseline-rounds", "0"}, 2, "drift.baseline_rounds: \"0\" is out of range; want 10 to 100000"},
		"an odd form":         {[]string{"drift", "replay", good, "-o", "xml"}, 2, "want text, json or jsonl"},
		"no note":             {[]string{"drift", "accept", "nvme0n1", "--note", " "}, 2, "--note: is missing"},
		"nothing to accept":   {[]string{"drift", "accept", "nvme0n1", "--probe", "read-128k", "--note", "x"}, 1, "ssdprobe drift explain nvme0n1"},
		"no such probe":       {[]string{"drift", "accept", "nvme0n1", "--probe", "x", "--note", "x"}, 2, "it has read-128k, read-4k"},
		"no such target":      {[]string{"drift", "accept", "nvme9n9", "--note", "x"}, 2, `a target "nvme9n9"`},
		"nothing to pin":      {[]string{"baseline", "pin", "nvme9n9"}, 2, `a target "nvme9n9"`},
		"explain nothing":     {[]string{"drift", "explain", "nvme9n9"}, 2, `a target "nvme9n9"`},
		"explain no probe":    {[]string{"drift", "explain", "nvme0n1", "--probe", "x"}, 2, "it has read-128k, read-4k"},
	} {
		t.Run(name, func(t *testing.T) {
			got := in(append(c.args, "--state-dir", state, "--config", file(t, "c.yaml", "listen: [127.0.0.1:1]"))...)
			assert.Equal(t, c.code, got.code, got.stderr)
			assert.Contains(t, got.stderr, c.says)
			assert.Empty(t, got.stdout)
		})
	}
}

// learned returns a state directory with a drive on which one probe has regressed.
func learned(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s, err := state.Open(dir)
	require.NoError(t, err)
	target := state.Target{
		ID: "eui.1", Path: "/dev/nvme0n1", Device: record.Device{ID: "eui.1", Name: "nvme0n1"}, Probes: map[string]drift.State{},
	}
	for name, kind := range map[string]string{"read-4k": "step20", "read-128k": "none"} {
		tracker := drift.NewTracker(drift.Default())
		for r := range (drifttest.Stream{Kind: kind, Noise: "quiet", Seed: 3, Days: 4}).Rounds() {
			tracker.AddRound(r.Round, r.Conditions)
		}
		target.Probes[name] = tracker.State()
	}
	require.NoError(t, s.SaveTarget(target))
	return dir
}

func TestDriftExplainAndAcceptWithoutADaemon(t *testing.T) {
	common := []string{"--state-dir", learned(t), "--config", file(t, "c.yaml", "listen: [127.0.0.1:1]")}
	run := func(args ...string) done { return in(append(args, common...)...) }

	text := run("drift", "explain", "nvme0n1")
	require.Equal(t, 0, text.code, text.stderr)
	assert.Contains(t, text.stderr, "no daemon answers at http://127.0.0.1:1; this is what was last stored")
	assert.Contains(t, text.stdout, "read-4k: final baseline of 1 440 rounds in 288 blocks")
	assert.Contains(t, text.stdout, "The level has moved: a CUSUM has reached its threshold")

	got := run("drift", "explain", "/dev/nvme0n1", "--probe", "read-4k", "--output", "json")
	require.Equal(t, 0, got.code, got.stderr)
	var x report.Explained
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &x))
	require.Len(t, x.Probes, 1)
	assert.Equal(t, record.Regressed, x.Probes[0].Statistics[0].State)
	assert.NotEmpty(t, x.Probes[0].Statistics[0].Evidence)

	nothing := run("drift", "explain", "nvme0n1", "--probe", "traffic")
	assert.Equal(t, 2, nothing.code)
	assert.Contains(t, nothing.stderr, "--probe: \"traffic\" does not run on /dev/nvme0n1; it has read-128k, read-4k")

	pinned := run("baseline", "pin", "nvme0n1", "--probe", "read-4k")
	require.Equal(t, 0, pinned.code, pinned.stderr)
	assert.Equal(t, "baseline of read-4k on /dev/nvme0n1 pinned\n", pinned.stderr)
	assert.Contains(t, run("baseline", "show").stdout, ", pinned")
	assert.Contains(t, run("drift").stdout, "read-4k: pinned final baseline of 1 440 rounds")
	for _, args := range [][]string{{"drift", "accept", "nvme0n1", "--note", "x"}, {"baseline", "reset", "nvme0n1"}} {
		refused := run(args...)
		assert.Equal(t, 1, refused.code)
		assert.Contains(t, refused.stderr, "the baseline is pinned; unpin it first")
	}
	require.Equal(t, 0, run("baseline", "unpin", "nvme0n1").code)

	accepted := run("drift", "accept", "nvme0n1", "--note", "moved to the slow slot")
	require.Equal(t, 0, accepted.code, accepted.stderr)
	assert.Regexp(t, `^level of /dev/nvme0n1 accepted \(read-4k p50 1\.\d+×, .*IOPS 1\.\d+×\)\n$`, accepted.stderr)
	text = run("drift", "explain", "nvme0n1")
	assert.Contains(t, text.stdout, "moved to the slow slot (accepted p50 1.")
	assert.NotContains(t, text.stdout, "regressed")
	assert.Equal(t, 1, run("drift", "accept", "nvme0n1", "--note", "again").code, "there is nothing left to accept")
}

// The daemon that was asked is the one that the state directory names, and not the one of the configuration.
func TestWhichDaemonDoesNotAnswer(t *testing.T) {
	stored, nothing := learned(t), t.TempDir()
	const asked = "http://127.0.0.1:2"
	for _, at := range []string{stored, nothing} {
		dir, err := state.Open(at)
		require.NoError(t, err)
		require.NoError(t, dir.Announce([]string{asked}))
	}
	for _, args := range [][]string{
		{"drift", "--state-dir", stored}, {"drift", "--state-dir", nothing},
		{"drift", "explain", "nvme0n1", "--state-dir", stored}, {"drift", "explain", "nvme0n1", "--state-dir", nothing},
	} {
		got := in(append(args, "--config", file(t, "c.yaml", "listen: [127.0.0.1:1]"))...)
		assert.Contains(t, got.stderr, "no daemon answers at "+asked, args)
		assert.NotContains(t, got.stderr, "127.0.0.1:1", args)
	}
}

// The reason of a refusal is that of the probe whose level is to become normal, and not those of probes that have none.
func TestAcceptIsRefusedForTheReasonThatCounts(t *testing.T) {
	at := learned(t)
	dir, err := state.Open(at)
	require.NoError(t, err)
	target, _, err := dir.Target("eui.1")
	require.NoError(t, err)
	tracker := drift.NewTracker(drift.Default())
	for r := range (drifttest.Stream{Kind: "double", Noise: "quiet", Seed: 3, Days: 4}).Rounds() {
		tracker.AddRound(r.Round, r.Conditions)
		if tracker.Drift()[0].State == record.Regressed {
			break
		}
	}
	target.Probes = map[string]drift.State{"read-128k": target.Probes["read-128k"], "read-4k": tracker.State(), "new": {}}
	require.NoError(t, dir.SaveTarget(target))
	accept := func(more ...string) done {
		return in(append([]string{"drift", "accept", "nvme0n1", "--note", "x", "--state-dir", at}, more...)...)
	}

	const moving = `^ssdprobe: accept the current level of eui\.1: p50: it has been [\d.]+ times slower .*: the level is moving; wait .* \(probe read-4k\)\n$`
	for _, more := range [][]string{nil, {"--probe", "read-4k"}} {
		refused := accept(more...)
		assert.Equal(t, 1, refused.code)
		assert.Regexp(t, moving, refused.stderr)
	}
	calm := accept("--probe", "read-128k")
	assert.Equal(t, 1, calm.code)
	assert.Equal(t, "ssdprobe: accept the current level of eui.1: no drift was found, so there is nothing to accept (probe read-128k); "+
		"ssdprobe drift explain nvme0n1 shows its state\n", calm.stderr)
}

// The stored state may be ten minutes old. While a daemon runs, only that says what a level allows.
func TestAcceptAsksTheDaemon(t *testing.T) {
	t.Parallel()
	w := watch(t)
	dir, err := state.Open(w.state)
	require.NoError(t, err)
	learn(t, dir, w.targets, 1, w.targets[1].ID, 3)
	w.daemon(t)
	eventually(t, "the drive is severe", func() bool { return w.check(t).code == 2 })
	target, _, err := dir.Target(w.targets[1].ID)
	require.NoError(t, err)
	other, _, err := dir.Target(w.targets[0].ID)
	require.NoError(t, err)
	target.Probes = other.Probes // which have not drifted
	require.NoError(t, dir.SaveTarget(target))
	got := ssdprobe(t, "drift", "accept", target.ID, "--note", "x", "--state-dir", w.state, "--config", w.config)
	assert.Regexp(t, `^(level of \S+/1 accepted|ssdprobe: the daemon refused: )`, got.stderr)
}

// slowNode stores a node with five drives of a model. The last one was slow from its first day; later the host
// made all of them slower.
func slowNode(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s, err := state.Open(dir)
	require.NoError(t, err)
	n := judge.NewNode(drift.Default())
	var now time.Time
	for minute := range 39 * 60 {
		now = time.Now().Add(time.Duration(minute-39*60) * time.Minute)
		for i := range 5 {
			id := fmt.Sprint("eui.", i)
			n.AddDrive(judge.Drive{ID: id, Model: "X", SizeBytes: 1 << 40})
			x := 80e-6 * (1 + 0.02*float64((minute*7+i*5)%17-8)/8)
			if i == 4 {
				x *= 1.4
			}
			if minute > 36*60 {
				x *= 1.3
			}
			n.Round(id, "read-4k", drift.Round{Time: now, Values: drift.Values{x, 1.3 * x, 1.8 * x, 1 / x}}, record.Conditions{})
		}
		n.Advance(now)
	}
	require.NoError(t, s.SaveNode(n.State(now)))
	for i := range 5 {
		id := fmt.Sprint("eui.", i)
		device := record.Device{ID: id, Name: fmt.Sprint("nvme", i, "n1"), Model: "X", SizeBytes: 1 << 40}
		require.NoError(t, s.SaveTarget(state.Target{
			ID: id, Path: "/dev/" + device.Name, Device: device, Probes: map[string]drift.State{"read-4k": n.Tracker(id, "read-4k").State()},
		}))
	}
	return dir
}

// Without a daemon, JSON says so as text does, and when the last round was.
func TestJSONSaysThatItIsStored(t *testing.T) {
	t.Parallel()
	at := slowNode(t)
	dir, err := state.Open(at)
	require.NoError(t, err)
	kept, _, err := dir.Node()
	require.NoError(t, err)
	learning, target := drift.NewTracker(drift.Default()), "eui.4"
	learning.AddRound(drift.Round{Time: time.Now(), Values: drift.Values{1, 2, 3, 4}}, record.Conditions{})
	known, _, err := dir.Target(target)
	require.NoError(t, err)
	known.Probes["new"] = learning.State()
	require.NoError(t, dir.SaveTarget(known))
	for _, args := range [][]string{{"drift"}, {"drift", "explain", target}, {"baseline", "show"}} {
		got := in(append(args, "--output", "json", "--state-dir", at, "--config", file(t, "c.yaml", "listen: [127.0.0.1:1]"))...)
		require.Equal(t, 0, got.code, got.stderr)
		var says struct {
			Stored    bool      `json:"stored"`
			LastRound time.Time `json:"last_round"`
		}
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &says))
		assert.NotContains(t, got.stdout, `"0001-`, "a time that is not known is absent: %v", args)
		if args[0] == "drift" {
			assert.True(t, says.Stored, args)
			assert.WithinDuration(t, kept.LastRound(), says.LastRound, 0, args)
		}
	}
}

// Findings about a drive compared with its peers, and about the host, can be accepted like those about the
// drive's own past.
func TestAcceptOfWhatTheNodeKnows(t *testing.T) {
	dir := slowNode(t)
	common := []string{"--state-dir", dir, "--config", file(t, "c.yaml", "listen: [127.0.0.1:1]")}
	run := func(args ...string) done { return in(append(args, common...)...) }
	explained := func() string {
		x := run("drift", "explain", "nvme4n1")
		require.Equal(t, 0, x.code, x.stderr)
		assert.Contains(t, x.stdout, "\nverdict: ", "as drift shows it")
		assert.Regexp(t, `stored in \S+; the last round was (now|\d+ \w+ ago)\n$`, x.stderr)
		return x.stdout
	}
	require.Contains(t, explained(), "far slower since")
	require.Contains(t, explained(), "host: 5 of 5 drives, this one included, are slower since")

	level := run("drift", "accept", "nvme4n1", "--note", "the slow slot")
	require.Equal(t, 0, level.code, level.stderr)
	assert.Regexp(t, `^level of /dev/nvme4n1 accepted \(read-4k p50 1\.[34]\d×\)\n$`, level.stderr)
	assert.NotContains(t, explained(), "far slower since")
	assert.Regexp(t, `1\.[34]\d× was accepted: the slow slot`, explained())
	again := run("drift", "accept", "nvme4n1", "--note", "again")
	assert.Equal(t, 1, again.code)
	assert.Contains(t, again.stderr, "no drift was found")

	host := run("drift", "accept", "--host", "--note", "powersave is wanted")
	require.Equal(t, 0, host.code, host.stderr)
	assert.Regexp(t, `^level of the host accepted \(read-4k p50 1\.(29|3\d)×, .*\)\n$`, host.stderr)
	assert.NotContains(t, explained(), "host: 5 of 5")
	assert.Regexp(t, `note of .* on the host: powersave is wanted \(accepted p50 1\.`, explained())
	again = run("drift", "accept", "--host", "--note", "again")
	assert.Equal(t, 1, again.code)
	assert.Contains(t, again.stderr, "no drift was found")

	for want, args := range map[string][]string{
		"leave out nvme0n1":                        {"--host", "nvme0n1", "--note", "x"},
		"leave out --probe":                        {"--host", "--probe", "read-4k", "--note", "x"},
		"leave out --probe and --change":           {"--host", "--change", "kernel", "--note", "x"},
		"or --host":                                {"--note", "x"},
		"--note: is missing":                       {"--host"},
		`"kernl" is unknown; did you mean kernel?`: {"--change", "kernl", "--note", "x"},
	} {
		refused := run(append([]string{"drift", "accept"}, args...)...)
		assert.Equal(t, 2, refused.code, args)
		assert.Contains(t, refused.stderr, want)
	}
}

func TestDriftOfARunningDaemon(t *testing.T) {
	t.Parallel()
	state, dir := testenv.OnDisk(t), testenv.OnDisk(t)
	config := file(t, "c.yaml", onFile(dir)+"drift: {baseline_rounds: 10}\n")
	p, url := startDaemon(t, state, config)
	eventually(t, "a baseline", func() bool { return hasBaseline(t, url) })

	got := ssdprobe(t, "drift", "explain", dir, "--probe", "read-4k", "--url", url)
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "\nverdict: ")
	assert.Contains(t, got.stdout, "read-4k: early baseline of 10 rounds")
	assert.Empty(t, got.stderr)
	unknown := ssdprobe(t, "drift", "explain", "nvme9n9", "--url", url)
	assert.Equal(t, 2, unknown.code)
	assert.Contains(t, unknown.stderr, `watches no target "nvme9n9"; want one of `+dir+"\n")
	unknown = ssdprobe(t, "drift", "explain", "nvme9n9", "--state-dir", state)
	assert.Contains(t, unknown.stderr, `watches no target "nvme9n9"; want one of `+dir+"\n")

	calm := ssdprobe(t, "drift", "accept", dir, "--note", "x", "--state-dir", state)
	assert.Equal(t, 1, calm.code)
	assert.Contains(t, calm.stderr, "no drift was found")

	pinned := ssdprobe(t, "baseline", "pin", dir, "--probe", "read-4k", "--state-dir", state)
	require.Equal(t, 0, pinned.code, pinned.stderr)
	assert.Regexp(t, `^baseline of read-4k on \S+ pinned\n$`, pinned.stderr)
	p.Stderr.Find(t, `request carried out.*asked="pin baselines"`)
	pinned = ssdprobe(t, "baseline", "pin", dir, "--state-dir", state)
	require.Equal(t, 0, pinned.code, pinned.stderr)
	assert.Regexp(t, `^baselines of \S+ pinned: (\S+, )*read-4k\b`, pinned.stderr)
	shows := func(text string) func() bool {
		return func() bool { return strings.Contains(ssdprobe(t, "drift", "--url", url).stdout, text) }
	}
	eventually(t, "it is shown", shows("read-4k: pinned early baseline"))

	// A new drift configuration takes effect without losing what was learned.
	require.NoError(t, os.WriteFile(config, []byte(onFile(dir)+"drift: {baseline_rounds: 10, smallest_effect: 20%, false_alarms_per_device_year: 1}\n"), 0o600))
	p.Signal(t, syscall.SIGHUP)
	p.Stderr.Find(t, `configuration reloaded" changed="drift.smallest_effect: 0.08 → 0.2, drift.false`)
	p.Stderr.Find(t, `(?s)configuration reloaded.*no longer watching.*watching`)
	eventually(t, "it is still there", shows("read-4k: pinned early baseline"))
	p.Signal(t, syscall.SIGTERM)
	require.Equal(t, 0, p.Wait(t))
	saved, err := filepath.Glob(filepath.Join(state, "targets", "*.json"))
	require.NoError(t, err)
	require.Len(t, saved, 1)
	assert.WithinDuration(t, time.Now(), modified(t, saved[0]), time.Minute)
}

func modified(t *testing.T, path string) time.Time {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.ModTime()
}
