package fio_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return data
}

func parse(t *testing.T, name string) fio.Output {
	t.Helper()
	out, err := fio.ParseOutput(bytes.NewReader(read(t, name)))
	require.NoError(t, err)
	return out
}

// withoutBins removes the distributions, which other tests compare.
func withoutBins(out fio.Output) fio.Output {
	for _, latency := range latencies(out) {
		latency.Percentiles, latency.Histogram = nil, nil
	}
	return out
}

func latencies(out fio.Output) []*fio.Latency {
	var all []*fio.Latency
	for _, job := range out.Jobs {
		for _, d := range []*fio.Direction{job.Read, job.Write, job.Trim, job.Mixed} {
			if d != nil {
				all = append(all, &d.Submission, &d.Completion, &d.Total)
			}
		}
		if job.Sync != nil {
			all = append(all, job.Sync)
		}
	}
	return all
}

// percent is a variable, so that the quotient is rounded as fio's figures are.
var percent = 100.0

const ms = time.Millisecond

func TestParseOutputOfAGroup(t *testing.T) {
	assert.Equal(t, fio.Output{
		Version: fio.Version{Major: 3, Minor: 33},
		Time:    time.UnixMilli(1795246964555),
		GlobalOptions: map[string]string{
			"direct": "1", "ioengine": "libaio", "thread": "1", "bs": "4k", "number_ios": "150", "size": "64m", "filename": "data",
		},
		Jobs: []fio.JobResult{{
			Name: "qd8",
			Options: map[string]string{
				"rw": "randread", "iodepth": "8", "numjobs": "3", "group_reporting": "1", "lat_percentiles": "1",
			},
			Elapsed: time.Second,
			Runtime: 75 * ms,
			Read: &fio.Direction{
				IOs: 450, Bytes: 1843200, IOPS: 15000, BytesPerSecond: 61440000, Runtime: 30 * ms,
				Submission: fio.Latency{Samples: 450, Min: 3916, Max: 12239783, Mean: 102215, StdDev: 984571},
				Completion: fio.Latency{Samples: 450, Min: 43526, Max: 13485292, Mean: 408304, StdDev: 1144072},
				Total:      fio.Latency{Samples: 450, Min: 59559, Max: 14563170, Mean: 510519, StdDev: 1608156},
			},
			Write: &fio.Direction{}, Trim: &fio.Direction{}, Sync: &fio.Latency{},
			SystemCPU: 0.14666667, ContextSwitches: 79,
			Depths: []fio.DepthLevel{{Least: 1, Share: 0.666667 / percent}, {Least: 2, Share: 1.333333 / percent}, {Least: 4, Share: 2.666667 / percent}, {Least: 8, Share: 95.333333 / percent}}, MinorFaults: 27,
		}},
		DiskUtil: []fio.DiskUtil{{Name: "vda"}},
	}, withoutBins(parse(t, "fio-3.33-randread-group.json")))
}

func TestParseOutputOfMixedLoadAndSync(t *testing.T) {
	out := parse(t, "fio-3.33-stonewall-sync.json")
	require.Len(t, out.Jobs, 2)
	mixed, durable := out.Jobs[0], out.Jobs[1]
	assert.Equal(t, []int{0, 1}, []int{mixed.Group, durable.Group})
	assert.Equal(t, []int64{40, 20, 0}, []int64{mixed.Read.IOs, mixed.Write.IOs, mixed.Trim.IOs})
	assert.Equal(t, int64(60), durable.Write.Completion.Histogram.Count())
	require.NotNil(t, durable.Sync)
	assert.Equal(t, int64(59), durable.Sync.Samples)
	assert.Equal(t, int64(59), durable.Sync.Histogram.Count())
	assert.Equal(t, &fio.Latency{}, mixed.Sync)
}

// fio --client prints the jobs of its clients under another key, then a sum of them, and one object with the global options of
// all of them.
func TestParseOutputOfClients(t *testing.T) {
	out := parse(t, "fio-3.33-clients.json")
	assert.Equal(t, time.Unix(1795812780, 0), out.Time)
	assert.Equal(t, map[string]string{"ioengine": "psync", "size": "4m"}, out.GlobalOptions, "the files differ, and only one client has direct=1")
	type done struct {
		name, host string
		port, i    int
		ios, bins  int64
	}
	var jobs []done
	for _, j := range out.Jobs {
		jobs = append(jobs, done{j.Name, j.Host, j.Port, j.Group, j.Read.IOs, j.Read.Completion.Histogram.Count()})
		assert.Zero(t, j.Elapsed)
	}
	assert.Equal(t, []done{
		{"small", "127.0.0.1", 18765, 0, 60, 60}, {"large", "127.0.0.1", 18765, 1, 60, 60},
		{"small", "127.0.0.1", 18766, 0, 40, 40}, {"large", "127.0.0.1", 18766, 1, 40, 40},
	}, jobs)
	require.Len(t, out.DiskUtil, 2)
	assert.Equal(t, []int{18766, 18765}, []int{out.DiskUtil[0].Port, out.DiskUtil[1].Port})
	assert.Equal(t, "127.0.0.1", out.DiskUtil[0].Host)
	assert.Equal(t, new(int64(16384)), out.Job().Effective(2).BlockBytes)

	whole := string(read(t, "fio-3.33-clients.json"))
	for name, c := range map[string]struct{ old, replacement, want string }{
		"missing":          {`"total_ios"`, `"ios"`, "client_stats[0].read.total_ios: missing"},
		"a nested option":  {`"ioengine" : "psync"`, `"ioengine" : {}`, "global options.ioengine"},
		"no time":          {`"timestamp"`, `"at"`, "timestamp: missing"},
		"a host of number": {`"hostname" : "127.0.0.1"`, `"hostname" : 1`, "client_stats[0].hostname is 1: not a string"},
	} {
		require.Contains(t, whole, c.old, name)
		_, err := fio.ParseOutput(strings.NewReader(strings.Replace(whole, c.old, c.replacement, 1)))
		assert.ErrorContains(t, err, c.want, name)
	}
}

func TestParseOutputWithUnifiedDirections(t *testing.T) {
	mixed := parse(t, "fio-3.33-unified-mixed.json").Jobs[0]
	assert.Nil(t, mixed.Read)
	assert.Nil(t, mixed.Sync)
	assert.Equal(t, int64(40), mixed.Mixed.IOs)

	both := parse(t, "fio-3.33-unified-both.json").Jobs[0]
	assert.Equal(t, int64(40), both.Mixed.IOs)
	assert.Equal(t, int64(40), both.Read.IOs+both.Write.IOs)
	assert.Equal(t, both.Mixed.Completion.Histogram, both.Read.Completion.Histogram.Merge(both.Write.Completion.Histogram))
}

func TestParseOutputOfFailedJobs(t *testing.T) {
	failed := parse(t, "fio-3.33-error-einval.json")
	assert.Equal(t, []int{0, 22}, []int{failed.Jobs[0].Errno, failed.Jobs[1].Errno})
	assert.Nil(t, failed.Jobs[1].Errors)
	assert.Equal(t, []string{
		"fio: first direct IO errored. File system may not support direct IO, or iomem_align= is bad, or invalid block size. Try setting direct=0.",
		"fio: pid=9573, err=22/file:io_u.c:1876, func=io_u error, error=Invalid argument",
	}, failed.Notes)

	went := parse(t, "fio-3.33-continue-on-error.json")
	assert.Equal(t, &fio.Errors{Total: 1, First: 22}, went.Jobs[0].Errors)
}

func TestParseOutputTakesTextAroundTheJSON(t *testing.T) {
	assert.Equal(t, []string{"fio: terminating on signal 2"}, parse(t, "fio-3.33-interrupted.json").Notes)

	both := parse(t, "fio-3.33-json-normal.json")
	assert.Equal(t, int64(20), both.Jobs[0].Read.IOs)
	assert.Equal(t, "fio-3.33", both.Notes[1])
	assert.Contains(t, both.Notes[len(both.Notes)-1], "vda: ios=0/0")
}

// Other versions report the same in their own format.
func TestParseOutputOfOtherVersions(t *testing.T) {
	for name, same := range map[string]string{
		"handmade-3.28.json": "fio-3.33-stonewall-sync.json",
		"handmade-3.42.json": "fio-3.33-randread-group.json",
	} {
		t.Run(name, func(t *testing.T) {
			got, want := parse(t, name), parse(t, same)
			assert.Contains(t, name, strings.SplitN(strings.TrimPrefix(got.Version.String(), "fio-"), "-", 2)[0])
			require.Len(t, got.Notes, 1)
			got.Version, got.Notes = want.Version, want.Notes
			assert.Equal(t, want, got)
		})
	}
}

// Percentiles computed from the bins equal those that fio computed itself.
func TestPercentilesAreFios(t *testing.T) {
	compared := 0
	for _, name := range []string{
		"fio-3.33-randread-group.json", "fio-3.33-stonewall-sync.json", "fio-3.33-unified-both.json", "fio-3.33-interrupted.json",
	} {
		for _, latency := range latencies(parse(t, name)) {
			for _, p := range latency.Percentiles {
				assert.Equal(t, p.Latency, latency.Histogram.Percentile(p.Rank), "%s p%v", name, p.Rank)
				compared++
			}
		}
	}
	assert.Greater(t, compared, 100)
}

func TestParseOutputWithoutBins(t *testing.T) {
	read := parse(t, "fio-3.33-plain.json").Jobs[0].Read
	assert.Nil(t, read.Completion.Histogram)
	assert.Equal(t, fio.Percentile{Rank: 50, Latency: 187392}, read.Completion.Percentiles[6])
	assert.Nil(t, read.Total.Percentiles)
}

func TestParseOutputRefuses(t *testing.T) {
	whole := string(read(t, "fio-3.33-randread-group.json"))
	edit := func(old, replacement string) string {
		require.NotZero(t, strings.Count(whole, old), old)
		return strings.Replace(whole, old, replacement, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":         {"", "parse fio output: no JSON in 0 bytes"},
		"only an error":   {string(read(t, "fio-3.33-unknown-option.txt")), "no JSON in 57 bytes: Bad option <bogus=1>; Did you mean bs?; fio: job a dropped"},
		"half a report":   {whole[:len(whole)/2], "cut off"},
		"two reports":     {string(read(t, "fio-3.33-status-interval.json")), "more than one report: fio ran with --status-interval"},
		"no jobs":         {`{"fio version":"fio-3.33","timestamp_ms":1,"jobs":[]}`, "jobs: empty"},
		"jobs of numbers": {`{"fio version":"fio-3.33","timestamp_ms":1,"jobs":[1]}`, "jobs[0] is 1: not an object"},
		"no version":      {edit(`"fio version"`, `"version"`), "fio version: missing"},
		"other program":   {edit(`"fio-3.33"`, `"iperf 3"`), `fio version is iperf 3`},
		"missing field":   {edit(`"total_ios"`, `"ios"`), "jobs[0].read.total_ios: missing"},
		"negative":        {edit(`"bw_bytes" : 61440000`, `"bw_bytes" : -4`), "jobs[0].read.bw_bytes is -4: negative"},
		"nan":             {edit(`"iops" : 15000.000000`, `"iops" : -nan`), `jobs[0].read.iops is "-nan": not a number`},
		"inf deep inside": {edit(`"mean" : `, `"mean" : inf,`+"\n"+`"was" : `), `jobs[0].read.slat_ns.mean is "inf": not a number`},
		"beyond a count":  {edit(`"iops" : 15000.000000`, `"iops" : 1e308`), "jobs[0].read.iops is 1e308: too large"},
		"another era":     {edit(`"timestamp_ms" : `, `"timestamp_ms" : 99999`), ": after the year 9999"},
		"a string":        {edit(`"total_ios" : 450`, `"total_ios" : "450"`), `jobs[0].read.total_ios is "450": not a number`},
		"a fraction":      {edit(`"total_ios" : 450`, `"total_ios" : 4.5`), `jobs[0].read.total_ios is 4.5: not a whole number`},
		"too large":       {edit(`"total_ios" : 450`, `"total_ios" : 99999999999999999999`), `jobs[0].read.total_ios is 99999999999999999999: not a whole number of 64 bits`},
		"too long":        {edit(`"job_runtime" : 75`, `"job_runtime" : 9223372036854775807`), `jobs[0].job_runtime is 9223372036854775807: too long a time`},
		"odd percentile":  {edit(`"99.990000"`, `"p99"`), `p99: not a rank`},
		"bins short":      {edit(`"N" : 450,`, `"N" : 451,`), `they add up to 450 I/Os, N is 451`},
		"an odd bin":      {edit(`"bins" : {`, `"bins" : {"-1" : 0,`), `-1: not a latency in nanoseconds`},
		"endless bins":    {edit(`"bins" : {`, `"bins" : {"1" : 9223372036854775807,`), `more I/Os than can be counted`},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := fio.ParseOutput(strings.NewReader(c.text))
			require.ErrorContains(t, err, c.want)
			assert.Zero(t, out)
		})
	}
}

// fio also prints nan for figures that nobody needs, such as the slope of a steady state that was not reached.
func TestParseOutputWithNaNInOtherFields(t *testing.T) {
	text := strings.Replace(string(read(t, "fio-3.33-plain.json")), `"iops_stddev" : `, `"slope" : -nan,`+"\n"+`"iops_stddev" : `, 1)
	require.Contains(t, text, "nan")
	out, err := fio.ParseOutput(strings.NewReader("a note\n" + text + "\nanother note\n"))
	require.NoError(t, err)
	assert.Equal(t, []string{"a note", "another note"}, out.Notes)
}

// fio 3.33 prints a tab of a name or a description as it stands, which no JSON string may hold.
func TestParseOutputWithControlCharacters(t *testing.T) {
	text := strings.Replace(string(read(t, "fio-3.33-plain.json")), `"jobname" : "`, "\"jobname\" : \"a\tb\x01", 1)
	out, err := fio.ParseOutput(strings.NewReader("a\tnote\r\n" + strings.ReplaceAll(text, "\n", "\r\n")))
	require.NoError(t, err)
	assert.Equal(t, "a\tb\x01seq", out.Jobs[0].Name)
	assert.Equal(t, []string{"a\tnote"}, out.Notes)
}

func TestFieldErrorNamesTheField(t *testing.T) {
	text := strings.Replace(string(read(t, "fio-3.33-plain.json")), `"total_ios" : 32`, `"total_ios" : -32`, 1)
	_, err := fio.ParseOutput(strings.NewReader(text))
	var field *fio.FieldError
	require.ErrorAs(t, err, &field)
	assert.Equal(t, fio.FieldError{Field: "jobs[0].read.total_ios", Value: "-32", Reason: "negative"}, *field)
}

func TestParseOutputPassesReadErrorsOn(t *testing.T) {
	_, err := fio.ParseOutput(iotest.ErrReader(io.ErrClosedPipe))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
}

func FuzzParseOutput(f *testing.F) {
	files, err := filepath.Glob("testdata/*")
	require.NoError(f, err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := fio.ParseOutput(bytes.NewReader(data))
		if err != nil {
			assert.Zero(t, out)
			return
		}
		assert.NotEmpty(t, out.Jobs)
		for _, l := range latencies(out) {
			assert.Equal(t, l.Histogram, fio.NewHistogram(l.Histogram))
			if l.Histogram != nil {
				assert.Equal(t, l.Samples, l.Histogram.Count())
			}
			for i, p := range l.Percentiles {
				assert.True(t, p.Latency >= 0 && (i == 0 || l.Percentiles[i-1].Rank <= p.Rank))
			}
		}
	})
}
