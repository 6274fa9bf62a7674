package suite_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/suite"
)

func TestFind(t *testing.T) {
	for _, s := range suite.All() {
		got, err := suite.Find(s.Name)
		require.NoError(t, err)
		assert.Equal(t, s.Question, got.Question)
		assert.NotEmpty(t, s.Question)
		assert.NotEmpty(t, s.Does)
	}
	_, err := suite.Find("quik")
	require.ErrorIs(t, err, suite.ErrUnknown)
	require.ErrorContains(t, err, `no such suite "quik": there is quick, concurrency, sequential-vs-random, depth-sweep, `)
}

// Every default can be set explicitly, and every parameter is described.
func TestDefaultsCanBeSet(t *testing.T) {
	target := suite.Target{Path: "/srv/data", SizeBytes: 1 << 40, Nodes: serverDrive().Nodes}
	for _, s := range suite.All() {
		byDefault, err := s.Plan(suite.Values{}, target)
		require.NoError(t, err)
		var settings []string
		for _, p := range s.Parameters {
			assert.NotEmpty(t, p.Doc, "%s %s", s.Name, p.Name)
			settings = append(settings, p.Name+"="+p.Default)
		}
		asSet, err := s.Plan(set(t, s, settings...), target)
		require.NoError(t, err)
		assert.Equal(t, byDefault, asSet, s.Name)
	}
}

// All loads run once before any is repeated, and repeats share the name of the load
// without repeats.
func TestRepeatsOfSuites(t *testing.T) {
	targets := []suite.Target{{Path: "/srv/a", ID: "a", SizeBytes: 1 << 40}, {Path: "/srv/b", ID: "b", SizeBytes: 1 << 40}}
	for _, s := range suite.All() {
		given := targets[:1]
		given[0].Nodes = serverDrive().Nodes
		if s.Many {
			given = targets
		}
		if !s.Repeatable() {
			assert.Equal(t, "steady-state", s.Name)
			continue
		}
		once, err := s.Plan(set(t, s, "repeats=1"), given...)
		require.NoError(t, err)
		twice, err := s.Plan(set(t, s, "repeats=2"), given...)
		require.NoError(t, err)
		require.Len(t, twice, 2*len(once))
		for i, step := range twice {
			load := once[i%len(once)].Name
			assert.Equal(t, []string{load, fmt.Sprintf("%s-repeat%d", load, 1+i/len(once))}, []string{step.Series, step.Name})
		}
	}
}

func TestSetRefuses(t *testing.T) {
	for setting, want := range map[string]string{
		"time":                 `"time": not of the form name=value`,
		"tme=3s":               "tme: the suite quick has no such parameter; it has time, random-block, random-depths, sequential-block, sequential-depth, engine",
		"time=10":              `time: "10" has no unit`,
		"time=1ms":             `time: "1ms" is too short; want at least 100ms`,
		"random-block=4k":      `random-block: "4k" has no clear unit`,
		"random-block=1000":    `random-block: "1000" is not the size of a block; want a multiple of 512 up to 16MiB`,
		"random-block=0":       `random-block: "0" is not the size of a block`,
		"random-depths=":       `random-depths: "" is not valid; want a whole number from 1 to 65535`,
		"random-depths=1,2,1":  `random-depths: "1" is given twice`,
		"random-depths=0":      `random-depths: "0" is not valid`,
		"sequential-depth=1.5": `sequential-depth: "1.5" is not valid`,
		"engine=sync":          `engine: "sync" is not valid; want libaio or io_uring`,
	} {
		_, err := find(t, "quick").Set([]string{setting})
		require.ErrorContains(t, err, want)
	}
	_, err := find(t, "quick").Set([]string{"time=1s", "time=2s", "engine=x"})
	require.ErrorContains(t, err, "time: set twice")
	require.ErrorContains(t, err, "engine: ", "all problems are named at once")
}

// Values that cannot go together are refused with the settings, before any target is looked at.
func TestSetRefusesContradictions(t *testing.T) {
	for settings, want := range map[string]string{
		"steady-state rounds=4":               "rounds: 4 is less than the window of 5, so no rounds can be steady; want 5 or more, or a smaller window",
		"steady-state rounds=9 window=10":     "rounds: 9 is less than the window of 10, so no rounds can be steady; want 10 or more, or a smaller window",
		"steady-state window=26":              "rounds: 25 is less than the window of 26, so no rounds can be steady; want 26 or more, or a smaller window",
		"steady-state rounds=1":               `rounds: "1" is not valid; want a whole number from 2 to 10000`,
		"span rounds=4":                       `rounds: "4" is not valid; want a whole number from 5 to 10000`,
		"interrupts polled=yes engine=libaio": "engine: libaio cannot poll; want io_uring, or polled=no",
	} {
		all := strings.Fields(settings)
		_, err := find(t, all[0]).Set(all[1:])
		require.EqualError(t, err, want)
	}
	for _, settings := range []string{"steady-state rounds=5", "steady-state rounds=2 window=2", "span rounds=5", "interrupts polled=auto engine=libaio", "interrupts polled=yes"} {
		all := strings.Fields(settings)
		_, err := find(t, all[0]).Set(all[1:])
		require.NoError(t, err)
	}
}

func TestPlanRefusesTargets(t *testing.T) {
	for want, target := range map[string]suite.Target{
		`plan quick: target "data": not an absolute path`:                               {Path: "data", SizeBytes: 1 << 30},
		"plan quick: target /data: cannot do I/O on 0 bytes from offset 0 on":           {Path: "/data"},
		"plan quick: target /data: 64 KiB is too small for blocks of 4 KiB at depth 32": {Path: "/data", SizeBytes: 64 << 10},
	} {
		_, err := find(t, "quick").Plan(suite.Values{}, target)
		require.EqualError(t, err, want)
	}
}

const quickRandom = `[random-read-qd32]
filename=/dev/nvme0n1
rw=randread
ioengine=libaio
direct=1
thread=1
bs=4096
size=4000787030016
offset=0
iodepth=32
time_based=1
runtime=10s
norandommap=1
lat_percentiles=1
allow_file_create=0
invalidate=0
randrepeat=0
`

func TestQuickPlan(t *testing.T) {
	steps, err := find(t, "quick").Plan(suite.Values{}, suite.Target{Path: "/dev/nvme0n1", Raw: true, SizeBytes: 4000787030016})
	require.NoError(t, err)
	require.Len(t, steps, 3)
	for i, want := range [][2]string{
		{"random-read-qd1", "4 KiB random read, depth 1"},
		{"random-read-qd32", "4 KiB random read, depth 32"},
		{"sequential-read-qd8", "128 KiB sequential read, depth 8"},
	} {
		assert.Equal(t, want, [2]string{steps[i].Name, steps[i].Plan})
		assert.Equal(t, 10*time.Second, steps[i].Expected)
		assert.Empty(t, steps[i].Writes)
		assert.Empty(t, steps[i].Job.Modifies())
	}
	assert.Equal(t, 30*time.Second, suite.Expected(steps))
	text, err := steps[1].Job.Render()
	require.NoError(t, err)
	assert.Equal(t, quickRandom, text)
}

// The header of a probe file is not read.
func TestQuickPlanOnAFile(t *testing.T) {
	s := find(t, "quick")
	v := set(t, s, "time=1m", "random-depths=4", "random-block=8KiB", "sequential-block=1MiB", "engine=io_uring")
	steps, err := s.Plan(v, suite.Target{Path: "/srv/a:b/probe", OffsetBytes: 1 << 20, SizeBytes: 63<<20 + 512})
	require.NoError(t, err)
	require.Len(t, steps, 2)
	assert.Equal(t, "8 KiB random read, depth 4", steps[0].Plan)
	o := steps[1].Job.Sections[0].Options
	assert.Equal(t, []string{"/srv/a:b/probe"}, o.Filenames)
	assert.Equal(t, []int64{1 << 20, 63 << 20, 1 << 20}, []int64{*o.OffsetBytes, *o.SizeBytes, *o.BlockBytes})
	assert.Equal(t, "io_uring", o.IOEngine)
	assert.Equal(t, time.Minute, *o.Runtime)
}
