package fioimport_test

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/compare"
	"github.com/ssdprobe/ssdprobe/internal/fioimport"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// output returns what a real fio prints for options, on a file of random data.
func output(t *testing.T, options ...string) []byte {
	t.Helper()
	testenv.Installed(t, "fio")
	c := exec.CommandContext(t.Context(), "fio", append([]string{
		"--name=old", "--filename=" + dataFile(t), "--size=4m", "--allow_file_create=0",
	}, options...)...)
	c.Dir = t.TempDir()
	text, err := c.Output()
	require.NoError(t, err, string(text))
	return text
}

func dataFile(t *testing.T) string {
	t.Helper()
	data := make([]byte, 4<<20)
	_, err := rand.Read(data)
	require.NoError(t, err)
	name := filepath.Join(testenv.OnDisk(t), "data")
	require.NoError(t, os.WriteFile(name, data, 0o600))
	return name
}

func parse(t *testing.T, text []byte) record.RunReport {
	t.Helper()
	require.True(t, fioimport.Is(text))
	r, err := fioimport.Parse(text)
	require.NoError(t, err)
	return r
}

func captured(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../pkg/fio/testdata", name))
	require.NoError(t, err)
	return text
}

// Percentiles are those that fio printed; others are unknown.
func TestParseWithoutBins(t *testing.T) {
	text := output(t, "--rw=randread", "--bs=4k", "--iodepth=8", "--ioengine=libaio", "--direct=1", "--number_ios=500",
		"--output-format=json", "--percentile_list=50:99")
	out, err := fio.ParseOutput(bytes.NewReader(text))
	require.NoError(t, err)
	want := out.Jobs[0].Read

	r := parse(t, text)
	require.Len(t, r.Steps, 1)
	got := r.Steps[0].Read
	assert.Equal(t, int64(500), got.Samples())
	assert.Equal(t, want.Completion.Percentiles[0].Latency, got.Quantile(0.5))
	assert.Equal(t, want.Completion.Percentiles[1].Latency, got.Quantile(0.99))
	assert.Zero(t, got.Quantile(0.95), "never guessed")
	assert.Empty(t, got.Latency)
	assert.Equal(t, []time.Duration{want.Completion.Min, want.Completion.Mean, want.Completion.Max}, []time.Duration{got.Min, got.Mean, got.Max})
	assert.InEpsilon(t, want.IOPS, got.IOPS, 1e-9)

	assert.Equal(t, "4 KiB random read, depth 8", r.Steps[0].Plan)
	assert.Equal(t, &record.Workload{Direction: record.Read, Pattern: record.Random, BlockBytes: 4096, QueueDepth: 8, Jobs: 1, Engine: "libaio"}, r.Steps[0].Workload)
	assert.Equal(t, out.Version.String()+" libaio", r.Conditions.Engine)
	require.Len(t, r.Warnings, 1)
	assert.Equal(t, record.WarnConditionsUnknown, r.Warnings[0].Code)
	assert.Contains(t, r.Warnings[0].Text, "(clat)")
}

// Percentiles of several jobs cannot be merged. fio merges those of a group itself, and bins can
// always be merged.
func TestParseOfSeveralJobs(t *testing.T) {
	load := []string{"--rw=randread", "--bs=4k", "--direct=1", "--number_ios=300", "--numjobs=3"}
	single := parse(t, output(t, append(load, "--output-format=json")...)).Steps
	require.Len(t, single, 1)
	assert.Zero(t, single[0].Read.Quantile(0.5))
	assert.Positive(t, single[0].Read.Mean)

	group := parse(t, output(t, append(load, "--output-format=json", "--group_reporting")...)).Steps
	assert.Positive(t, group[0].Read.Quantile(0.5))

	bins := parse(t, output(t, append(load, "--output-format=json+", "--lat_percentiles=1")...))
	assert.Equal(t, int64(900), bins.Steps[0].Read.Latency.Count())
	assert.NotContains(t, bins.Warnings[0].Text, "clat")
	for _, steps := range [][]record.Step{single, group, bins.Steps} {
		assert.Equal(t, "4 KiB random read, depth 1, 3 jobs", steps[0].Plan)
		assert.Equal(t, int64(900), steps[0].Read.IOs)
	}
}

// The same jobs on several hosts are steps of each of them, and not one load on one drive.
func TestParseOfClients(t *testing.T) {
	r := parse(t, captured(t, "fio-3.33-clients.json"))
	var names []string
	for _, s := range r.Steps {
		names = append(names, s.Name)
		require.NotNil(t, s.Read)
	}
	assert.Equal(t, []string{
		"small on 127.0.0.1:18765", "large on 127.0.0.1:18765", "small on 127.0.0.1:18766", "large on 127.0.0.1:18766",
	}, names)
	assert.Equal(t, int64(60), r.Steps[0].Read.IOs)
	assert.NotEqual(t, r.Steps[0].Plan, r.Steps[2].Plan)
	assert.Equal(t, "127.0.0.1:18765, 127.0.0.1:18766", r.Target)
}

// What a group's options do not say is not inferred from its first section.
func TestParseOfALoadThatIsNotKnown(t *testing.T) {
	for name, options := range map[string][]string{
		"sizes":       {"--rw=randread", "--bssplit=4k/50:8k/50"},
		"a rate":      {"--rw=randread", "--bs=4k", "--rate_iops=100000"},
		"two in one":  {"--rw=randread", "--bs=4k", "--group_reporting", "--name=new", "--rw=randread", "--bs=16k", "--filename=" + dataFile(t), "--size=4m", "--number_ios=100"},
		"other sizes": {"--rw=randrw", "--bs=4k,8k"},
	} {
		t.Run(name, func(t *testing.T) {
			r := parse(t, output(t, append([]string{"--output-format=json", "--number_ios=100"}, options...)...))
			require.NotEmpty(t, r.Steps)
			assert.Nil(t, r.Steps[0].Workload)
			if name == "two in one" {
				assert.Regexp(t, `^4 KiB random read, .* \+ 16 KiB random read, `, r.Steps[0].Plan, "each is named")
			} else {
				assert.Contains(t, r.Steps[0].Plan, "fio job rw=rand")
			}
		})
	}
	buffered := parse(t, output(t, "--output-format=json", "--rw=read", "--bs=64k")).Steps[0]
	assert.True(t, buffered.Workload.Buffered)
	assert.Equal(t, "64 KiB sequential read, depth 1, page cache", buffered.Plan)
}

// Older versions lack fields that later ones have.
func TestParseOfOlderVersions(t *testing.T) {
	text := captured(t, "fio-3.33-plain.json")
	now := parse(t, text)
	for _, field := range []string{"N", "bw_bytes", "job_runtime", "elapsed"} {
		text = regexp.MustCompile(`,\s*"`+field+`" : \d+`).ReplaceAll(text, nil)
	}
	text = bytes.Replace(text, []byte("fio-3.33"), []byte("fio-3.1"), 1)
	text = bytes.Replace(text, []byte(`"99.990000"`), []byte(`"0.00" : 0, "0.00" : 0, "99.990000"`), 1)
	then := parse(t, text)
	assert.Equal(t, "fio-3.1", then.Engine)
	was, is := *then.Steps[0].Read, *now.Steps[0].Read
	assert.InEpsilon(t, is.BytesPerSecond, was.BytesPerSecond, 1e-3)
	was.BytesPerSecond, is.BytesPerSecond = 0, 0
	assert.Equal(t, is, was)
}

func TestParseTakesWarningsBeforeTheJSON(t *testing.T) {
	r := parse(t, captured(t, "fio-3.33-error-einval.json"))
	assert.Equal(t, record.WarnErrors, r.Steps[0].Warnings[0].Code)
	assert.Contains(t, r.Steps[0].Warnings[0].Text, "EINVAL")
}

func TestParseRefuses(t *testing.T) {
	plain := string(captured(t, "fio-3.33-plain.json"))
	for name, c := range map[string]struct{ text, says string }{
		"reads with writes": {string(captured(t, "fio-3.33-unified-mixed.json")), "unified_rw_reporting=mixed"},
		"several reports":   {string(captured(t, "fio-3.33-status-interval.json")), "--status-interval"},
		"cut off":           {plain[:len(plain)/2], "cut off"},
		"other units":       {strings.Replace(plain, "fio-3.33", "fio-2.21", 1), "fio version is fio-2.21: the figures of versions before 3.0 have other units"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fioimport.Parse([]byte(c.text))
			assert.ErrorContains(t, err, c.says)
		})
	}
	assert.False(t, fioimport.Is([]byte(`{"version":2,"suite":"a","steps":[{"job_file":"{\"fio version\" : 1}"}]}`)))
	assert.True(t, fioimport.IsForPeople(output(t, "--rw=read", "--bs=64k")))
	assert.False(t, fioimport.IsForPeople([]byte(plain)))
}

// An old result is compared with a run of ssdprobe by workload, because the names differ.
func TestImportedRunsAreCompared(t *testing.T) {
	old := parse(t, output(t, "--rw=randread", "--bs=4k", "--ioengine=libaio", "--direct=1", "--time_based", "--runtime=200ms", "--output-format=json"))
	now := old
	now.Suite, now.TargetID, now.Conditions = "quick", "eui.1", record.Conditions{Firmware: "A", Engine: old.Conditions.Engine}
	now.Warnings, now.Node, now.Analysis = nil, "stor-07", nil
	step := old.Steps[0]
	step.Name = "random-read-qd1"
	now.Steps = []record.Step{step}
	c := compare.Pair(old, now, 0.2)
	require.Len(t, c.Loads, 1)
	assert.Equal(t, "random-read-qd1", c.Loads[0].Load)
	assert.Equal(t, record.Same, c.Verdict)
	assert.Equal(t, record.WarnConditionsUnknown, c.Warnings[0].Code)
	assert.Empty(t, c.Conditions, "what is not known has not changed")

	step.Name = "another"
	old.Steps = append(old.Steps, step)
	old.Steps[0].Name = "first"
	assert.Empty(t, compare.Pair(old, now, 0.2).Loads, "which of two is meant is not guessed")
}

// Whatever a file contains, it is refused or can be shown.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"fio-3.33-plain.json", "fio-3.33-stonewall-sync.json", "fio-3.33-continue-on-error.json", "fio-3.33-unified-both.json"} {
		f.Add(captured(f, name))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := fioimport.Parse(text)
		if err != nil {
			return
		}
		require.NotEmpty(t, r.Steps)
		assert.Equal(t, record.WarnConditionsUnknown, r.Warnings[0].Code)
		for _, s := range r.Steps {
			for _, result := range []*record.Result{s.Read, s.Write} {
				if result != nil && len(result.Latency) == 0 {
					for _, p := range result.Percentiles {
						assert.True(t, p.Rank > 0 && p.Rank <= 1)
					}
				}
			}
		}
		compare.Pair(r, r, 0.2)
	})
}
