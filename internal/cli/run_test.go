package cli_test

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

// calm returns a configuration with which a busy test machine neither refuses a run nor disturbs a round. It
// has locks of its own.
func calm(t *testing.T) string {
	t.Helper()
	return file(t, "c.yaml", "lock_dir: "+t.TempDir()+"\nadmission: {max_utilisation: 1, max_in_flight: 1000, max_io_pressure: 1, max_cpu_wait: 1}\n")
}

func document(t *testing.T, d done) report.Document {
	t.Helper()
	var doc report.Document
	require.NoError(t, json.Unmarshal([]byte(d.stdout), &doc), "%s%s", d.stdout, d.stderr)
	return doc
}

func TestRunProbesInADirectory(t *testing.T) {
	t.Parallel()
	dir, state := testenv.OnDisk(t), t.TempDir()
	got := ssdprobe(t, "run", "--config", calm(t), "--state-dir", state, "--target", dir, "--size", "16MiB", "--rounds", "3", "-o", "json")
	require.Equal(t, 0, got.code, got.stderr)
	doc := document(t, got)
	r := doc.Report
	assert.Equal(t, "probe", r.Suite)
	assert.Equal(t, filepath.Join(dir, "ssdprobe.dat"), r.Target)
	assert.Nil(t, doc.Comparison, "nothing was saved to compare with")
	require.Len(t, r.Steps, 3)
	for i, p := range record.DefaultProbes() {
		step := r.Steps[i]
		assert.Equal(t, p.Name, step.Name)
		result := step.Read
		if p.Direction == record.Write {
			result = step.Write
		}
		require.NotNil(t, result, p.Name)
		assert.Equal(t, int64(3*p.IOs), result.IOs)
		assert.Equal(t, int64(3*p.IOs)*p.BlockBytes, result.Bytes)
		assert.Equal(t, result.IOs, result.Latency.Count())
		assert.InEpsilon(t, float64(result.IOs)/step.Duration.Seconds(), result.IOPS, 1e-9)
		assert.Positive(t, result.Min)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left, "the file that was made is removed")
	assert.Contains(t, got.stderr, "removed "+r.Target)
	assert.Contains(t, got.stderr, "fill 100 %", "plain lines of progress where there is no terminal")
}

func TestRunComparesWithTheSavedRun(t *testing.T) {
	dir, stateDir, config := testenv.OnDisk(t), t.TempDir(), calm(t)
	args := []string{"run", "--config", config, "--state-dir", stateDir, "-t", dir, "--size", "16MiB", "--keep-file", "--probe", "read-4k", "--rounds", "5"}
	first := ssdprobe(t, append(args, "--save-baseline")...)
	require.Equal(t, 0, first.code, first.stderr)
	assert.Contains(t, first.stderr, "saved as the baseline of probe on "+filepath.Join(dir, "ssdprobe.dat")+", in "+stateDir+"\n")

	// One run against one detects only a large change of its only load, and no noise of a busy test machine.
	s, err := state.Open(stateDir)
	require.NoError(t, err)
	saved, err := s.RunBaselines()
	require.NoError(t, err)
	require.Len(t, saved, 1)
	for name, c := range map[string]struct {
		factor  float64
		code    int
		verdict []record.Verdict
	}{
		"slower than before": {0.01, 3, []record.Verdict{record.Slower}},
		"as before":          {1, 0, []record.Verdict{record.Same, record.Inconclusive}},
		"faster than before": {100, 0, []record.Verdict{record.Faster}},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, s.SaveRunBaseline(scaled(saved[0], c.factor)))
			again := ssdprobe(t, append(args, "-o", "json")...)
			assert.Equal(t, c.code, again.code, again.stderr)
			doc := document(t, again)
			require.NotNil(t, doc.Comparison)
			assert.Contains(t, c.verdict, doc.Comparison.Verdict)
		})
	}

	newer := saved[0]
	newer.Version++
	require.NoError(t, s.SaveRunBaseline(newer))
	refused := ssdprobe(t, args...)
	assert.Equal(t, 1, refused.code)
	assert.Contains(t, refused.stderr, "written by a newer ssdprobe; nothing was measured")
	assert.Empty(t, refused.stdout, "that is known before anything is measured")
	require.NoError(t, s.SaveRunBaseline(saved[0]))

	shown := ssdprobe(t, "baseline", "show", "--state-dir", stateDir)
	assert.Contains(t, shown.stdout, "Saved run of probe on "+filepath.Join(dir, "ssdprobe.dat"))
	forgot := ssdprobe(t, "baseline", "reset", dir, "--run", "probe", "--state-dir", stateDir)
	assert.Equal(t, 0, forgot.code, forgot.stderr)
	assert.NotContains(t, ssdprobe(t, "baseline", "show", "--state-dir", stateDir).stdout, "Saved run")
}

// That a baseline cannot be saved is known before anything is measured. A disturbed one is saved with a
// warning.
func TestRunSavesABaseline(t *testing.T) {
	dir, stateDir := testenv.OnDisk(t), t.TempDir()
	run := func(config string) done {
		return ssdprobe(t, "run", "--config", config, "--state-dir", stateDir, "-t", dir, "--size", "16MiB", "--probe", "read-4k", "--rounds", "2", "--save-baseline")
	}
	const disturbed = "warning: 1 of 1 step of this baseline will not decide later comparisons (disturbed); repeat the run once the cause is gone, with --repeats 4\n"
	never := file(t, "never.yaml", "admission: {max_utilisation: 1, max_io_pressure: 1, max_in_flight: 100000, max_cpu_wait: 0.000001}\n")
	for range 2 * runtime.NumCPU() { // so that the probe's thread has to wait for a CPU
		busy := exec.Command("sh", "-c", "while :; do :; done")
		require.NoError(t, busy.Start())
		defer func() {
			_ = busy.Process.Kill()
			_ = busy.Wait() // it was killed, so there is always an error
		}()
	}
	got := run(never)
	for attempt := 1; attempt < 5 && !strings.Contains(got.stderr, disturbed); attempt++ { // a round may be undisturbed by luck
		got = run(never)
	}
	require.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stderr, disturbed)

	require.NoError(t, os.RemoveAll(filepath.Join(stateDir, "run-baselines")))
	require.NoError(t, os.WriteFile(filepath.Join(stateDir, "run-baselines"), nil, 0o600))
	got = run(calm(t))
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "--save-baseline: ")
	assert.Contains(t, got.stderr, "not a directory")
	assert.Empty(t, got.stdout)
	assert.NotContains(t, got.stderr, "fill", "nothing was made or measured")
}

func TestRunRepeats(t *testing.T) {
	t.Parallel()
	got := ssdprobe(t, "run", "--config", calm(t), "--state-dir", t.TempDir(), "-t", testenv.OnDisk(t), "--size", "16MiB", "--probe", "read-4k",
		"--rounds", "1", "--repeats", "2", "-o", "json")
	require.Equal(t, 0, got.code, got.stderr)
	var names []string
	for _, s := range document(t, got).Report.Steps {
		assert.Equal(t, "read-4k", s.Series)
		names = append(names, s.Name)
	}
	assert.Equal(t, []string{"read-4k-repeat1", "read-4k-repeat2"}, names)

	planned := ssdprobe(t, "run", "quick", "-t", testenv.OnDisk(t), "--repeats", "2", "--dry-run")
	assert.Contains(t, planned.stdout, "# random-read-qd1-repeat1: 4 KiB random read, depth 1, about 10 s, 2 times\n")
	own := ssdprobe(t, "run", "--job", file(t, "all.fio", "[all]\nrw=read\ndirect=1\n"), "-t", testenv.OnDisk(t), "--size", "16MiB", "--dry-run")
	assert.Contains(t, own.stdout, "# 1 step, as long as the job takes\n")
	assert.Contains(t, own.stdout, "\n# job-all.fio: the jobs of all.fio, as long as the job takes\n")
	refused := ssdprobe(t, "run", "steady-state", "-t", testenv.OnDisk(t), "--repeats", "2")
	assert.Equal(t, 2, refused.code)
	assert.Contains(t, refused.stderr, "--repeats: steady-state has no repeats; run it several times instead")
}

// scaled returns the run as if its drive had taken factor times as long.
func scaled(r record.RunReport, factor float64) record.RunReport {
	steps := append([]record.Step{}, r.Steps...)
	for i := range steps {
		read := *steps[i].Read
		bins := make([]record.Bin, len(read.Latency))
		for j, b := range read.Latency {
			bins[j] = record.Bin{Latency: time.Duration(float64(b.Latency) * factor), Count: b.Count}
		}
		read.Latency, read.IOPS = record.NewHistogram(bins), read.IOPS/factor
		steps[i].Read = &read
	}
	r.Steps = steps
	return r
}

func TestRunRefusesADeviceInUse(t *testing.T) {
	t.Parallel()
	dir, config := testenv.OnDisk(t), calm(t)
	first := start(t, "run", "--config", config, "--state-dir", t.TempDir(), "-t", dir, "--size", "16MiB", "--rounds", "10000")
	first.Stderr.Find(t, `read-4k`)
	second := ssdprobe(t, "run", "--config", config, "--state-dir", t.TempDir(), "-t", dir, "--size", "16MiB")
	assert.Equal(t, 4, second.code)
	assert.Contains(t, second.stderr, "another ssdprobe uses the device")
	assert.Empty(t, second.stdout)

	first.Signal(t, syscall.SIGINT)
	assert.Equal(t, 130, first.Wait(t), "interrupted")
	first.Stderr.Find(t, `removed .*ssdprobe\.dat`)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestRunReadsARawDevice(t *testing.T) {
	t.Parallel()
	loop := testenv.LoopDevice(t, 64<<20, testenv.Options{Random: true})
	before := sum(t, loop.Backing)
	got := ssdprobe(t, "run", "--config", calm(t), "--state-dir", t.TempDir(), "--target", loop.Path, "--rounds", "2", "-o", "json")
	require.Equal(t, 0, got.code, got.stderr)
	r := document(t, got).Report
	require.Len(t, r.Steps, 2, "the write probe does not run on raw devices")
	assert.NotNil(t, r.Steps[0].Read)
	assert.Equal(t, before, sum(t, loop.Backing), "bit-identical")
}

func TestRunSaysWhenNothingWasEverWritten(t *testing.T) {
	t.Parallel()
	loop := testenv.LoopDevice(t, 64<<20, testenv.Options{})
	got := ssdprobe(t, "run", "--config", calm(t), "--state-dir", t.TempDir(), "--target", loop.Path, "--rounds", "2")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "written blocks")
	assert.Contains(t, got.stderr, "probe a file on the device instead")
}

func sum(t *testing.T, path string) [sha256.Size]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return sha256.Sum256(data)
}

func TestRunQuick(t *testing.T) {
	t.Parallel()
	dir := testenv.OnDisk(t)
	got := ssdprobe(t, "run", "quick", "--config", calm(t), "--state-dir", t.TempDir(), "-t", dir, "--size", "32MiB",
		"--set", "time=200ms", "-o", "json")
	require.Equal(t, 0, got.code, got.stderr)
	r := document(t, got).Report
	require.Len(t, r.Steps, 3)
	for _, step := range r.Steps {
		require.NotNil(t, step.Read, step.Name)
		assert.Positive(t, step.Read.IOs)
		assert.Contains(t, step.JobFile, r.Target)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// The output distinguishes a file that is used again from a new one, and a run on a file of another size.
func TestRunTellsOfItsFile(t *testing.T) {
	t.Parallel()
	dir, state, config := testenv.OnDisk(t), t.TempDir(), calm(t)
	kept := filepath.Join(testenv.OnDisk(t), "runs")
	require.NoError(t, os.Mkdir(kept, 0o700))
	run := func(suite, size string, more ...string) done {
		args := append([]string{"run", suite, "--config", config, "--state-dir", state, "-t", dir, "--size", size, "--threshold", "10000%"}, more...)
		got := ssdprobe(t, args...)
		require.Equal(t, 0, got.code, got.stderr)
		return got
	}
	keep := func(name string, got done) string {
		path := filepath.Join(kept, name)
		require.NoError(t, os.WriteFile(path, []byte(got.stdout), 0o600))
		return path
	}
	big := keep("big", run("probe", "64MiB", "--rounds", "2", "-o", "json", "--save-baseline"))
	made := run("probe", "16MiB", "--rounds", "2", "--keep-file", "--verbose")
	assert.Regexp(t, `\nfile +16 MiB, made for this run\n`, made.stdout)
	assert.Contains(t, made.stdout, "file size 64 MiB → 16 MiB")
	reused := run("probe", "1GiB", "--rounds", "2", "-o", "json")
	assert.Equal(t, &record.RunFile{Bytes: 16 << 20, Reused: true}, document(t, reused).Report.File)
	small := keep("small", reused)
	assert.Regexp(t, `\nfile +16 MiB, there before this run\n`, ssdprobe(t, "report", small, "-v").stdout)
	assert.Equal(t, &record.RunFile{Bytes: 16 << 20, Reused: true}, document(t, run("quick", "1GiB", "--set", "time=200ms", "-o", "json")).Report.File)
	compared := ssdprobe(t, "compare", big, small, "--threshold", "10000%")
	assert.Regexp(t, `file size 64 MiB → 16 MiB`, compared.stdout)
}

// fioOn returns the processes that run fio on a device, or on a file below a directory.
func fioOn(t *testing.T, path string) []string {
	t.Helper()
	var found []string
	lists, err := filepath.Glob("/proc/[0-9]*/task/[0-9]*/comm")
	require.NoError(t, err)
	for _, comm := range lists {
		name, _ := os.ReadFile(comm) // a process may end in between
		if !strings.HasPrefix(string(name), "fio") {
			continue // the files of all threads of a busy host take seconds to list
		}
		process := filepath.Dir(filepath.Dir(filepath.Dir(comm)))
		files, _ := filepath.Glob(process + "/fd/*")
		for _, fd := range files {
			if target, _ := os.Readlink(fd); strings.HasPrefix(target+"/", path+"/") {
				found = append(found, process)
			}
		}
	}
	return found
}

func TestRunQuickInterrupted(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"Ctrl-C": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "terminal gone": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			dir := testenv.OnDisk(t)
			p := start(t, "run", "quick", "--config", calm(t), "--state-dir", t.TempDir(), "-t", dir, "--size", "32MiB", "--set", "time=10m")
			eventually(t, "fio works on the file", func() bool { return len(fioOn(t, dir)) > 0 })
			p.Signal(t, signal)
			assert.Equal(t, 128+int(signal), p.Wait(t))
			assert.Empty(t, fioOn(t, dir), "fio is gone, all of it")
			p.Stderr.Find(t, `removed .*ssdprobe\.dat`)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// A mistyped target must not measure another drive.
func TestRunRefusesWhatIsNotThere(t *testing.T) {
	before, err := os.ReadDir(".")
	require.NoError(t, err)
	loop := testenv.LoopDevice(t, oddSize, testenv.Options{})
	name := filepath.Base(loop.Path)
	for typed, says := range map[string]string{
		name:                                    "the device of that name is " + loop.Path,
		"/nope":                                 "nothing is there; name a block device",
		"":                                      "its PATH is empty",
		"/proc":                                 "find /proc: it is on a pseudo filesystem of the kernel, with no drive to measure; name a block device",
		"/proc/cpuinfo":                         "it is on a pseudo filesystem of the kernel",
		"/dev/shm":                              "it is on a filesystem in memory, with no drive to measure; name",
		"/dev/null":                             "find /dev/null: it is a character device; name a block device, a file, or a directory",
		"/etc/passwd":                           "bytes are too few to measure; name a larger file, or a directory",
		filepath.Join(testenv.OnDisk(t), "new"): "nothing is there",
	} {
		for _, suite := range []string{"probe", "quick", "durable-write"} {
			got := in("run", suite, "--target", typed, "--state-dir", t.TempDir())
			assert.Equal(t, 2, got.code, got.stderr)
			assert.Contains(t, got.stderr, says)
			assert.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
		}
	}
	after, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Len(t, after, len(before)+1, "only the test's own directory was made")
}
