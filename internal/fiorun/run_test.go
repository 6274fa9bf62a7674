package fiorun_test

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	b, file := real(t), dataFile(t)
	o := reads(file)
	o.IODepth, o.LatPercentiles, o.Extra = new(4), new(true), []fio.Option{{Key: "number_ios", Value: "300"}}
	j := job("reads", o)
	run, err := b.Run(t.Context(), fiorun.Request{Job: j, ReadOnly: true})
	require.NoError(t, err)

	text, err := j.Render()
	require.NoError(t, err)
	assert.Equal(t, text, run.JobFile)
	assert.Equal(t, b.Version, run.Output.Version)
	require.NoError(t, run.Stopped)
	assert.Empty(t, run.Ended+run.Messages)
	assert.Positive(t, run.Duration)

	steps := run.Steps()
	require.Len(t, steps, 1)
	read := run.Output.Jobs[0].Read
	assert.Equal(t, "reads", steps[0].Name)
	assert.Equal(t, int64(300), steps[0].Read.IOs)
	assert.Equal(t, int64(300*4096), steps[0].Read.Bytes)
	assert.Equal(t, int64(300), steps[0].Read.Latency.Count())
	assert.Equal(t, []time.Duration{read.Total.Min, read.Total.Mean, read.Total.Max},
		[]time.Duration{steps[0].Read.Min, steps[0].Read.Mean, steps[0].Read.Max})
	assert.Nil(t, steps[0].Write)

	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Empty(t, entries, "a run leaves no files behind")
}

// fio understands every option as it is meant.
func TestFioReadsJobsAsTheyAreMeant(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a:b c")
	require.NoError(t, os.WriteFile(name, make([]byte, 1<<20), 0o600))
	o := fio.Options{
		Filenames: []string{name}, RW: fio.RandRW, IOEngine: "psync", Direct: new(false), Thread: new(true), BlockBytes: new(int64(8192)),
		SizeBytes: new(int64(1 << 20)), OffsetBytes: new(int64(0)), IODepth: new(1), NumJobs: new(2), TimeBased: new(true),
		Runtime: new(time.Hour + 20*time.Millisecond), RampTime: new(time.Duration(0)), Fsync: new(0), Fdatasync: new(4), RWMixRead: new(30),
		CPUsAllowed: "0", GroupReporting: new(true), NoRandomMap: new(true), LatPercentiles: new(true), AllowFileCreate: new(false),
		Invalidate: new(false), Stonewall: new(true), Extra: []fio.Option{{Key: "description", Value: "all of them"}},
	}
	ctx, enough := context.WithCancelCause(t.Context())
	run, err := real(t).Run(ctx, fiorun.Request{Job: job("all", o), Progress: func(s fio.Status) {
		if s.Rates != nil && s.Rates.ReadIOPS > 0 && s.Rates.WriteIOPS > 0 { // of a runtime, fio on a busy machine could see next to nothing
			enough(errEnough)
		}
	}})
	require.NoError(t, err)
	require.ErrorIs(t, run.Stopped, errEnough)
	require.Len(t, run.Output.Jobs, 1)
	got := run.Output.Jobs[0].Options
	for key, want := range map[string]string{
		"filename": dir + `/a\:b c`, "rw": "randrw", "ioengine": "psync", "direct": "0", "thread": "1", "bs": "8192", "size": "1048576", "offset": "0",
		"iodepth": "1", "numjobs": "2", "runtime": "3600020ms", "ramp_time": "0s", "fsync": "0", "fdatasync": "4", "rwmixread": "30",
		"cpus_allowed": "0", "lat_percentiles": "1", "allow_file_create": "0", "invalidate": "0", "description": "all of them",
	} {
		assert.Equal(t, want, got[key], key)
	}
	read, write := run.Output.Jobs[0].Read, run.Output.Jobs[0].Write
	assert.Positive(t, read.IOs)
	assert.Greater(t, write.IOs, read.IOs)
	assert.Equal(t, read.IOs*8192, read.Bytes)
	assert.Positive(t, run.Steps()[0].Sync.IOs)
}

func TestRunRefusesToWriteReadOnly(t *testing.T) {
	file := dataFile(t)
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	o := reads(file)
	o.RW = fio.Write
	_, err = real(t).Run(t.Context(), fiorun.Request{Job: job("w", o), ReadOnly: true})
	require.EqualError(t, err, `run fio read-only: the job modifies data: section "w": rw=write`)

	// fio is also told, for what only fio can know.
	seen := filepath.Join(t.TempDir(), "args")
	_, err = script(t, `echo "$@" >`+seen).Run(t.Context(), fiorun.Request{Job: job("r", reads(file)), ReadOnly: true})
	require.Error(t, err)
	args, err := os.ReadFile(seen)
	require.NoError(t, err)
	assert.Contains(t, string(args), " --readonly ")

	after, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, sha256.Sum256(before), sha256.Sum256(after))
}

func TestRunRefusesUnifiedReporting(t *testing.T) {
	o := reads("x")
	o.Extra = []fio.Option{{Key: "unified_rw_reporting", Value: "mixed"}}
	_, err := real(t).Run(t.Context(), fiorun.Request{Job: job("m", o)})
	assert.ErrorContains(t, err, "reads cannot be told from writes")
}

// A job that is a process could outlive fio, so none is started.
func TestRunRefusesJobsThatAreProcesses(t *testing.T) {
	for name, thread := range map[string]*bool{"thread=0": new(false), "left out": nil} {
		o := reads("x")
		o.Thread = thread
		_, err := real(t).Run(t.Context(), fiorun.Request{Job: job("p", o)})
		assert.ErrorContains(t, err, `section "p": without thread=1`, name)
	}
}

// fio cannot create a file in its working directory and does not try to store its verify state: a link of that name is
// not followed.
func TestRunMakesNoFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.Symlink("victim", "local-v-0-verify.state"))
	o := reads(dataFile(t))
	o.RW, o.Extra = fio.RandWrite, []fio.Option{{Key: "verify", Value: "crc32c"}}
	run, err := real(t).Run(t.Context(), fiorun.Request{Job: job("v", o)})
	require.NoError(t, err)
	assert.Empty(t, run.Ended+run.Messages)
	assert.Positive(t, run.Output.Jobs[0].Write.IOs)
	assert.NoFileExists(t, "victim")

	_, err = script(t, "touch here && exit 3; pwd >&2; exit 4").Run(t.Context(), fiorun.Request{Job: job("r", reads("x"))})
	require.ErrorContains(t, err, "exit status 4")
	require.ErrorContains(t, err, "/proc")
	assert.Equal(t, []string{"local-v-0-verify.state"}, testenv.Names(t, dir))
}

func TestRunReportsProgress(t *testing.T) {
	o := endless(dataFile(t)).Sections[0].Options
	o.Runtime = new(4 * time.Second)
	var seen []fio.Status
	_, err := real(t).Run(t.Context(), fiorun.Request{Job: job("slow", o), Progress: func(s fio.Status) { seen = append(seen, s) }})
	require.NoError(t, err)
	require.NotEmpty(t, seen)
	var rated, done bool
	for _, s := range seen {
		rated = rated || s.Rates != nil && s.Rates.ReadIOPS > 0 && s.Rates.ReadBytesPerSecond > 0
		done = done || s.Done != nil && *s.Done > 0
	}
	assert.True(t, rated, "%+v", seen)
	assert.True(t, done, "%+v", seen)
}

// If fio cannot run a job at all, the error names the errno and fio's message.
func TestRunOfAJobThatFails(t *testing.T) {
	o := reads(dataFile(t))
	o.BlockBytes = new(int64(1000))
	_, err := real(t).Run(t.Context(), fiorun.Request{Job: job("odd", o)})
	var failed *fiorun.FailedError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, []fiorun.JobError{{Job: "odd", Errno: syscall.EINVAL}}, failed.Jobs)
	require.ErrorIs(t, err, syscall.EINVAL)
	assert.ErrorContains(t, err, "run fio: exit status 1: job odd: EINVAL: fio: io_u error")
}

// Some of fio's messages are only in its report.
func TestRunOfAJobThatTheKernelRefuses(t *testing.T) {
	limit, err := os.ReadFile("/proc/sys/fs/aio-max-nr")
	require.NoError(t, err)
	most, err := strconv.Atoi(strings.TrimSpace(string(limit)))
	require.NoError(t, err)
	o := reads(dataFile(t))
	o.IODepth = new(most + 1)
	_, err = real(t).Run(t.Context(), fiorun.Request{Job: job("deep", o)})
	require.ErrorIs(t, err, syscall.EAGAIN)
	require.ErrorContains(t, err, "run fio: exit status 1: job deep: EAGAIN: fio: pid=")
	require.ErrorContains(t, err, "func=io_queue_init, error=Resource temporarily unavailable (the kernel allows this host no more")
}

func TestRunOfAMissingFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	_, err := real(t).Run(t.Context(), fiorun.Request{Job: job("r", reads(missing))})
	var failed *fiorun.FailedError
	require.ErrorAs(t, err, &failed)
	require.ErrorContains(t, err, "exit status 1: fio: file creation disallowed")
	assert.NoFileExists(t, missing)
}

func TestRunOfABadOption(t *testing.T) {
	o := reads(dataFile(t))
	o.Extra = []fio.Option{{Key: "bogus", Value: "1"}}
	_, err := real(t).Run(t.Context(), fiorun.Request{Job: job("r", o)})
	assert.EqualError(t, err, "run fio: exit status 1: Bad option <bogus=1>; Did you mean bs?; fio: job r dropped")
}

// Some jobs fail and some do not: the figures are those of the jobs that did not fail.
func TestRunOfJobsThatPartlyFail(t *testing.T) {
	good := reads(dataFile(t))
	good.Extra = []fio.Option{{Key: "number_ios", Value: "50"}}
	bad := good
	bad.BlockBytes = new(int64(1000))
	run, err := real(t).Run(t.Context(), fiorun.Request{Job: fio.Job{Sections: []fio.Section{{Name: "good", Options: good}, {Name: "bad", Options: bad}}}})
	require.NoError(t, err)
	steps := run.Steps()
	require.Len(t, steps, 1)
	assert.Equal(t, "good, bad", steps[0].Name)
	assert.Equal(t, int64(50), steps[0].Read.IOs)
	assert.Equal(t, map[string]int64{"EINVAL": 1}, steps[0].Errors)
	require.NotEmpty(t, steps[0].Warnings)
	assert.Equal(t, record.WarnErrors, steps[0].Warnings[0].Code)
	assert.Contains(t, steps[0].Warnings[0].Text, "1 I/Os failed and are not in the figures")
}

func TestRunOfWhatIsNotFio(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":       {"true", "parse fio output: no JSON in 0 bytes"},
		"garbage":       {`echo "{ hello" >&3; echo not fio >&2`, "parse fio output"},
		"half a report": {`printf '{\n "fio version" : "fio-3.33",' >&3`, "the JSON is cut off"},
		"failure":       {"echo libaio.so.1: not found >&2; exit 127", "run fio: exit status 127: libaio.so.1: not found"},
		// fio 3.33 says the first line if another block device of the host disappears while it starts.
		"another device": {`echo "stat: No such file or directory" >&2; echo odd >&2; exit 1`, "run fio: exit status 1: odd"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := script(t, c.text).Run(t.Context(), fiorun.Request{Job: job("r", reads("x"))})
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := fiorun.Binary{Path: filepath.Join(t.TempDir(), "fio")}.Run(t.Context(), fiorun.Request{Job: job("r", reads("x"))})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestRunBoundsWhatItKeeps(t *testing.T) {
	_, err := script(t, `head -c 10000000 /dev/zero | tr '\0' x >&2; exit 1`).Run(t.Context(), fiorun.Request{Job: job("r", reads("x"))})
	require.Error(t, err)
	assert.Less(t, len(err.Error()), 1000)
	assert.Contains(t, err.Error(), "(9934464 bytes more)")

	left := marked(t)
	_, err = script(t, "exec yes >&3").Run(t.Context(), fiorun.Request{Job: job("r", reads("x"))})
	require.ErrorContains(t, err, "run fio: its report is longer than 64 MiB")
	_, err = script(t, `head -c 10000000 /dev/zero | tr '\0' x; echo; exit 1`).Run(t.Context(), fiorun.Request{Job: job("r", reads("x"))})
	require.ErrorContains(t, err, "exit status 1")
	assert.Empty(t, left())
}

// What fio says of a file that is passed open has the name of the file.
func TestMessagesNameAFileThatIsPassedOpen(t *testing.T) {
	const name = "/dev/full" // every write fails
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	o := reads(name)
	o.RW, o.IOEngine, o.Direct = fio.RandWrite, "psync", new(false)
	_, err = real(t).Run(t.Context(), fiorun.Request{Job: job("full", o), Files: []*os.File{f}})
	require.ErrorContains(t, err, name)
	assert.NotContains(t, err.Error(), "/proc/")
}
