package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// unfolded joins a text into one line.
func unfolded(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestSuites(t *testing.T) {
	got := in("suites")
	require.Equal(t, 0, got.code, got.stderr)
	for _, s := range suite.All() {
		assert.Contains(t, unfolded(got.stdout), s.Name+": "+s.Question+" "+s.Does+" about ")
	}
	assert.Contains(t, got.stdout, "about 30 s; only reads")
	one := in("suites", "steady-state")
	assert.Contains(t, one.stdout, "; writes all of the target, several times\n\n  by hand, one of its steps would be:\n    fio --name=fill ")
	assert.Contains(t, one.stdout, " --loops=2 &&\n    fio --name=round ")
	assert.Contains(t, one.stdout, "\n\n  parameters (--set NAME=VALUE):\n    purge=no\n      discard all blocks first, ")
	assert.Contains(t, unfolded(one.stdout), "the drive may free them later or never, and does not say when; format needs --format")
	var list []suite.Description
	require.NoError(t, json.Unmarshal([]byte(in("suites", "-o", "json").stdout), &list))
	assert.Len(t, list, len(suite.All()))
	assert.Equal(t, 2, in("suites", "quik").code)
}

func TestDryRun(t *testing.T) {
	testenv.Installed(t, "fio")
	dir := testenv.OnDisk(t)
	got := in("run", "steady-state", "-t", dir, "--size", "1GiB", "--set", "rounds=7", "--even-if-busy", "--dry-run")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "# precondition: 128 KiB sequential write, depth 32, all of it 2 times, about ")
	assert.Contains(t, got.stdout, "\n[round-07]\nfilename="+filepath.Join(dir, "ssdprobe-write.dat")+"\nrw=randwrite\n")
	assert.Contains(t, got.stdout, ", of which up to 2 min may not be needed\n# would make "+filepath.Join(dir, "ssdprobe-write.dat")+" of ")
	assert.NotContains(t, got.stdout, "refused")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)

	var dry struct {
		Steps    []suite.DryStep
		Expected time.Duration `json:"expected_ns"`
	}
	require.NoError(t, json.Unmarshal([]byte(in("run", "quick", "-t", dir, "--dry-run", "-o", "json").stdout), &dry))
	assert.Len(t, dry.Steps, 3)
	assert.Equal(t, 30*time.Second, dry.Expected)
}

// A dry run reports what would refuse the run, and touches nothing.
func TestDryRunSaysWhatWouldRefuse(t *testing.T) {
	t.Parallel()
	loop := testenv.LoopDevice(t, 64<<20, testenv.Options{Random: true})
	serial := "name:" + filepath.Base(loop.Path)
	mounted := testenv.LoopDevice(t, 64<<20, testenv.Options{})
	small := testenv.Ext4On(t, mounted)
	foreign := filepath.Join(testenv.OnDisk(t), "foreign")
	require.NoError(t, os.WriteFile(foreign, make([]byte, 16<<20), 0o600))
	calmly := calm(t)
	busy := file(t, "busy.yaml", "admission: {max_utilisation: 0, max_in_flight: 0, max_io_pressure: 1}\n")
	testenv.Readers(t, loop.Path, 1)
	disk := "/sys/block/" + filepath.Base(loop.Path) + "/stat"
	eventually(t, "the reader reads", func() bool {
		text, err := os.ReadFile(disk)
		require.NoError(t, err)
		reads, err := strconv.Atoi(strings.Fields(string(text))[0])
		require.NoError(t, err)
		return reads > 1000
	})
	before := sum(t, loop.Backing)
	for name, c := range map[string]struct {
		args []string
		code int
		says []string // empty if it would be run
	}{
		"no serial number": {[]string{"mixed", "--config", calmly, "-t", loop.Path}, 4, []string{loop.Path + ": nobody has named it by its serial number; --destroy SERIAL allows it"}},
		"format, not NVMe": {[]string{"steady-state", "--config", calmly, "-t", loop.Path, "--destroy", serial, "--format"}, 4,
			[]string{loop.Path + ": it cannot be formatted: it is not NVMe: leave out --format; --set purge=yes discards all blocks instead"}},
		"another one":         {[]string{"mixed", "--config", calmly, "-t", loop.Path, "--destroy", "S6XYNG0T"}, 4, []string{"its serial number is " + serial + ", and S6XYNG0T was named"}},
		"only reads":          {[]string{"quick", "--config", calmly, "-t", loop.Path}, 0, nil},
		"mounted":             {[]string{"mixed", "--config", calmly, "-t", mounted.Path, "--destroy", "name:" + filepath.Base(mounted.Path)}, 4, []string{mounted.Path + " is mounted at " + small}},
		"little space":        {[]string{"quick", "--config", calmly, "-t", small}, 1, []string{"make " + filepath.Join(small, "ssdprobe.dat") + " of 1 GiB: too little space for a probe file"}},
		"somebody's file":     {[]string{"durable-write", "--config", calmly, "-t", foreign}, 4, []string{foreign + ": it exists; name a directory"}},
		"it is only read":     {[]string{"quick", "--config", calmly, "-t", foreign}, 0, nil},
		"busy":                {[]string{"quick", "--config", busy, "-t", loop.Path}, 4, []string{loop.Path + ": busy: others "}},
		"even if busy":        {[]string{"quick", "--config", busy, "-t", loop.Path, "--even-if-busy"}, 0, nil},
		"busy and not for it": {[]string{"mixed", "--config", busy, "-t", loop.Path}, 4, []string{"nobody has named it", loop.Path + ": busy: others "}},
	} {
		t.Run(name, func(t *testing.T) {
			state := filepath.Join(testenv.OnDisk(t), "state")
			got := ssdprobe(t, append([]string{"run", "--dry-run", "--state-dir", state}, c.args...)...)
			assert.Equal(t, c.code, got.code, got.stderr)
			assert.Equal(t, c.code == 0, got.stderr == "", got.stderr)
			assert.Contains(t, got.stdout, "\nfilename=")
			assert.Equal(t, len(c.says), strings.Count(got.stdout, "\n# would be refused: "), got.stdout)
			for _, says := range c.says {
				assert.Contains(t, got.stdout, says)
			}
			assert.NoDirExists(t, state)
		})
	}
	for _, more := range [][]string{nil, {"--dry-run"}} {
		got := ssdprobe(t, append([]string{"run", "quick", "--config", busy, "--state-dir", t.TempDir(), "-t", loop.Path, "--destroy", "WRONG"}, more...)...)
		assert.Equal(t, 4, got.code, got.stderr)
		assert.Contains(t, got.stderr, "busy: others ", "a run looks at that first")
	}
	assert.Equal(t, before, sum(t, loop.Backing), "bit-identical")
	left, err := os.ReadDir(small)
	require.NoError(t, err)
	assert.Len(t, left, 1, "lost+found")
}

// What cannot be run at all is refused, by a dry run as well as by the run itself, before a file is created.
func TestWhatCannotBeRunFillsNothing(t *testing.T) {
	t.Parallel()
	loop := testenv.LoopDevice(t, 16<<20, testenv.Options{Random: true})
	serial := "name:" + filepath.Base(loop.Path)
	dir := testenv.OnDisk(t)
	for says, args := range map[string][]string{
		"it is not NVMe; --set coalescing=as-found measures it as it is":                                               {"interrupts", "-t", loop.Path},
		"255 MiB is too small for 2 jobs at depth 1 with blocks of 128 MiB; give --size 257MiB or more, or fewer jobs": {"model", "-t", dir, "--size", "256MiB", "--set", "jobs=2"},
		"--keep-file: is for the file that a directory gets, and " + loop.Path + " is a block device":                  {"quick", "-t", loop.Path, "--keep-file"},
		"--size: is for the file that a directory gets, and " + loop.Path + " is a block device":                       {"quick", "-t", loop.Path, "--size", "16MiB"},
		"plan quick: --destroy WRONG: the suite only reads, so nothing would be overwritten; leave --destroy out":      {"quick", "-t", loop.Path, "--destroy", "WRONG"},
		"plan mixed: --destroy WRONG: it is not one of the targets (" + serial + "); leave it out":                     {"mixed", "-t", loop.Path, "--destroy", serial, "--destroy", "WRONG"},
	} {
		for _, more := range [][]string{nil, {"--dry-run"}} {
			got := ssdprobe(t, slices.Concat([]string{"run", "--config", calm(t), "--state-dir", t.TempDir()}, args, more)...)
			assert.Equal(t, 2, got.code, got.stderr)
			assert.Contains(t, got.stderr, says)
			assert.NotContains(t, got.stdout, "\nfilename=")
		}
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// If this process lacks something, the run is refused, but the plan is still shown.
func TestDryRunWithLessOfFio(t *testing.T) {
	fio := testenv.Installed(t, "fio")
	dir, disk, config := t.TempDir(), testenv.OnDisk(t), calm(t)
	run := func(more ...string) done {
		return ssdprobe(t, append([]string{"run", "quick", "--config", config, "--state-dir", t.TempDir(), "-t", disk}, more...)...)
	}
	without := "#!/bin/sh\n[ \"$1\" = --enghelp ] && echo psync && exit\nexec " + fio + " \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fio"), []byte(without), 0o700)) //nolint:gosec // it is executed
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	ended, dry := run(), run("--dry-run")
	assert.Equal(t, ended.code, dry.code)
	assert.NotZero(t, dry.code)
	assert.Contains(t, ended.stderr, "I/O engine ")
	assert.Contains(t, dry.stdout, "# would be refused: I/O engine ")
	assert.Contains(t, dry.stdout, "\nfilename=")

	t.Setenv("PATH", t.TempDir())
	ended, dry = run("--set", "time=0"), run("--set", "time=0", "--dry-run")
	assert.Equal(t, ended.code, dry.code)
	ended, dry = run("--destroy", "WRONG"), run("--destroy", "WRONG", "--dry-run")
	assert.Equal(t, ended.code, dry.code)
}

// A filesystem that is also too small is read-only in the first place.
func TestARunAndADryRunOnAReadOnlyFilesystemAreRefused(t *testing.T) {
	t.Parallel()
	dir := testenv.Ext4(t, 64<<20)
	testenv.RemountReadOnly(t, dir)
	for _, more := range [][]string{nil, {"--dry-run"}} {
		got := ssdprobe(t, append([]string{"run", "quick", "--config", calm(t), "--state-dir", t.TempDir(), "-t", dir}, more...)...)
		assert.Equal(t, 1, got.code, got.stderr)
		assert.Contains(t, got.stderr, "make a probe file in "+dir+": read-only file system: name a directory on another filesystem")
	}
}

// Without space for a file, nothing can be measured. That is neither unsafe nor busy.
func TestRunDoesNotFillAFilesystem(t *testing.T) {
	t.Parallel()
	dir := testenv.Ext4(t, 64<<20)
	got := ssdprobe(t, "run", "quick", "--config", calm(t), "--state-dir", t.TempDir(), "-t", dir)
	assert.Equal(t, 1, got.code, got.stderr)
	assert.Contains(t, got.stderr, "make "+filepath.Join(dir, "ssdprobe.dat")+" of 1 GiB: too little space for a probe file: ")
	assert.NotContains(t, got.stderr, "refused")
}

func TestWrongUsageOfSuites(t *testing.T) {
	job := file(t, "my.fio", "[a]\nrw=randread\n")
	for want, args := range map[string][]string{
		"--job: is run instead of a suite":                      {"run", "quick", "--job", job, "-t", "/"},
		"--job: open /no/such/file":                             {"run", "--job", "/no/such/file", "-t", "/"},
		"--job: want a file, not standard input":                {"run", "--job", "-", "-t", "/"},
		"--spec: want a file, not standard input":               {"run", "quick", "--spec", "-", "-t", "/"},
		"--output: --dry-run prints text or json, not markdown": {"run", "quick", "--dry-run", "-o", "markdown", "-t", "/"},
		"--spec: the file has no figures; want those of":        {"run", "quick", "--spec", file(t, "s.yaml", "model: x\n"), "-t", "/"},
		`--spec: line 1: random-write: "40k IOPS at 16KB" has no valid block size; want 512, 1KiB, 2KiB, 4KiB and so on to 16MiB, e.g. 40k IOPS at 16KiB`: {
			"run", "saturate", "--spec", file(t, "b.yaml", "random-write: 40k IOPS at 16KB\n"), "-t", "/",
		},
		"--spec: is for suites of fio":                           {"run", "--spec", "x", "-t", "/"},
		"--destroy: is for suites of fio":                        {"run", "--destroy", "x", "-t", "/"},
		"--destroy: is for block devices only, and / is not one": {"run", "durable-write", "--destroy", "S6XYNG0T", "-t", "/"},
		"--destroy-unknown-data: goes with --destroy SERIAL":     {"run", "mixed", "--destroy-unknown-data", "-t", "/dev/null"},
		"--format: is for steady-state, not for mixed":           {"run", "mixed", "--format", "--destroy", "S6XYNG0T", "-t", "/dev/null"},
		"--format: is for steady-state, not for probe":           {"run", "--format", "-t", "/dev/null"},
		"--format: goes with --destroy SERIAL":                   {"run", "steady-state", "--format", "-t", "/dev/null"},
		"--set: purge: set twice":                                {"run", "steady-state", "--format", "--destroy", "S6XYNG0T", "--set", "purge=yes", "-t", "/dev/null"},
		"--set: rounds: 3 is less than the window of 5":          {"run", "steady-state", "--set", "rounds=3", "-t", "/dev/null"},
		"--target: quick takes one":                              {"run", "quick", "-t", "/", "-t", "/tmp"},
		"are the same":                                           {"run", "scale", "-t", "/tmp", "-t", "/tmp/"},
		"--set: time: the suite job-my.fio has no such":          {"run", "--job", job, "--set", "time=1s", "-t", "/"},
	} {
		got := in(append(args, "--state-dir", t.TempDir())...)
		assert.Equal(t, 2, got.code, got.stderr)
		assert.Contains(t, got.stderr, want)
	}
}

func TestRunOwnJob(t *testing.T) {
	t.Parallel()
	job := file(t, "my.fio", "[a]\nrw=randread\nbs=8k\nruntime=200ms\ntime_based\nioengine=psync\ndirect=1\n")
	got := ssdprobe(t, "run", "--config", calm(t), "--state-dir", t.TempDir(), "--job", job, "-t", testenv.OnDisk(t), "--size", "16MiB", "-o", "json")
	require.Equal(t, 0, got.code, got.stderr)
	r := document(t, got).Report
	assert.Equal(t, "job-my.fio", r.Suite)
	require.Len(t, r.Steps, 1)
	assert.Equal(t, r.Steps[0].Read.IOs*8192, r.Steps[0].Read.Bytes)
}

// What fio does not accept is refused before a file is filled, by a dry run, too.
func TestRunOwnJobThatFioRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[a]\nrw=upwards\n":           "plan job-my.fio: fio does not accept it: fio: failed parsing rw=upwards",
		"[a]\nrw=randread\nfsync=x\n": "plan job-my.fio: fio does not accept it: fio: failed parsing fsync=x",
		"[a]\nrw=randread\nbogus=1\n": "bogus",
	} {
		dir := testenv.OnDisk(t)
		for _, how := range [][]string{nil, {"--dry-run"}} {
			got := ssdprobe(t, append([]string{"run", "--config", calm(t), "--state-dir", t.TempDir(), "--job", file(t, "my.fio", text), "-t", dir, "--size", "16MiB", "--keep-file"}, how...)...)
			assert.Equal(t, 2, got.code, got.stderr)
			assert.Contains(t, got.stderr, want)
			assert.Empty(t, testenv.Names(t, dir))
		}
	}
}

// A user's own job is compared, step by step, with what fio itself printed for the same job.
func TestOwnJobAgainstFio(t *testing.T) {
	t.Parallel()
	dir := testenv.OnDisk(t)
	data := filepath.Join(dir, "data")
	require.NoError(t, os.WriteFile(data, bytes.Repeat([]byte("ssdprobe"), 4<<20/8), 0o600))
	jobs := file(t, "my.fio", "[global]\nioengine=libaio\ndirect=1\nthread\nnumber_ios=500\nsize=4m\n[random]\nrw=randread\nbs=8k\niodepth=4\n"+
		"[two]\nstonewall\nrw=read\nbs=64k\nnumjobs=2\ngroup_reporting\n[mixed]\nstonewall\nrw=randread\n[beside]\nrw=read\nbs=16k\n")
	own := ssdprobe(t, "run", "--config", calm(t), "--state-dir", t.TempDir(), "--job", jobs, "-t", data, "-o", "json")
	require.Equal(t, 0, own.code, own.stderr)
	plans := []string{"8 KiB random read, depth 4", "64 KiB sequential read, depth 1, 2 jobs", "4 KiB random read, depth 1 + 16 KiB sequential read, depth 1"}
	for i, step := range document(t, own).Report.Steps {
		assert.Equal(t, plans[i], step.Plan)
	}
	imported := filepath.Join(dir, "fio.json")
	out, err := exec.Command("fio", "--output-format=json", "--output="+imported, "--filename="+data, "--readonly", jobs).CombinedOutput()
	require.NoError(t, err, string(out))

	got := in("compare", file(t, "own.json", own.stdout), imported, "-o", "json")
	var all report.Comparisons
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &all), got.stderr)
	assert.Empty(t, all.Comparisons[0].NotCompared)
	var compared []string
	for _, l := range all.Comparisons[0].Loads {
		compared = append(compared, l.Plan)
	}
	assert.Equal(t, plans, compared)
}

// A raw device is not written to unless the user gives its serial number.
func TestRunRefusesToDestroy(t *testing.T) {
	t.Parallel()
	loop := testenv.LoopDevice(t, 16<<20, testenv.Options{Random: true})
	before, err := os.ReadFile(loop.Backing)
	require.NoError(t, err)
	args := []string{"run", "mixed", "--config", calm(t), "--state-dir", t.TempDir(), "-t", loop.Path, "--set", "time=200ms", "--set", "engines=libaio"}
	for _, more := range [][]string{nil, {"--destroy", "S6XYNG0T"}} {
		got := ssdprobe(t, append(args, more...)...)
		assert.Equal(t, 4, got.code)
		assert.Contains(t, got.stderr, "refused to write to "+loop.Path+":\n- ")
		assert.Contains(t, got.stderr, "--destroy SERIAL allows it")
	}
	after, err := os.ReadFile(loop.Backing)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
	got := ssdprobe(t, append(args, "--destroy", "name:"+filepath.Base(loop.Path))...)
	assert.Equal(t, 0, got.code, got.stderr)
}

// Overwriting unknown data needs a flag of its own; a filesystem is refused even with it. After a run, the
// serial number alone suffices to overwrite the device again.
func TestRunRefusesToDestroyUnknownData(t *testing.T) {
	t.Parallel()
	loop := testenv.LoopDevice(t, 16<<20, testenv.Options{})
	notes := func() {
		f, err := os.OpenFile(loop.Path, os.O_WRONLY|syscall.O_SYNC, 0)
		require.NoError(t, err)
		_, err = f.Write([]byte(strings.Repeat("somebody's notes\n", 1<<20/17)))
		require.NoError(t, errors.Join(err, f.Close()))
	}
	args := []string{"run", "mixed", "--config", calm(t), "--state-dir", t.TempDir(), "-t", loop.Path, "--set", "time=200ms", "--set", "engines=libaio",
		"--destroy", "name:" + filepath.Base(loop.Path)}
	notes()
	before := sum(t, loop.Backing)
	for _, more := range [][]string{nil, {"--dry-run"}} {
		got := ssdprobe(t, append(args, more...)...)
		assert.Regexp(t, "it has data of no known format: 256 of 1 536 sampled blocks are neither blank nor random, the first of them \\(text\\) at byte 0(;|\n) ?"+
			"if nobody needs that data, --destroy-unknown-data allows overwriting it", got.stderr)
		assert.NotContains(t, got.stdout+got.stderr, "somebody")
		assert.Equal(t, 4, got.code)
	}
	assert.Equal(t, before, sum(t, loop.Backing), "bit-identical")
	// All of it is overwritten, so that nothing of it remains.
	all := []string{"run", "--job", file(t, "all.fio", "[all]\nrw=write\nbs=64k\nioengine=psync\ndirect=1\n")}
	got := ssdprobe(t, append(append(all, args[2:6]...), "-t", loop.Path, "--destroy", "name:"+filepath.Base(loop.Path), "--destroy-unknown-data")...)
	require.Equal(t, 0, got.code, got.stderr)
	got = ssdprobe(t, args...)
	assert.Equal(t, 0, got.code, got.stderr)

	out, err := exec.Command("mkfs.ext4", "-q", "-F", loop.Path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	got = ssdprobe(t, append(args, "--destroy-unknown-data")...)
	assert.Equal(t, 4, got.code)
	assert.Contains(t, got.stderr, "there is ext2, ext3 or ext4 on it (at byte 1080): if nobody needs it, remove the marks with wipefs -a "+loop.Path)
}

// The write cache is restored when a run ends, for whatever reason. The next run reports one that was killed.
func TestRunRestoresTheWriteCache(t *testing.T) {
	t.Parallel()
	loop := testenv.LoopDevice(t, 16<<20, testenv.Options{Random: true})
	cache := "/sys/block/" + filepath.Base(loop.Path) + "/queue/write_cache"
	state, config := t.TempDir(), calm(t)
	read := func() string {
		text, err := os.ReadFile(cache)
		require.NoError(t, err)
		return strings.TrimSpace(string(text))
	}
	require.NoError(t, os.WriteFile(cache, []byte("write back"), 0))
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
		p := start(t, "run", "sequential-vs-random", "--config", config, "--state-dir", state, "-t", loop.Path,
			"--set", "writes=no", "--set", "cache=off", "--set", "time=1h")
		p.Stderr.Find(t, "(?m)^step 1 of")
		assert.Equal(t, "write through", read())
		p.Signal(t, signal)
		assert.NotZero(t, p.Wait(t))
		if signal == syscall.SIGKILL {
			testenv.Eventually(t, "the write cache is on again", func() bool { return read() == "write back" })
		}
		assert.Equal(t, "write back", read(), signal.String())
	}
	got := ssdprobe(t, "run", "quick", "--config", config, "--state-dir", state, "-t", loop.Path, "--set", "time=100ms")
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stderr, "restored after a run: write cache of "+filepath.Base(loop.Path))
	assert.Equal(t, "write back", read())
}
