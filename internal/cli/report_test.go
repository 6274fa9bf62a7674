package cli_test

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/compare"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// stored returns a run of one load, with a repeat for each of the IOPS.
func stored(firmware string, iops ...float64) record.RunReport {
	r := record.RunReport{
		Version: record.RunReportVersion, Suite: "concurrency", Target: "/dev/nvme0n1", TargetID: "eui.1", Node: "stor-07",
		Started: time.Date(2026, 5, 4, 11, 0, 0, 0, time.UTC), Conditions: record.Conditions{Firmware: firmware, Governor: "performance"},
	}
	for _, v := range iops {
		latency := time.Duration(float64(time.Second) / v)
		r.Steps = append(r.Steps, record.Step{
			Name: "random-read", Series: "random-read", Plan: "4 KiB random read, depth 1", InterruptsPerIO: -1,
			Read: &record.Result{
				IOs: 2000, Bytes: 2000 * 4096, IOPS: v, BytesPerSecond: v * 4096, Mean: latency,
				Latency: record.Histogram{{Latency: latency, Count: 2000}},
			},
		})
	}
	return r
}

func asFile(t *testing.T, name string, v any) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.JSON(&b, v))
	return file(t, name, b.String())
}

// inState saves a run as the daemon does, and returns the path of the file.
func inState(t *testing.T, r record.RunReport) string {
	t.Helper()
	s, err := state.Open(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, s.Save("runs", "concurrency eui.1 20260504T110000.000", r))
	files, err := filepath.Glob(filepath.Join(s.Dir(), "runs", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	return files[0]
}

func TestReportReadsWhatIsStored(t *testing.T) {
	r := stored("A1", 10_000)
	for name, path := range map[string]string{
		"document": asFile(t, "d.json", report.NewDocument(r, nil)), "report": asFile(t, "r.json", r), "state directory": inState(t, r),
	} {
		t.Run(name, func(t *testing.T) {
			got := in("report", path)
			assert.Equal(t, 0, got.code, got.stderr)
			assert.Contains(t, got.stdout, "concurrency on /dev/nvme0n1")
			assert.Contains(t, got.stdout, "10 000")

			page := in("report", path, "-o", "html")
			assert.Equal(t, 0, page.code, page.stderr)
			assert.True(t, strings.HasPrefix(page.stdout, "<!doctype html>"))
			assert.Contains(t, page.stdout, `aria-label="Latency by percentile"`)

			again := in("report", path, "-o", "json")
			assert.Equal(t, 0, again.code, again.stderr)
			assert.Equal(t, r.Steps, document(t, again).Report.Steps)
		})
	}
}

func TestReportOfSeveralFiles(t *testing.T) {
	a, b := asFile(t, "a.json", stored("A1", 10_000)), asFile(t, "b.json", stored("A2", 20_000))
	text := in("report", a, b)
	assert.Equal(t, 0, text.code, text.stderr)
	assert.Equal(t, 2, strings.Count(text.stdout, "concurrency on /dev/nvme0n1"))

	list := in("report", a, b, "-o", "json")
	var all []report.Document
	require.NoError(t, json.Unmarshal([]byte(list.stdout), &all))
	assert.Len(t, all, 2)
	joined := in("report", file(t, "list.json", list.stdout))
	assert.Equal(t, text.stdout, joined.stdout, "what report writes it reads")

	page := in("report", a, b, "-o", "html")
	assert.Equal(t, 2, strings.Count(page.stdout, "<article"))
}

// Figures as CSV have no place for a verdict, which is the reason of the exit code of a run.
func TestComparisonBesideCSV(t *testing.T) {
	before, after := stored("A1", 20_000), stored("A2", 10_000)
	d := asFile(t, "d.json", report.NewDocument(after, new(compare.Pair(before, after, 0.2))))
	text, csv := in("report", d), in("report", d, "-o", "csv")
	require.Contains(t, text.stdout, "slower")
	assert.NotContains(t, csv.stdout, "slower")
	require.NotEmpty(t, csv.stderr)
	assert.True(t, strings.HasSuffix(text.stdout, csv.stderr), csv.stderr)
}

// PowerShell saves the output of a program as UTF-16 with a byte order mark, and other programs of Windows put one before UTF-8.
func TestReportReadsWhatWindowsSaved(t *testing.T) {
	own, err := os.ReadFile(asFile(t, "a.json", stored("A1", 10_000)))
	require.NoError(t, err)
	fio, err := os.ReadFile("../../pkg/fio/testdata/fio-3.33-plain.json")
	require.NoError(t, err)
	for name, text := range map[string]string{"ssdprobe": string(own), "fio": string(fio)} {
		want := in("report", file(t, "as-is.json", text))
		require.Equal(t, 0, want.code, want.stderr)
		text = "\uFEFF" + text
		encode := func(order binary.ByteOrder) []byte {
			encoded, err := binary.Append(nil, order, utf16.Encode([]rune(text)))
			require.NoError(t, err)
			return encoded
		}
		for encoding, encoded := range map[string][]byte{
			"UTF-8":    []byte(text),
			"UTF-16LE": encode(binary.LittleEndian),
			"UTF-16BE": encode(binary.BigEndian),
		} {
			t.Run(name+" "+encoding, func(t *testing.T) {
				got := in("report", file(t, "saved.json", string(encoded)))
				assert.Equal(t, 0, got.code, got.stderr)
				assert.Equal(t, want.stdout, got.stdout)
			})
		}
	}
}

func TestReportReadsStandardInput(t *testing.T) {
	t.Parallel()
	path := asFile(t, "a.json", stored("A1", 10_000))
	c := testenv.Command(t, nil, "report", "-")
	input, err := os.Open(path)
	require.NoError(t, err)
	defer input.Close()
	c.Stdin = input
	out, err := c.Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "concurrency on /dev/nvme0n1")
}

// A run with a thousand repeats has thousands of steps with histograms, for which spaces stand here. What run writes can be read.
func TestReportOfALongRun(t *testing.T) {
	text, err := os.ReadFile(asFile(t, "a.json", stored("A1", 10_000)))
	require.NoError(t, err)
	got := in("report", file(t, "long.json", string(text)+strings.Repeat(" ", 150<<20)))
	assert.Equal(t, 0, got.code, got.stderr)
}

func TestReportRefuses(t *testing.T) {
	good := inState(t, stored("A1", 10_000))
	text, err := os.ReadFile(good)
	require.NoError(t, err)
	damaged := file(t, "damaged.json", strings.Replace(string(text), "A1", "A2", 1))
	for name, c := range map[string]struct{ path, says string }{
		"missing":         {"/no/such/file.json", "read /no/such/file.json: no such file or directory"},
		"a directory":     {t.TempDir(), "a directory without run.json: not a folder of ssdprobe run --folder"},
		"not JSON":        {file(t, "x.txt", "fio-3.33"), "not JSON"},
		"something else":  {file(t, "x.json", "{}"), "not a report of a run: it has no version, suite and steps; it can be the output of ssdprobe run"},
		"fio, for people": {file(t, "fio.txt", "a: (g=0): rw=read, bs=(R) 4096B-4096B\nfio-3.33\n"), "run fio with --output-format=json+"},
		"fio, cut off":    {file(t, "cut.json", "{\n  \"fio version\" : \"fio-3.33\",\n"), "cut.json: parse fio output: the JSON is cut off"},
		"damaged":         {damaged, "the checksum is"},
	} {
		t.Run(name, func(t *testing.T) {
			got := in("report", good, c.path)
			assert.Equal(t, 2, got.code)
			assert.Contains(t, got.stderr, c.says)
			assert.Empty(t, got.stdout)
		})
	}
	assert.Equal(t, 2, in("report").code)
	assert.Equal(t, 2, in("report", good, "-o", "pdf").code)
	assert.FileExists(t, good, "a report that is read stays where it is")
}

func TestCompare(t *testing.T) {
	before := asFile(t, "before.json", stored("A1", 10_000, 10_100, 9900, 9950))
	slower := asFile(t, "slower.json", stored("A2", 7000, 7100, 6900, 6950))
	same := inState(t, stored("A1", 10_050, 10_100, 9900, 9950))
	once := asFile(t, "once.json", stored("A1", 7000))

	got := in("compare", before, slower)
	assert.Equal(t, 3, got.code, got.stderr)
	assert.Empty(t, got.stderr)
	assert.Contains(t, got.stdout, "Compared with A: slower than it in 1 of 1 load")
	assert.Contains(t, got.stdout, "firmware A1 → A2")
	assert.Contains(t, got.stdout, "1.43×")

	got = in("compare", before, same)
	assert.Equal(t, 0, got.code, got.stdout)
	assert.Contains(t, got.stdout, "Compared with A: as fast as it")
	got = in("compare", before, once)
	assert.Equal(t, 0, got.code, got.stdout)
	assert.Contains(t, got.stdout, "inconclusive: repeat with --repeats 4: 1 of 1 load changed by more than 20 %")
	assert.Equal(t, 3, in("compare", before, same, slower).code, "one of several")
	assert.Equal(t, 0, in("compare", slower, before).code, "faster is fine")
	assert.Equal(t, 0, in("compare", before, slower, "--threshold", "50%").code)

	got = in("compare", before, slower, "-o", "csv")
	assert.Equal(t, 3, got.code, got.stderr)
	rows, err := csv.NewReader(strings.NewReader(got.stdout)).ReadAll()
	require.NoError(t, err)
	assert.Len(t, rows, 1+3)

	got = in("compare", before, slower, "-o", "markdown")
	assert.Equal(t, 3, got.code, got.stderr)
	assert.Contains(t, got.stdout, "# Comparison of 2 runs\n")
	assert.Contains(t, got.stdout, "B compared with A: slower than A in 1 of 1 load")
	assert.Contains(t, got.stdout, "| 1.43× |")

	got = in("compare", before, slower, "-o", "json")
	var all report.Comparisons
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &all))
	assert.Equal(t, record.Slower, all.Comparisons[0].Verdict)
}

func TestCompareRefuses(t *testing.T) {
	one := asFile(t, "one.json", stored("A1", 10_000))
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"one run":      {[]string{one}, 2, "name another file to compare it with"},
		"no file":      {nil, 2, "ssdprobe compare --help"},
		"threshold":    {[]string{one, one, "--threshold", "much"}, 2, "--threshold"},
		"no percent":   {[]string{one, one, "--threshold", "20"}, 2, `--threshold: "20" is more than 1 and has no %`},
		"any change":   {[]string{one, one, "--threshold", "0"}, 2, `--threshold: "0" is too small; want more than 0`},
		"missing file": {[]string{one, "/no/such/file"}, 2, "/no/such/file"},
		"no run":       {[]string{one, file(t, "x.json", "{}")}, 2, "not a report of a run"},
		"pdf":          {[]string{one, one, "-o", "pdf"}, 2, "want text, json, html, csv or markdown"},
	} {
		t.Run(name, func(t *testing.T) {
			got := in(append([]string{"compare"}, c.args...)...)
			assert.Equal(t, c.code, got.code)
			assert.Contains(t, got.stderr, c.says)
		})
	}
}

func TestRunWritesHTML(t *testing.T) {
	t.Parallel()
	got := ssdprobe(t, "run", "quick", "--config", calm(t), "--state-dir", t.TempDir(), "-t", testenv.OnDisk(t), "--size", "32MiB",
		"--set", "time=200ms", "-o", "html")
	require.Equal(t, 0, got.code, got.stderr)
	assert.True(t, strings.HasPrefix(got.stdout, "<!doctype html>"))
	assert.Contains(t, got.stdout, `aria-label="Histogram of latencies"`)
	assert.Contains(t, got.stdout, "random-read-qd32")
}

// Output of fio without ssdprobe is shown and compared, with a note that its conditions are unknown.
func TestReportAndCompareOfFiosOwnJSON(t *testing.T) {
	path := "../../pkg/fio/testdata/fio-3.33-plain.json"
	got := in("report", path)
	assert.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "187") // its p50 in microseconds
	assert.Contains(t, got.stdout, "(conditions_unknown)")
	page := in("report", path, "-o", "html")
	assert.Contains(t, page.stdout, "conditions_unknown")

	stored := asFile(t, "imported.json", document(t, in("report", path, "-o", "json")))
	got = in("compare", path, stored)
	assert.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "Whether the conditions are the same is unknown")
	assert.Contains(t, got.stdout, "(conditions_unknown)")
	assert.NotContains(t, got.stdout, "changed: ")
}
