package suite_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/safety"
	"github.com/ssdprobe/ssdprobe/internal/settings"
	"github.com/ssdprobe/ssdprobe/internal/suite"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func content(t *testing.T, path string) [sha256.Size]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return sha256.Sum256(data)
}

// A permission is checked again before fio starts.
func TestWritesAreCheckedAgainJustBefore(t *testing.T) {
	target, loop := raw(t)
	s := find(t, "mixed")
	o := suite.Options{Fio: binary(t), Target: target, Values: set(t, s, "time=100ms", "engines=libaio")}
	_, err := s.Plan(o.Values, target)
	require.NoError(t, err, "it is permitted")

	out, err := exec.CommandContext(t.Context(), "mkfs.ext4", "-q", "-F", loop.Path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	before := content(t, loop.Backing)
	got, err := suite.Execute(t.Context(), s, o)
	require.ErrorIs(t, err, safety.ErrRefused)
	require.ErrorContains(t, err, "there is ext2, ext3 or ext4 on it")
	assert.Zero(t, got)
	assert.Equal(t, before, content(t, loop.Backing))

	dir := t.TempDir()
	require.NoError(t, unix.Mount(loop.Path, dir, "ext4", unix.MS_RDONLY, "noload"))
	_, err = suite.Execute(t.Context(), s, o)
	require.ErrorContains(t, err, "is mounted at "+dir)
	require.NoError(t, unix.Unmount(dir, 0))
	assert.Equal(t, before, content(t, loop.Backing))
}

// Whoever may rename files in the directory of a probe file cannot lead the writes of fio elsewhere between the check and fio.
func TestWritesGoToTheFileThatWasChecked(t *testing.T) {
	target := dataFile(t)
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, make([]byte, dataBytes), 0o600))
	before := []any{content(t, target.Path), content(t, other)}
	s := find(t, "mixed")
	moved := target.Path + ".moved"
	swapped := false
	r, err := suite.Execute(t.Context(), s, suite.Options{
		Fio: binary(t), Target: target, Values: set(t, s, "time=100ms", "engines=libaio"),
		Progress: func(suite.Progress) { // first called between the check of a step and its fio
			if !swapped {
				swapped = true
				assert.NoError(t, os.Rename(target.Path, moved))
				assert.NoError(t, os.Symlink(other, target.Path))
			}
		},
	})
	require.NoError(t, err)
	require.Len(t, r.Steps, 1)
	assert.Contains(t, r.Steps[0].JobFile, "filename="+target.Path+"\n")
	assert.NotEqual(t, before[0], content(t, moved))
	assert.Equal(t, before[1], content(t, other))
}

// The same holds between two steps; what was measured until then is kept.
func TestWritesAreCheckedBetweenSteps(t *testing.T) {
	target, loop := raw(t)
	s := find(t, "write-cache")
	var other *exec.Cmd
	got, err := suite.Execute(t.Context(), s, suite.Options{
		Fio: binary(t), Target: target, Values: set(t, s, "time=100ms", "cache=as-found", "blocks=4KiB", "repeats=1"),
		Progress: func(suite.Progress) {
			if other != nil {
				return
			}
			// While the first step runs, another program opens the drive.
			other = exec.CommandContext(t.Context(), "sh", "-c", "exec 3<>"+loop.Path+"; echo ready; read line")
			out, errOut := other.StdoutPipe()
			_, errIn := other.StdinPipe()
			require.NoError(t, errors.Join(errOut, errIn, other.Start())) // the first call is made on this goroutine
			_, err := out.Read(make([]byte, 6))
			require.NoError(t, err, "it has opened the drive")
			_, err = os.OpenFile(loop.Path, os.O_RDONLY|unix.O_EXCL, 0)
			require.ErrorIs(t, err, unix.EBUSY, "the run holds it")
		},
	})
	require.ErrorIs(t, err, safety.ErrRefused)
	require.ErrorContains(t, err, "step 4k-random-write-qd32: refused to write to "+loop.Path+": process ")
	require.Len(t, got.Steps, 1)
	assert.Positive(t, got.Steps[0].Write.IOs)
	require.NoError(t, other.Process.Kill())
	_ = other.Wait() // killed
	f, err := os.OpenFile(loop.Path, os.O_RDONLY|unix.O_EXCL, 0)
	require.NoError(t, err, "it is given back")
	require.NoError(t, f.Close())
}

func TestWritesReallyOverwrite(t *testing.T) {
	target, loop := raw(t)
	before := content(t, loop.Backing)
	s := find(t, "steady-state")
	_, err := suite.Execute(t.Context(), s, suite.Options{
		Fio: binary(t), Target: target, Values: set(t, s, "time=100ms", "rounds=2", "window=2", "precondition=1"),
	})
	require.NoError(t, err)
	assert.NotEqual(t, before, content(t, loop.Backing))
	_, err = safety.Permit(t.Context(), sysfs.FS{}, loop.Path, target.Device, safety.Name(target.Device))
	require.NoError(t, err, "what fio wrote is no signature, so that it can be run again")
}

// A sparse file would fill the filesystem.
func TestWritesDoNotFillAFilesystem(t *testing.T) {
	dir := testenv.Ext4(t, 64<<20)
	path := filepath.Join(dir, "sparse")
	free := testenv.FreeBytes(t, dir)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, free))
	s := find(t, "mixed")
	_, err := suite.Execute(t.Context(), s, suite.Options{
		Fio: binary(t), Target: suite.Target{Path: path, SizeBytes: free}, Values: set(t, s, "time=100ms", "engines=libaio"),
	})
	require.ErrorIs(t, err, safety.ErrRefused)
	require.ErrorContains(t, err, "make it smaller")
	assert.Equal(t, free, testenv.FreeBytes(t, dir))
}

func cacheOf(t *testing.T, target suite.Target) string {
	t.Helper()
	text, err := sysfs.FS{}.Text("/sys/block/" + target.Device.Name + "/queue/write_cache")
	require.NoError(t, err)
	return text
}

// Each step runs under its settings, and they are restored afterwards, however the run
// ends.
func TestSettingsAreRestored(t *testing.T) {
	s, b := find(t, "write-cache"), binary(t)
	fails := script(t, `case $1 in --enghelp) exec `+b.Path+` "$@";; esac; echo broken >&2; exit 1`)
	for name, c := range map[string]struct {
		broken, interrupted bool
	}{"success": {}, "failure": {broken: true}, "an interruption": {interrupted: true}} {
		t.Run(name, func(t *testing.T) {
			target, _ := raw(t)
			require.NoError(t, os.WriteFile("/sys/block/"+target.Device.Name+"/queue/write_cache", []byte("write back"), 0))
			o := suite.Options{Fio: b, Target: target, Settings: changer(t), Values: set(t, s, "time=100ms", "blocks=4KiB", "depths=1", "repeats=1")}
			if c.broken {
				o.Fio = fails
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			seen := map[string]bool{}
			o.Progress = func(p suite.Progress) {
				seen[cacheOf(t, target)] = true
				if c.interrupted {
					cancel(errors.New("interrupted by Ctrl-C"))
				}
			}
			r, err := suite.Execute(ctx, s, o)
			assert.Equal(t, c.broken, err != nil)
			assert.Equal(t, "write back", cacheOf(t, target))
			assert.True(t, seen["write through"])
			assert.Equal(t, name == "success", seen["write back"])
			names, err := o.Settings.Store.Names("settings")
			require.NoError(t, err)
			assert.Empty(t, names)
			if name == "success" {
				assert.Equal(t, map[string]string{"write cache": "off"}, r.Steps[0].Workload.Settings)
			}
		})
	}
}

// A setting that cannot be changed is found before anything is run.
// For most devices, the write cache is only what the kernel assumes: while it is off, the kernel sends no flushes, and what
// others have written may be lost with the power.
func TestNoFlushesAreKeptFromOthers(t *testing.T) {
	loop := testenv.LoopDevice(t, 64<<20, testenv.Options{})
	d, err := device.Find(sysfs.FS{}, loop.Path)
	require.NoError(t, err)
	dir := testenv.Ext4On(t, loop)
	file := suite.Target{Path: filepath.Join(dir, "data"), SizeBytes: dataBytes, Device: d}
	read := suite.Target{Path: loop.Path, Raw: true, SizeBytes: d.SizeBytes, Device: d}
	written := read
	written.Destroy = true
	s, reads := find(t, "write-cache"), find(t, "sequential-vs-random")
	possible := func(s suite.Suite, target suite.Target, values ...string) error {
		return s.Possible(t.Context(), set(t, s, values...), fiorun.Binary{}, settings.Options{}, target)
	}
	err = possible(s, file)
	require.ErrorIs(t, err, safety.ErrRefused)
	require.ErrorContains(t, err, "a loss of power could lose what others have written: --set cache=as-found")
	require.ErrorIs(t, possible(reads, read, "writes=no", "cache=off"), safety.ErrRefused)
	require.NoError(t, possible(s, file, "cache=as-found,on"))
	require.NoError(t, possible(s, written), "which is refused because of the mount")
	require.NoError(t, unix.Unmount(dir, 0))
	testenv.Eventually(t, "nobody has the filesystem", func() bool { // a mount namespace of another test may have a copy
		return possible(reads, read, "writes=no", "cache=off") == nil
	})
	testenv.Mount(t, loop, dir)
}

func TestSettingsThatAreNotThere(t *testing.T) {
	target, _ := raw(t)
	s := find(t, "interrupts")
	got, err := suite.Execute(t.Context(), s, suite.Options{Fio: binary(t), Target: target, Settings: changer(t), Values: set(t, s, "time=100ms")})
	require.ErrorIs(t, err, settings.ErrNone)
	assert.Zero(t, got)
	_, err = suite.Execute(t.Context(), s, suite.Options{Fio: binary(t), Target: target})
	require.ErrorContains(t, err, "there is no state directory to note what they were")
}

const ownJob = `; a comment
[global]
ioengine=psync
direct=1
bs=4k
runtime=200ms
time_based
ramp_time=100ms
[first]
rw=randread
[second]
stonewall
rw=read
bs=64k
size=1m
offset=1m
`

func TestOwnJob(t *testing.T) {
	s, err := suite.OwnJob("my job.fio", strings.NewReader(ownJob))
	require.NoError(t, err)
	assert.Equal(t, "job-my-job.fio", s.Name)
	assert.Empty(t, s.Writes)
	target := dataFile(t)
	steps, err := s.Plan(suite.Values{}, target)
	require.NoError(t, err)
	require.Len(t, steps, 1)
	assert.Equal(t, int64(600), steps[0].Expected.Milliseconds(), "one after the other")
	fio, dir := witness(t)
	r, err := suite.Execute(t.Context(), s, suite.Options{Fio: fio, Target: target})
	require.NoError(t, err)
	require.Len(t, r.Steps, 2)
	assert.Equal(t, []string{"first", "second"}, []string{r.Steps[0].Name, r.Steps[1].Name})
	reads, _ := saidByFio(t, dir)
	assert.Equal(t, reads[0].ios, r.Steps[0].Read.IOs+r.Steps[1].Read.IOs)
	assert.Contains(t, r.Steps[1].JobFile, "filename="+target.Path+"\n")
	assert.Contains(t, r.Steps[1].JobFile, "offset=2097152\n", "from the beginning of what may be used")
	assert.Contains(t, r.Engine, "fio-3.")
}

// Jobs that begin later take longer than their own time: they are not stopped for that.
func TestOwnJobThatBeginsLater(t *testing.T) {
	for _, later := range []string{"startdelay=300", "wait_for=a"} {
		s, err := suite.OwnJob("late.fio", strings.NewReader("[a]\nrw=read\nruntime=60\n[b]\nrw=read\nruntime=60\n"+later+"\n"))
		require.NoError(t, err)
		steps, err := s.Plan(suite.Values{}, dataFile(t))
		require.NoError(t, err)
		assert.Zero(t, steps[0].Expected, later)
	}
}

// Latencies of a user's job are those of suites (lat), unless the file says otherwise, which is then told.
func TestLatenciesOfAnOwnJob(t *testing.T) {
	for file, want := range map[string]bool{"": false, "lat_percentiles=1\n": false, "lat_percentiles=0\n": true, "gtod_reduce=1\n": false} {
		s, err := suite.OwnJob("job.fio", strings.NewReader("[a]\nrw=read\nsize=64k\n"+file))
		require.NoError(t, err)
		r, err := suite.Execute(t.Context(), s, suite.Options{Fio: binary(t), Target: dataFile(t)})
		require.NoError(t, err, file)
		told := slices.ContainsFunc(r.Steps[0].Warnings, func(w record.Warning) bool {
			return w.Code == record.WarnMethod && strings.Contains(w.Text, "(clat)")
		})
		assert.Equal(t, want, told, "%q: %+v", file, r.Steps[0].Warnings)
	}
}

// Each group of a user's job is a separate load with its own repeats.
func TestOwnJobRepeats(t *testing.T) {
	s, err := suite.OwnJob("my job.fio", strings.NewReader(ownJob))
	require.NoError(t, err)
	assert.True(t, s.Repeatable())
	r, err := suite.Execute(t.Context(), s, suite.Options{Fio: binary(t), Target: dataFile(t), Values: set(t, s, "repeats=2")})
	require.NoError(t, err)
	var names []string
	for _, step := range r.Steps {
		names = append(names, step.Series+": "+step.Name)
	}
	assert.Equal(t, []string{"first: first-repeat1", "second: second-repeat1", "first: first-repeat2", "second: second-repeat2"}, names)
	assert.False(t, r.Unrepeatable)
	require.Len(t, r.Analysis.Spreads, 2)

	one, err := suite.OwnJob("one", strings.NewReader("[a]\nrw=read\nsize=64k"))
	require.NoError(t, err)
	r, err = suite.Execute(t.Context(), one, suite.Options{Fio: binary(t), Target: dataFile(t), Values: set(t, one, "repeats=2")})
	require.NoError(t, err)
	require.Len(t, r.Steps, 2)
	assert.Equal(t, []string{"job-one", "job-one-repeat2"}, []string{r.Steps[1].Series, r.Steps[1].Name})
}

func TestOwnJobRefuses(t *testing.T) {
	device := serverDrive()
	for text, want := range map[string]string{
		"":                                    "no section",
		"[a]\nrw=randwrite":                   "its serial number was not given to permit that",
		"[a]\nrw=randtrim":                    "was not given to permit that",
		"[a]\nexec_prerun=rm -r /":            "exec_prerun: not known to stay within the target",
		"[a]\nfilename=/dev/sda":              "filename=/dev/sda: leave it out, or name the target /dev/nvme0n1",
		"[a]\nfilename=/dev/nvme0n1:/dev/sda": "leave it out, or name the target /dev/nvme0n1",
		"[a]\nfilename=$x":                    "leave it out, or name the target",
		"[a]\ndirectory=/tmp":                 "directory: not known to stay within the target",
		"[global]\nwrite_bw_log=x\n[a]":       "write_bw_log: not known to stay within the target",
		"[a]\nsize=150%":                      "size=150%: want a number of bytes, such as 64m",
		"[a]\nsize=1m\noffset_increment=1m":   "offset_increment=1m: remove it",
		"[a]\nsize=5t":                        "do not fit into the 3.6 TiB of /dev/nvme0n1",
		"[a]\noffset=5t":                      "do not fit into the 3.6 TiB of /dev/nvme0n1",
		"[a]\ninclude x":                      "include is not supported",
	} {
		s, err := suite.OwnJob("x", strings.NewReader(text))
		if err == nil {
			_, err = s.Plan(suite.Values{}, device)
		}
		require.ErrorContains(t, err, want, text)
	}
	// In a directory, a job that writes gets another file than one that reads: no name is right for both.
	s, err := suite.OwnJob("x", strings.NewReader("[a]\nrw=write\nfilename=/srv/x"))
	require.NoError(t, err)
	_, err = s.Plan(suite.Values{}, suite.Target{Path: "/srv/data/ssdprobe.dat", SizeBytes: 1 << 30})
	require.ErrorContains(t, err, "filename=/srv/x: leave it out, as the target is that of --target")
	foreign := suite.Target{Path: "/srv/db", SizeBytes: 1 << 30, ReadOnly: true}
	s, err = suite.OwnJob("x", strings.NewReader("[a]\nrw=write"))
	require.NoError(t, err)
	_, err = s.Plan(suite.Values{}, foreign)
	require.ErrorContains(t, err, "which ssdprobe did not make: name a directory instead")
	s, err = suite.OwnJob("x", strings.NewReader("[a]\nrw=read\nfilename=/srv/db"))
	require.NoError(t, err)
	_, err = s.Plan(suite.Values{}, foreign)
	require.NoError(t, err)
	assert.Equal(t, record.Device{}, foreign.Device)
}

// Permission to overwrite a drive does not include formatting.
func TestFormatNeedsAPermissionOfItsOwn(t *testing.T) {
	target, loop := raw(t)
	before := content(t, loop.Backing)
	s := find(t, "steady-state")
	_, err := suite.Execute(t.Context(), s, suite.Options{Fio: binary(t), Target: target, Values: set(t, s, "purge=format")})
	require.ErrorContains(t, err, "plan steady-state: step format: it would format the drive")

	claim, err := target.Permission.Claim(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, claim.Format(t.Context()), safety.ErrRefused)
	require.NoError(t, claim.Close())
	assert.Equal(t, before, content(t, loop.Backing))
}
