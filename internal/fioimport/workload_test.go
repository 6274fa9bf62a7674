package fioimport_test

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// With group_reporting, fio prints the sum of all sections but only the options of the
// first.
func TestSectionsThatFioAddedUp(t *testing.T) {
	other := dataFile(t)
	load := []string{"--rw=randread", "--bs=4k", "--direct=1", "--time_based", "--runtime=200ms", "--output-format=json"}
	second := []string{"--name=second", "--filename=" + other, "--size=4m", "--rw=randread", "--bs=4k", "--direct=1", "--time_based", "--runtime=200ms"}

	r := parse(t, output(t, append(append(append(load, "--group_reporting"), second...), "--group_reporting")...))
	require.Len(t, r.Steps, 1)
	assert.Nil(t, r.Steps[0].Workload)
	require.NotEmpty(t, r.Steps[0].Warnings)
	assert.Equal(t, record.WarnConditionsUnknown, r.Steps[0].Warnings[0].Code)
	assert.Contains(t, r.Steps[0].Warnings[0].Text, "(group_reporting)")
	assert.Contains(t, r.Target, ", perhaps others")

	r = parse(t, output(t, append(load, second...)...))
	require.Len(t, r.Steps, 1)
	assert.Nil(t, r.Steps[0].Workload, "two jobs on two files are not two jobs on one")
	assert.NotContains(t, r.Steps[0].Warnings[0].Text, "added up", "their percentiles cannot be put together, and that is all")

	r = parse(t, output(t, append(load, "--group_reporting", "--numjobs=2")...))
	assert.Equal(t, 2, r.Steps[0].Workload.Jobs)
	assert.Empty(t, r.Steps[0].Warnings, "jobs of one section are known")
}

// The same load on two drives is not one load with two repeats.
func TestLoadsOfSeveralTargets(t *testing.T) {
	other := dataFile(t)
	args := []string{"--output-format=json", "--rw=randread", "--bs=4k", "--number_ios=50", "--direct=1", "--ioengine=libaio", "--iodepth=1"}
	section := func(name, file, depth string) []string {
		return []string{"--name=" + name, "--stonewall", "--filename=" + file, "--size=4m", "--rw=randread", "--bs=4k", "--number_ios=50", "--direct=1",
			"--ioengine=libaio", "--iodepth=" + depth}
	}
	for _, depth := range []string{"2", "4"} {
		args = append(args, section("b"+depth, other, depth)...)
	}
	r := parse(t, output(t, args...))
	require.Len(t, r.Steps, 3)
	assert.Equal(t, []string{other}, r.Steps[1].Workload.Targets)
	assert.NotEqual(t, r.Steps[0].Workload.Targets, r.Steps[1].Workload.Targets)
	assert.Equal(t, "4 KiB random read, depth 2, on "+other, r.Steps[1].Plan)
}

// Durable writes are a different load from plain ones.
func TestDurableWrites(t *testing.T) {
	for option, plan := range map[string]string{
		"--fdatasync=1": "4 KiB sequential write, depth 1, fdatasync after each",
		"--fsync=8":     "4 KiB sequential write, depth 1, fsync after every 8",
		"--sync=dsync":  "4 KiB sequential write, depth 1, sync=dsync",
	} {
		s := parse(t, output(t, "--output-format=json", "--rw=write", "--bs=4k", "--direct=1", "--number_ios=20", option)).Steps[0]
		assert.Equal(t, plan, s.Plan)
		assert.Nil(t, s.Workload, "no point of a sweep of plain writes")
	}
	for _, options := range [][]string{{"--rw=write", "--sync=none", "--fsync=0"}, {"--rw=read", "--fsync=1"}} {
		s := parse(t, output(t, append(options, "--output-format=json", "--bs=4k", "--direct=1", "--number_ios=20")...)).Steps[0]
		assert.NotNil(t, s.Workload)
		assert.NotContains(t, s.Plan, "sync")
	}
}

// Figures of the page cache are not those of the drive, unless each write waited for it.
func TestPageCache(t *testing.T) {
	for option, warned := range map[string]bool{"--direct=0": true, "--buffered=1": true, "--direct=1": false, "--fdatasync=1": false, "--sync=dsync": false} {
		s := parse(t, output(t, "--output-format=json", "--rw=randwrite", "--bs=4k", "--number_ios=20", option)).Steps[0]
		texts := []string{}
		for _, w := range s.Warnings {
			if w.Code == record.WarnMethod {
				texts = append(texts, w.Text)
			}
		}
		want := []string{}
		if warned {
			want = append(want, "fio went through the page cache (direct=0), so memory may have answered in place of the drive: repeat with direct=1.")
		}
		assert.Equal(t, want, texts, option)
	}
}

// Commands to the drive know neither O_DIRECT nor the page cache.
func TestCommandsToTheDrive(t *testing.T) {
	for _, engine := range []string{"io_uring_cmd", "sg"} {
		text := output(t, "--output-format=json", "--rw=randread", "--bs=4k", "--number_ios=20", "--ioengine=psync")
		s := parse(t, bytes.ReplaceAll(text, []byte(`"psync"`), []byte(strconv.Quote(engine)))).Steps[0]
		assert.True(t, s.Workload.OfDrive(), engine)
		assert.NotContains(t, s.Plan, "page cache")
		for _, w := range s.Warnings {
			assert.NotEqual(t, record.WarnMethod, w.Code, w.Text)
		}
	}
}

// Trims are no reads or writes of a section that fio did not print: the step says that they are missing.
func TestTrims(t *testing.T) {
	for rw, plan := range map[string]string{"randtrim": "fio job rw=randtrim bs=4096", "trimwrite": "fio job rw=trimwrite bs=4096"} {
		r := parse(t, output(t, "--ioengine=null", "--rw="+rw, "--bs=4k", "--time_based", "--runtime=50ms", "--output-format=json+"))
		require.Len(t, r.Steps, 1)
		assert.Equal(t, plan, r.Steps[0].Plan)
		warnings := slices.DeleteFunc(r.Steps[0].Warnings, func(w record.Warning) bool { return w.Code == record.WarnCPUBound }) // no device limits fio here
		require.Len(t, warnings, 1)
		assert.Equal(t, record.WarnMethod, warnings[0].Code)
		assert.Regexp(t, `^fio trimmed blocks, [0-9.]+ [kMGT]?B in all: no figure here counts that\.$`, warnings[0].Text)
		assert.NotContains(t, r.Target, "perhaps others")
	}
}

// The warning names each load whose latencies do not count the submission.
func TestLatenciesOfSomeJobs(t *testing.T) {
	r := parse(t, output(t, "--output-format=json", "--rw=read", "--bs=4k", "--number_ios=20", "--lat_percentiles=1",
		"--name=without", "--stonewall", "--filename="+dataFile(t), "--size=4m", "--rw=read", "--bs=4k", "--number_ios=20", "--lat_percentiles=0"))
	assert.Contains(t, r.Warnings[0].Text, "Latencies of without do not count the time of submission (clat)")
}

// Percentiles of several jobs are not merged, and a warning says why they are missing.
func TestPercentilesOfSeveralJobs(t *testing.T) {
	args := []string{"--rw=randread", "--bs=4k", "--number_ios=50", "--numjobs=2", "--thread"}
	warned := func(more ...string) bool { // a run as short as this may have other warnings on a busy machine
		return slices.ContainsFunc(parse(t, output(t, append(args, more...)...)).Steps[0].Warnings, func(w record.Warning) bool {
			return strings.Contains(w.Text, "The percentiles of 2 jobs cannot be put together")
		})
	}
	assert.True(t, warned("--output-format=json"))
	assert.False(t, warned("--output-format=json+"))
	assert.False(t, warned("--output-format=json", "--group_reporting"))
	assert.False(t, warned("--output-format=json", "--clat_percentiles=0"), "there are none that could be put together")
}
