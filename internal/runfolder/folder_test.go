package runfolder_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/runfolder"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

func document() report.Document {
	return report.NewDocument(record.RunReport{
		Version: record.RunReportVersion, Suite: "quick", Target: "/dev/nvme0n1", Started: time.Date(2026, 5, 4, 11, 0, 0, 0, time.UTC),
		Steps: []record.Step{{Name: "a", Read: &record.Result{IOs: 1, IOPS: 1}, Warnings: []record.Warning{{Code: record.WarnDisturbed, Text: "Loud."}}}},
	}, nil)
}

func TestFolder(t *testing.T) {
	parent := t.TempDir()
	path := filepath.Join(parent, "run")
	f, err := runfolder.Begin(path)
	require.NoError(t, err)
	assert.NoDirExists(t, path, "it appears when it is whole")
	f.Keep("../a b", "[a]\n", []byte("{}"))
	require.NoError(t, f.Finish(document(), "ssdprobe run quick"))
	require.NoError(t, f.Discard(), "what is finished stays")
	assert.Equal(t, []string{"run"}, testenv.Names(t, parent))
	assert.FileExists(t, filepath.Join(path, "jobs", "001-..-a-b.fio"))

	check := exec.CommandContext(t.Context(), "sha256sum", "--strict", "-c", runfolder.ChecksumsFile)
	check.Dir = path
	out, err := check.CombinedOutput()
	require.NoError(t, err, string(out))
	listed := 0
	require.NoError(t, filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if !entry.IsDir() && entry.Name() != runfolder.ChecksumsFile {
			listed++
			assert.Contains(t, string(out), entry.Name()+": OK")
		}
		return err
	}))
	assert.Equal(t, 8, listed)

	text, err := os.ReadFile(filepath.Join(path, "conditions.json"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "Loud.", "what speaks against the figures of a step")

	text, err = runfolder.Read(path, 1<<20)
	require.NoError(t, err)
	read, err := report.Parse(text)
	require.NoError(t, err)
	assert.Equal(t, document().Report.Steps, read[0].Report.Steps)

	_, err = runfolder.Read(path, 10)
	require.ErrorContains(t, err, "more than 10 B")
	require.NoError(t, os.WriteFile(filepath.Join(path, runfolder.RunFile), append(text, ' '), 0o600))
	_, err = runfolder.Read(path, 1<<20)
	require.ErrorIs(t, err, runfolder.ErrChanged)
}

// The jobs cannot be repeated when the file that they name is gone, so the folder says how to get one.
func TestTheReadmeSaysWhatBecameOfTheFile(t *testing.T) {
	read, written := record.Step{Name: "a", Read: &record.Result{IOs: 1}}, record.Step{Name: "b", Write: &record.Result{IOs: 1}}
	for name, c := range map[string]struct {
		file  *record.RunFile
		steps []record.Step
		says  string
	}{
		"a device":                {nil, []record.Step{read, written}, ""},
		"a file of the user":      {&record.RunFile{Bytes: 32 << 20, Reused: true}, []record.Step{read}, ""},
		"a file that was read":    {&record.RunFile{Bytes: 32 << 20}, []record.Step{read}, "To have it again, repeat the run with --keep-file and another --folder."},
		"a file that was written": {&record.RunFile{Bytes: 32 << 20}, []record.Step{read, written}, "also with --keep-file, because the run wrote to it: put 32 MiB of random data there first."},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run")
			f, err := runfolder.Begin(path)
			require.NoError(t, err)
			f.Keep("a", "[a]\n", []byte("{}"))
			d := document()
			d.Report.File, d.Report.Steps = c.file, c.steps
			require.NoError(t, f.Finish(d, ""))
			text, err := os.ReadFile(filepath.Join(path, "README.md"))
			require.NoError(t, err)
			assert.Contains(t, string(text), "fio jobs/001-")
			if c.says == "" {
				assert.NotContains(t, string(text), "--keep-file")
			} else {
				assert.Contains(t, string(text), c.says)
			}
		})
	}
}

func TestBeginRefuses(t *testing.T) {
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	require.NoError(t, os.MkdirAll(filepath.Join(full, "x"), 0o700))
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))

	_, err := runfolder.Begin(full)
	require.ErrorIs(t, err, runfolder.ErrInUse)
	_, err = runfolder.Begin(file)
	require.ErrorContains(t, err, "not a directory")
	_, err = runfolder.Begin(filepath.Join(dir, "no", "such"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.Equal(t, []string{"file", "full"}, testenv.Names(t, dir))

	_, err = runfolder.Read(full, 1)
	require.ErrorIs(t, err, runfolder.ErrNotOne)
}

// What another run created there meanwhile is not overwritten, and nothing of this run is lost.
func TestFinishOverwritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	f, err := runfolder.Begin(path)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(path, "others"), 0o700))
	err = f.Finish(document(), "")
	require.ErrorIs(t, err, fs.ErrExist)
	require.NoError(t, f.Discard(), "as every command does at its end")
	partial, globErr := filepath.Glob(path + ".*.partial/" + runfolder.RunFile)
	require.NoError(t, globErr)
	require.Len(t, partial, 1)
	require.ErrorContains(t, err, filepath.Dir(partial[0]))
	assert.Equal(t, []string{"others"}, testenv.Names(t, path))
}

// An empty directory that the user made is filled and keeps its mode.
func TestFinishOntoAnEmptyDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.Mkdir(path, 0o700))
	f, err := runfolder.Begin(path)
	require.NoError(t, err)
	require.NoError(t, f.Finish(document(), ""))
	assert.FileExists(t, filepath.Join(path, runfolder.RunFile))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
}

// What the kernel would refuse to replace in the end is refused before anything is measured.
func TestBeginRefusesWhatCannotBeReplaced(t *testing.T) {
	dir := t.TempDir()
	link, empty := filepath.Join(dir, "link"), filepath.Join(dir, "empty")
	require.NoError(t, os.Mkdir(empty, 0o700))
	require.NoError(t, os.Symlink(empty, link))
	require.NoError(t, os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "dangling")))
	t.Chdir(empty)
	for path, want := range map[string]string{
		link: "is a link", filepath.Join(dir, "dangling"): "is a link to nothing", ".": "is the current directory", empty: "is the current directory",
	} {
		_, err := runfolder.Begin(path)
		require.ErrorContains(t, err, want)
	}
	assert.Equal(t, []string{"dangling", "empty", "link"}, testenv.Names(t, dir))
	assert.Empty(t, testenv.Names(t, empty))
}

func TestBeginRefusesAReadOnlyFilesystem(t *testing.T) {
	testenv.Root(t)
	mounted := t.TempDir()
	require.NoError(t, unix.Mount("ssdprobe-test", mounted, "tmpfs", unix.MS_RDONLY, "size=64k"))
	t.Cleanup(func() { assert.NoError(t, unix.Unmount(mounted, 0)) })
	_, err := runfolder.Begin(filepath.Join(mounted, "run"))
	require.EqualError(t, err, mounted+": read-only file system: name a folder on another filesystem")
}

func TestBeginRefusesAMountPoint(t *testing.T) {
	testenv.Root(t)
	mounted := t.TempDir()
	require.NoError(t, unix.Mount("ssdprobe-test", mounted, "tmpfs", 0, "size=64k"))
	t.Cleanup(func() { assert.NoError(t, unix.Unmount(mounted, 0)) })
	_, err := runfolder.Begin(mounted)
	require.ErrorContains(t, err, "is a mount point: name a new folder in it")
	_, err = runfolder.NewOutputs(mounted)
	require.NoError(t, err, "which is filled where it is")
}

func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.Mkdir(empty, 0o700))
	f, err := runfolder.Begin(empty)
	require.NoError(t, err)
	require.NoError(t, f.Discard())
	assert.Equal(t, []string{"empty"}, testenv.Names(t, dir))
}

func TestOutputs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fio")
	o, err := runfolder.NewOutputs(dir)
	require.NoError(t, err)
	o.Keep("a", "", []byte("{}"))
	o.Keep("a", "", []byte("{}"))
	require.NoError(t, o.Err())
	assert.Equal(t, []string{"001-a.json", "002-a.json"}, testenv.Names(t, dir))
	_, err = runfolder.NewOutputs(dir)
	require.ErrorIs(t, err, runfolder.ErrInUse)
	require.NoError(t, o.Discard())
	assert.DirExists(t, dir, "what fio reported stays")
}

// A directory that is not writable is found before the run, and a run that measured nothing leaves nothing
// behind.
func TestOutputsAreMadeAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fio")
	o, err := runfolder.NewOutputs(dir)
	require.NoError(t, err)
	assert.Empty(t, testenv.Names(t, dir))
	require.NoError(t, o.Discard())
	assert.NoDirExists(t, dir)

	_, err = runfolder.NewOutputs("/proc/fio")
	require.ErrorContains(t, err, "/proc/fio")
}

// Leftovers finds what a killed run has left beside a folder.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run[1]")
	left, err := runfolder.Leftovers(path)
	require.NoError(t, err)
	assert.Empty(t, left)
	_, err = runfolder.Begin(path)
	require.NoError(t, err)
	for _, other := range []string{"run", "run[1].2", "run[1].x"} {
		_, err = runfolder.Begin(filepath.Join(dir, other))
		require.NoError(t, err)
	}
	left, err = runfolder.Leftovers(path)
	require.NoError(t, err)
	require.Len(t, left, 1)
	assert.Regexp(t, `/run\[1\]\.\d+\.partial$`, left[0])
}
