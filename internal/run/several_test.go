package run_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/admit"
	"github.com/ssdprobe/ssdprobe/internal/cli"
	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/run"
	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/state"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

const mib = 1 << 20

func TestMain(m *testing.M) {
	testenv.Be(cli.Main) // restores the settings of a killed run
	os.Exit(m.Run())
}

// begin takes targets for a run.
func begin(t *testing.T, paths ...string) []*run.Session {
	t.Helper()
	var subjects []measure.Subject
	for _, path := range paths {
		subject, err := run.Find(sysfs.FS{}, path, 16*mib)
		require.NoError(t, err)
		subjects = append(subjects, subject)
	}
	return beginWith(t, func(run.Progress) {}, subjects...)
}

// beginWith takes targets that were found before.
func beginWith(t *testing.T, progress func(run.Progress), subjects ...measure.Subject) []*run.Session {
	t.Helper()
	meter, _, err := counters.NewMeter()
	require.NoError(t, err)
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	locks := t.TempDir()
	sessions, err := run.BeginAll(t.Context(), subjects, func(measure.Subject) run.Options {
		return run.Options{
			Options: measure.Options{Engine: probe.NewEngine(meter, 1), Meter: meter}, Restorer: testenv.CommandLine(t, "restore-settings"),
			Limits:  admit.Unlimited(),
			LockDir: locks, Store: dir.Store, Node: "storage-07", Progress: progress,
		}
	})
	require.NoError(t, err)
	return sessions
}

func chosen(t *testing.T, name string, settings ...string) run.Suite {
	t.Helper()
	s, err := suite.Find(name)
	require.NoError(t, err)
	v, err := s.Set(settings)
	require.NoError(t, err)
	testenv.Installed(t, "fio")
	binary, err := fiorun.Find(t.Context())
	require.NoError(t, err)
	return run.Suite{Suite: s, Values: v, Fio: binary}
}

func end(t *testing.T, sessions []*run.Session) []string {
	t.Helper()
	removed, err := run.EndAll(sessions)
	require.NoError(t, err)
	return removed
}

func TestRunSuiteOnSeveralDevices(t *testing.T) {
	var paths []string
	for range 3 {
		paths = append(paths, testenv.LoopDevice(t, 16*mib, testenv.Options{Random: true}).Path)
	}
	slices.SortFunc(paths, func(a, b string) int { // other tests end theirs, and free names come in any order
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	sessions := begin(t, paths[2], paths[0], paths[1])
	r, err := run.RunSuite(t.Context(), sessions, chosen(t, "scale", "time=100ms", "ramp=0s", "loads=random-read", "random-jobs=1", "counts=1,3"))
	require.NoError(t, err)
	assert.Empty(t, end(t, sessions))
	require.Len(t, r.Steps, 4)
	require.Len(t, r.Targets, 3)
	for i, target := range r.Targets {
		assert.Equal(t, paths[i], target.Path)
	}
	assert.Equal(t, "random-read-device-3-alone", r.Steps[2].Name)
	require.Len(t, r.Analysis.Scalings, 1)
	scaling := r.Analysis.Scalings[0]
	require.Len(t, scaling.Points, 2)
	ideal := 0.0
	for _, step := range r.Steps[:3] {
		ideal += step.Read.IOPS
	}
	assert.InDelta(t, ideal, scaling.Points[1].Ideal, 1e-6*ideal)
	assert.Equal(t, "storage-07", r.Node)
}

// Two targets on one device share its lock.
func TestTargetsOnOneDevice(t *testing.T) {
	dir := testenv.Ext4(t, 512*mib)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a"), 0o700))
	sessions := begin(t, dir, filepath.Join(dir, "a"))
	r, err := run.RunSuite(t.Context(), sessions, chosen(t, "concurrency", "time=100ms", "jobs=1", "repeats=1"))
	require.NoError(t, err)
	require.Len(t, r.Steps, 2)
	assert.Contains(t, r.Steps[0].Plan, "on "+dir+" (ext4)")
	assert.Len(t, end(t, sessions), 2)
}

// A run may wait for the lock of another one, whose file is there when its target is found, and gone when it begins.
func TestARunThatWaitedMakesTheFileThatItWasAskedFor(t *testing.T) {
	dir := testenv.Ext4(t, 512*mib)
	probes := record.DefaultProbes()[:1]
	first := begin(t, dir)
	_, err := first[0].Probes(t.Context(), probes, 1, 1)
	require.NoError(t, err)
	subject, err := run.Find(sysfs.FS{}, dir, 32*mib)
	require.NoError(t, err)
	assert.Len(t, end(t, first), 1)

	second := beginWith(t, func(run.Progress) {}, subject)
	r, err := second[0].Probes(t.Context(), probes, 1, 1)
	require.NoError(t, err)
	assert.Len(t, end(t, second), 1)
	assert.Equal(t, int64(32*mib), r.File.Bytes)
	assert.NotContains(t, codes(r.Warnings), record.WarnSmallFile)
}

// The last bytes of a file are written, and Ctrl-C comes while the drive stores them: the file is there, and is removed.
func TestARunThatIsStoppedWhenItsFileIsFullRemovesIt(t *testing.T) {
	dir := testenv.Ext4(t, 512*mib)
	subject, err := run.Find(sysfs.FS{}, dir, 16*mib)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	sessions := beginWith(t, func(p run.Progress) {
		if p.Step == "fill" && p.Done == 1 {
			stop()
		}
	}, subject)
	_, err = sessions[0].Probes(ctx, record.DefaultProbes()[:1], 1, 1)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, []string{filepath.Join(dir, "ssdprobe.dat")}, end(t, sessions))
	assert.Equal(t, []string{"lost+found"}, testenv.Names(t, dir))
}

// A run on a raw device of which nothing is known looks for written blocks first: as it did not, the first rounds never had
// enough of them, and could decide nothing, in whichever run.
func TestProbesOfARawDeviceKnowEnoughBlocks(t *testing.T) {
	loop := testenv.LoopDevice(t, 64*mib, testenv.Options{Random: true})
	sessions := begin(t, loop.Path)
	r, err := sessions[0].Probes(t.Context(), record.DefaultProbes()[:1], 2, 1)
	require.NoError(t, err)
	end(t, sessions)
	require.Len(t, r.Steps, 1)
	assert.NotContains(t, codes(r.Steps[0].Warnings), record.WarnPoolSmall)
}

func sum(t *testing.T, loop testenv.Loop) [sha256.Size]byte {
	t.Helper()
	data, err := os.ReadFile(loop.Backing)
	require.NoError(t, err)
	return sha256.Sum256(data)
}

func TestRunSuiteOverwritesWhatWasNamed(t *testing.T) {
	loop := testenv.LoopDevice(t, 16*mib, testenv.Options{Random: true})
	before := sum(t, loop)
	subject, err := run.Find(sysfs.FS{}, loop.Path, 0)
	require.NoError(t, err)
	for want, destroy := range map[string][]string{
		"nobody has named it by its serial number": nil,
		", and S1 was named":                       {"S1", "S2"},
	} {
		sessions := begin(t, loop.Path)
		c := chosen(t, "mixed", "time=100ms", "engines=libaio")
		c.Destroy = destroy
		r, err := run.RunSuite(t.Context(), sessions, c)
		require.ErrorIs(t, err, safety.ErrRefused)
		require.ErrorContains(t, err, want)
		assert.Empty(t, r.Steps)
		end(t, sessions)
		assert.Equal(t, before, sum(t, loop))
	}
	sessions := begin(t, loop.Path)
	c := chosen(t, "mixed", "time=100ms", "engines=libaio")
	c.Destroy = []string{"S1", safety.Name(subject.Device)}
	_, err = run.RunSuite(t.Context(), sessions, c)
	require.ErrorContains(t, err, "--destroy S1: it is not one of the targets")
	assert.Equal(t, before, sum(t, loop))
	c.Destroy = c.Destroy[1:]
	r, err := run.RunSuite(t.Context(), sessions, c)
	require.NoError(t, err)
	end(t, sessions)
	assert.Positive(t, r.Steps[0].Write.IOs)
	assert.NotEqual(t, before, sum(t, loop))
}

// A suite writes to a file of its own: the daemon's file keeps its content, and other
// files are not touched.
func TestRunSuiteWritesToAFileOfItsOwn(t *testing.T) {
	dir := testenv.Ext4(t, 512*mib)
	daemons, foreign := filepath.Join(dir, "ssdprobe.dat"), filepath.Join(dir, "database")
	precious := slices.Repeat([]byte("precious"), 2*mib)
	for _, name := range []string{daemons, foreign} {
		require.NoError(t, os.WriteFile(name, precious, 0o600))
	}
	sessions := begin(t, dir)
	r, err := run.RunSuite(t.Context(), sessions, chosen(t, "durable-write", "time=100ms", "repeats=1"))
	require.NoError(t, err)
	assert.Positive(t, r.Steps[0].Sync.IOs)
	assert.Equal(t, []string{filepath.Join(dir, "ssdprobe-write.dat")}, end(t, sessions))

	sessions = begin(t, foreign)
	_, err = run.RunSuite(t.Context(), sessions, chosen(t, "mixed", "time=100ms", "engines=libaio"))
	require.ErrorIs(t, err, safety.ErrRefused)
	require.ErrorContains(t, err, "it exists; name a directory")
	end(t, sessions)
	for _, name := range []string{daemons, foreign} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(precious, text), name)
	}
}

// A file of the name that a suite writes to is made anew only if ssdprobe made it.
func TestRunSuiteRemovesNoFileThatMayBelongToOthers(t *testing.T) {
	dir := testenv.Ext4(t, 512*mib)
	name := filepath.Join(dir, "ssdprobe-write.dat")
	for _, text := range []string{"", "precious", "{\"made_by\":\"somebody\"}"} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		sessions := begin(t, dir)
		_, err := run.RunSuite(t.Context(), sessions, chosen(t, "durable-write", "time=100ms", "repeats=1"))
		require.ErrorIs(t, err, safety.ErrRefused)
		require.ErrorContains(t, err, "write to "+name+": ssdprobe did not make it; remove it, or name another directory")
		assert.Empty(t, end(t, sessions))
		left, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, text, string(left))
	}
}

// What takes the place of the file between two steps is neither overwritten nor removed.
func TestRunSuiteWritesOnlyToTheFileThatItMade(t *testing.T) {
	for name, replace := range map[string]func(theirs, name string) error{
		"a file": os.Rename, "another name of a file": os.Link, "a link": os.Symlink,
	} {
		t.Run(name, func(t *testing.T) {
			dir := testenv.Ext4(t, 512*mib)
			theirs, name := filepath.Join(dir, "database"), filepath.Join(dir, "ssdprobe-write.dat")
			precious := slices.Repeat([]byte("precious"), 8*mib)
			require.NoError(t, os.WriteFile(theirs, precious, 0o600))
			sessions := begin(t, dir)
			c := chosen(t, "durable-write", "time=100ms", "repeats=2")
			replaced := sync.OnceValue(func() error { return errors.Join(os.Remove(name), replace(theirs, name)) })
			c.KeepFio = func(string, string, []byte) { require.NoError(t, replaced()) }
			r, err := run.RunSuite(t.Context(), sessions, c)
			require.ErrorIs(t, err, safety.ErrRefused)
			assert.Len(t, r.Steps, 1)
			removed, err := run.EndAll(sessions)
			require.Error(t, err)
			assert.Empty(t, removed)
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(precious, text))
		})
	}
}

// A run in another container has other locks. Its file is not that of a killed run.
func TestRunSuiteLeavesTheFileOfARunInProgress(t *testing.T) {
	dir := testenv.Ext4(t, 512*mib)
	write := chosen(t, "durable-write", "time=100ms", "repeats=2")
	other := write
	write.KeepFio = func(string, string, []byte) {
		sessions := begin(t, dir) // with a lock directory of its own
		_, err := run.RunSuite(t.Context(), sessions, other)
		require.ErrorIs(t, err, run.ErrInUse)
		require.ErrorContains(t, err, filepath.Join(dir, "ssdprobe-write.dat"))
		assert.Empty(t, end(t, sessions))
	}
	sessions := begin(t, dir)
	r, err := run.RunSuite(t.Context(), sessions, write)
	require.NoError(t, err)
	assert.Len(t, r.Steps, 2)
	assert.Len(t, end(t, sessions), 1)
}

// Settings are changed via the state directory of the run.
func TestRunSuiteChangesSettings(t *testing.T) {
	loop := testenv.LoopDevice(t, 16*mib, testenv.Options{Random: true})
	cache := "/sys/block/" + filepath.Base(loop.Path) + "/queue/write_cache"
	require.NoError(t, os.WriteFile(cache, []byte("write back"), 0))
	sessions := begin(t, loop.Path)
	c := chosen(t, "sequential-vs-random", "time=100ms", "writes=no", "depths=1", "repeats=1", "cache=off")
	r, err := run.RunSuite(t.Context(), sessions, c)
	require.NoError(t, err)
	end(t, sessions)
	assert.Equal(t, map[string]string{"write cache": "off"}, r.Steps[0].Workload.Settings)
	text, err := os.ReadFile(cache)
	require.NoError(t, err)
	assert.Equal(t, "write back\n", string(text))
	assert.NotContains(t, codes(r.Warnings), record.WarnShort)
}

func codes(warnings []record.Warning) []string {
	var all []string
	for _, w := range warnings {
		all = append(all, w.Code)
	}
	return all
}
