package target_test

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/target"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

const (
	mib  = 1 << 20
	size = record.MinProbeFileBytes
)

func options() target.FileOptions { return target.FileOptions{SizeBytes: size} }

// prepare makes or opens a probe file, which is closed when the test ends.
func prepare(t *testing.T, path string, o target.FileOptions) *target.File {
	t.Helper()
	f, err := target.PrepareFile(t.Context(), path, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// refused asks for a probe file that cannot be made.
func refused(t *testing.T, path string) error {
	t.Helper()
	f, err := target.PrepareFile(t.Context(), path, options())
	if err == nil {
		require.NoError(t, f.Close())
	}
	require.Error(t, err)
	return err
}

func TestPrepareFileMakesFillsAndUsesAgain(t *testing.T) {
	dir := t.TempDir()
	var seen []int64
	o := options()
	o.Progress = func(done, total int64) {
		assert.EqualValues(t, size, total)
		seen = append(seen, done)
	}
	f := prepare(t, dir, o)
	path := filepath.Join(dir, record.ProbeFileName)
	assert.Equal(t, path, f.Path())
	assert.EqualValues(t, size, f.SizeBytes())
	assert.EqualValues(t, size, f.Filled)
	assert.Len(t, seen, size/mib)
	assert.IsIncreasing(t, seen)
	assert.Equal(t, []string{record.ProbeFileName}, testenv.Names(t, dir))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
	assert.EqualValues(t, size, info.Size())
	assert.GreaterOrEqual(t, info.Sys().(*syscall.Stat_t).Blocks*512, int64(size), "all of it is on the drive")

	seen = nil
	again := prepare(t, path, o) // by its own path this time
	assert.Zero(t, again.Filled)
	assert.Empty(t, seen)
	assert.Equal(t, f.Seed(), again.Seed())
	after, err := os.Stat(path)
	require.NoError(t, err)
	assert.True(t, os.SameFile(info, after))
}

func TestContentIsAsPromised(t *testing.T) {
	dir := t.TempDir()
	f := prepare(t, dir, options())
	text, err := os.ReadFile(f.Path())
	require.NoError(t, err)
	assert.True(t, bytes.HasPrefix(text, []byte(`{"made_by":"ssdprobe","note":"probe file of random data; safe to delete`)), "a person can tell what it is")

	start, length := f.Data()
	assert.EqualValues(t, size, start+length)
	data := text[start:]
	want := make([]byte, length)
	f.Content(want, start)
	require.True(t, bytes.Equal(want, data), "what is there is what Content says")
	part := make([]byte, 1536)
	f.Content(part, start+4096+2560) // starts in the middle of a block and crosses its end
	assert.Equal(t, data[4096+2560:4096+2560+1536], part)

	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(data[:2*mib])
	require.NoError(t, err)
	require.NoError(t, w.Close())
	assert.GreaterOrEqual(t, packed.Len(), 2*mib, "no drive can compress it")
	blocks := map[string]bool{}
	for block := data; len(block) > 0; block = block[4096:] {
		blocks[string(block[:4096])] = true
	}
	assert.Len(t, blocks, len(data)/4096, "nor find one block twice")

	other := prepare(t, t.TempDir(), options())
	assert.NotEqual(t, f.Seed(), other.Seed(), "nor one file in another")
}

func TestWritesStayInsideTheData(t *testing.T) {
	f := prepare(t, t.TempDir(), options())
	before, err := os.ReadFile(f.Path())
	require.NoError(t, err)
	start, length := f.Data()
	for _, off := range []int64{0, start - 4096, start + length - 2048, start + length} {
		_, err := f.WriteAt(make([]byte, 4096), off)
		require.ErrorContains(t, err, "outside its data", "at %d", off)
	}
	after, err := os.ReadFile(f.Path())
	require.NoError(t, err)
	assert.True(t, bytes.Equal(before, after))
}

func TestForeignFilesAreLeftAlone(t *testing.T) {
	for name, text := range map[string]string{
		"empty":         "",
		"short":         "hello\n",
		"JSON":          `{"made_by":"somebody"}`,
		"large":         strings.Repeat("important ", 4*mib/10),
		"nearly a file": `{"made_by":"ssdprobe"`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, record.ProbeFileName)
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			before, err := os.Stat(path)
			require.NoError(t, err)
			require.ErrorIs(t, refused(t, dir), target.ErrForeign)
			after, err := os.Stat(path)
			require.NoError(t, err)
			assert.True(t, os.SameFile(before, after))
			assert.Equal(t, []any{before.Mode(), before.ModTime()}, []any{after.Mode(), after.ModTime()})
			left, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, text, string(left))
			assert.Equal(t, []string{record.ProbeFileName}, testenv.Names(t, dir))
		})
	}
}

func TestDamagedFilesAreSetAside(t *testing.T) {
	for name, damage := range map[string]func(*testing.T, *os.File){
		"all data overwritten": func(t *testing.T, f *os.File) {
			_, err := f.WriteAt(make([]byte, size-mib), mib)
			require.NoError(t, err)
		},
		"cut short": func(t *testing.T, f *os.File) { require.NoError(t, f.Truncate(size-4096)) },
		"grown":     func(t *testing.T, f *os.File) { require.NoError(t, f.Truncate(size+4096)) },
		"with holes": func(t *testing.T, f *os.File) {
			require.NoError(t, f.Truncate(mib))
			require.NoError(t, f.Truncate(size))
		},
		"with one hole": func(t *testing.T, f *os.File) {
			require.NoError(t, unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 8*mib, 4096))
		},
		"impossible size": func(t *testing.T, f *os.File) {
			_, err := f.WriteAt([]byte(`{"made_by":"ssdprobe","version":1,"size_bytes":-4096}`+strings.Repeat("\n", 4096)), 0)
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			first, err := target.PrepareFile(t.Context(), dir, options())
			require.NoError(t, err)
			path := first.Path()
			require.NoError(t, first.Close())
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			require.NoError(t, err)
			damage(t, f)
			require.NoError(t, f.Close())
			damaged, err := os.ReadFile(path)
			require.NoError(t, err)

			again := prepare(t, dir, options())
			assert.Equal(t, path+".damaged", again.SetAside)
			assert.EqualValues(t, size, again.Filled)
			kept, err := os.ReadFile(again.SetAside)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(damaged, kept))

			// A second damaged file does not replace the first.
			require.NoError(t, os.Truncate(path, size-4096))
			require.ErrorIs(t, refused(t, dir), target.ErrDamaged)
			assert.ElementsMatch(t, []string{record.ProbeFileName, record.ProbeFileName + ".damaged"}, testenv.Names(t, dir))
			still, err := os.ReadFile(again.SetAside)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(kept, still))
		})
	}
}

func TestNewerFilesAreLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	text := `{"made_by":"ssdprobe","version":2,"seed":1,"size_bytes":16777216}` + strings.Repeat("\n", 4096)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	require.ErrorContains(t, refused(t, path), "is of version 2 and this ssdprobe knows version 1: remove it or upgrade")
	left, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, text, string(left))
}

func TestSymbolicLinksAreNotFollowed(t *testing.T) {
	const secret = "somebody else's"
	for _, name := range []string{record.ProbeFileName, record.ProbeFileName + ".ssdprobe-filling"} {
		for linked, exists := range map[string]bool{"to a file": true, "to nothing": false} {
			t.Run(name+" "+linked, func(t *testing.T) {
				dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
				if exists {
					require.NoError(t, os.WriteFile(elsewhere, []byte(secret), 0o600))
				}
				require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, name)))
				require.ErrorContains(t, refused(t, dir), "it is a symbolic link; name the file itself")
				text, err := os.ReadFile(elsewhere)
				if exists {
					require.NoError(t, err)
					assert.Equal(t, secret, string(text))
				} else {
					require.ErrorIs(t, err, fs.ErrNotExist)
				}
				assert.Equal(t, []string{name}, testenv.Names(t, dir))
			})
		}
	}
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	require.ErrorContains(t, refused(t, filepath.Join(dir, "fifo")), "neither a directory nor a regular file")
	require.ErrorContains(t, refused(t, "/dev/null"), "neither a directory nor a regular file")
	require.NoError(t, os.Mkdir(filepath.Join(dir, record.ProbeFileName), 0o700))
	require.ErrorIs(t, refused(t, dir), unix.EISDIR)
	require.ErrorIs(t, refused(t, filepath.Join(dir, "absent", "file")), fs.ErrNotExist)
	_, err := target.PrepareFile(t.Context(), filepath.Join(dir, "f"), target.FileOptions{SizeBytes: size - 1})
	require.ErrorContains(t, err, "too small, at least 16 MiB are needed")
}

func TestMemoryIsNoDrive(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "ssdprobe-test-")
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	require.ErrorIs(t, refused(t, dir), target.ErrMemory)
	path := filepath.Join(dir, "data")
	require.NoError(t, os.WriteFile(path, make([]byte, 8192), 0o600))
	_, err = target.OpenExisting(path)
	assert.True(t, errors.Is(err, target.ErrMemory) || errors.Is(err, target.ErrNoDirectIO), "%v", err) // depends on the kernel
}

// ext4 accepts O_DIRECT on a file whose data goes through the journal, and answers from the page cache.
func TestAFileWithoutDirectReadsIsRefused(t *testing.T) {
	loop := testenv.LoopDevice(t, 256*mib, testenv.Options{})
	dir := testenv.Ext4On(t, loop)
	require.NoError(t, unix.Unmount(dir, 0))
	require.NoError(t, unix.Mount(loop.Path, dir, "ext4", 0, "data=journal"))
	path := filepath.Join(dir, "data")
	require.NoError(t, os.WriteFile(path, make([]byte, 8192), 0o600))
	_, err := target.OpenExisting(path)
	require.ErrorIs(t, err, target.ErrNoDirectIO)
	o := options()
	o.Progress = func(int64, int64) { assert.Fail(t, "filled in vain") }
	_, err = target.PrepareFile(t.Context(), filepath.Join(dir, "probe"), o)
	require.ErrorIs(t, err, target.ErrNoDirectIO)
	require.ErrorContains(t, err, "data=journal")
	assert.Equal(t, []string{"data", "lost+found"}, testenv.Names(t, dir))
}

// An overlay is as fast as what is below it, and does not say what that is. Live systems and diskless nodes have memory there.
func TestAnOverlayOnMemoryIsNoDrive(t *testing.T) {
	memory := t.TempDir()
	testenv.Root(t)
	require.NoError(t, unix.Mount("none", memory, "tmpfs", 0, "size=1g"))
	t.Cleanup(func() { assert.NoError(t, unix.Unmount(memory, 0)) })
	dir := overlay(t, memory)
	require.ErrorIs(t, refused(t, dir), target.ErrMemory)
	assert.Empty(t, testenv.Names(t, dir), "the memory is not filled")

	drive := overlay(t, testenv.Ext4(t, 256*mib))
	for range 2 { // filled, and used again
		f, err := target.PrepareFile(t.Context(), drive, options())
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	from, err := os.ReadFile(filepath.Join(drive, record.ProbeFileName))
	require.NoError(t, err)
	path := filepath.Join(dir, record.ProbeFileName)
	require.NoError(t, os.WriteFile(path, from, 0o600))
	require.ErrorIs(t, refused(t, path), target.ErrMemory, "a probe file that was copied there, or made by an earlier version")
}

// overlay mounts an overlay whose files are in dir.
func overlay(t *testing.T, dir string) string {
	t.Helper()
	merged := t.TempDir()
	options := ""
	for _, layer := range []string{"lowerdir", "upperdir", "workdir"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, layer), 0o700))
		options += layer + "=" + filepath.Join(dir, layer) + ","
	}
	require.NoError(t, unix.Mount("overlay", merged, "overlay", 0, strings.TrimSuffix(options, ",")))
	t.Cleanup(func() { assert.NoError(t, unix.Unmount(merged, 0)) })
	return merged
}

func TestAFillThatIsInterruptedLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	stop := errors.New("Ctrl-C")
	ctx, cancel := context.WithCancelCause(t.Context())
	o := options()
	o.Progress = func(done, _ int64) {
		if done == 5*mib {
			cancel(stop)
		}
	}
	_, err := target.PrepareFile(ctx, dir, o)
	require.ErrorIs(t, err, stop)
	assert.Empty(t, testenv.Names(t, dir))
}

func TestTheRateOfFillingCanBeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := options()
	o.BytesPerSecond = 1 // one MiB takes twelve days
	o.Progress = func(int64, int64) { cancel() }
	_, err := target.PrepareFile(ctx, t.TempDir(), o)
	require.ErrorIs(t, err, context.Canceled)
}

func TestWhatAnEarlierFillLeftIsUsedAgain(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, record.ProbeFileName+".ssdprobe-filling")
	require.NoError(t, os.WriteFile(left, bytes.Repeat([]byte("half "), mib), 0o600))
	f := prepare(t, dir, options())
	assert.EqualValues(t, size, f.Filled)
	assert.Equal(t, []string{record.ProbeFileName}, testenv.Names(t, dir))
}

// In a directory that others may write to, the name may lead to a file of somebody. That has another name, too.
func TestALinkToAFileOfOthersIsNotFilled(t *testing.T) {
	dir := t.TempDir()
	theirs := filepath.Join(dir, "theirs")
	require.NoError(t, os.WriteFile(theirs, []byte("important"), 0o600))
	require.NoError(t, os.Link(theirs, filepath.Join(dir, record.ProbeFileName+target.FillingSuffix)))
	require.ErrorContains(t, refused(t, dir), "has 2 names")
	text, err := os.ReadFile(theirs)
	require.NoError(t, err)
	assert.Equal(t, "important", string(text))
}

// What somebody puts in place while a file is filled is not replaced by it.
func TestAFileThatAppearsWhileFillingStays(t *testing.T) {
	for name, before := range map[string]func(t *testing.T, dir string){
		"nothing was there": func(*testing.T, string) {},
		"a smaller file of ours was there": func(t *testing.T, dir string) {
			f, err := target.PrepareFile(t.Context(), dir, options())
			require.NoError(t, err)
			require.NoError(t, f.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			before(t, dir)
			path := filepath.Join(dir, record.ProbeFileName)
			o := target.FileOptions{SizeBytes: size + mib}
			o.Progress = func(done, total int64) {
				if done == total {
					theirs := filepath.Join(dir, "theirs")
					require.NoError(t, os.WriteFile(theirs, []byte("important"), 0o600))
					require.NoError(t, os.Rename(theirs, path))
				}
			}
			_, err := target.PrepareFile(t.Context(), dir, o)
			require.ErrorIs(t, err, target.ErrForeign)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, "important", string(text))
			assert.Equal(t, []string{record.ProbeFileName}, testenv.Names(t, dir), "what was filled is removed")
		})
	}
}

func TestOneProcessFillsAtATime(t *testing.T) {
	dir := t.TempDir()
	o := options()
	o.Progress = func(done, _ int64) {
		if done == 3*mib {
			require.ErrorIs(t, refused(t, dir), target.ErrFilling)
		}
	}
	f := prepare(t, dir, o)
	assert.EqualValues(t, size, f.Filled)
	assert.Zero(t, prepare(t, dir, options()).Filled)
}

// A child is killed in the middle of filling. What it leaves is not a probe file, and
// the next start makes one.
func TestKilledWhileFilling(t *testing.T) {
	const env = "SSDPROBE_TEST_FILL"
	if dir := os.Getenv(env); dir != "" {
		o := options()
		o.Progress = func(done, _ int64) {
			if done == 4*mib {
				require.NoError(t, unix.Kill(os.Getpid(), unix.SIGKILL))
			}
		}
		_, err := target.PrepareFile(t.Context(), dir, o)
		require.NoError(t, err, "unreachable")
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWhileFilling$")
	cmd.Env = append(os.Environ(), env+"="+dir)
	err := cmd.Run()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, syscall.SIGKILL, exit.Sys().(syscall.WaitStatus).Signal())
	require.Equal(t, []string{record.ProbeFileName + ".ssdprobe-filling"}, testenv.Names(t, dir))

	f := prepare(t, dir, options())
	assert.EqualValues(t, size, f.Filled)
	assert.Equal(t, []string{record.ProbeFileName}, testenv.Names(t, dir))
}

func TestSizeFollowsTheOptions(t *testing.T) {
	dir := t.TempDir()
	f := prepare(t, dir, options())
	assert.EqualValues(t, size, f.SizeBytes())
	for _, wanted := range []int64{size + 4*mib, size} { // larger, then smaller
		o := options()
		o.SizeBytes = wanted
		f := prepare(t, dir, o)
		assert.Equal(t, wanted, f.SizeBytes())
		assert.Equal(t, wanted, f.Filled)
		assert.Empty(t, f.SetAside)
	}
	assert.Equal(t, []string{record.ProbeFileName}, testenv.Names(t, dir))
}

// A full disk is why somebody asks for a smaller file. There is no room for both then.
func TestSmallerFileOnAFullDisk(t *testing.T) {
	dir := testenv.Ext4(t, 2<<30)
	f, err := target.PrepareFile(t.Context(), dir, target.FileOptions{SizeBytes: 1 << 30})
	require.NoError(t, err)
	require.Greater(t, f.SizeBytes(), int64(170*mib))
	require.NoError(t, f.Close())
	ballast, err := os.Create(filepath.Join(dir, "ballast"))
	require.NoError(t, err)
	require.NoError(t, unix.Fallocate(int(ballast.Fd()), 0, 0, testenv.FreeBytes(t, dir)-8*mib))
	require.NoError(t, ballast.Close())

	f = prepare(t, dir, target.FileOptions{SizeBytes: 16 * mib})
	assert.EqualValues(t, 16*mib, f.SizeBytes())
	assert.EqualValues(t, 16*mib, f.Filled)
	assert.Equal(t, []string{"ballast", "lost+found", record.ProbeFileName}, testenv.Names(t, dir))
}

func TestAtMostATenthOfTheFreeSpace(t *testing.T) {
	dir := testenv.Ext4(t, 400*mib)
	o := target.FileOptions{SizeBytes: 1 << 30}
	ballast := filepath.Join(dir, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 60*mib), 0o600))
	free := testenv.FreeBytes(t, dir)
	f := prepare(t, dir, o)
	assert.LessOrEqual(t, f.SizeBytes(), free/10)
	assert.Greater(t, f.SizeBytes(), free/10-mib)

	// The free space first grows, then shrinks: neither justifies a new file.
	require.NoError(t, os.Remove(ballast))
	assert.Zero(t, prepare(t, dir, o).Filled)
	require.NoError(t, os.WriteFile(ballast, make([]byte, 200*mib), 0o600))
	assert.Zero(t, prepare(t, dir, o).Filled)
}

func TestTooLittleSpace(t *testing.T) {
	dir := testenv.Ext4(t, 100*mib)
	err := refused(t, dir)
	require.ErrorIs(t, err, target.ErrNoSpace)
	assert.Regexp(t, `are free, and at most a tenth of that is used; even a small file takes 16 MiB$`, err.Error())
	assert.Equal(t, []string{"lost+found"}, testenv.Names(t, dir))
}

// On a filesystem that cannot reserve space, others may take it while the file is
// filled.
func TestDiskFullWhileFillingLeavesNothing(t *testing.T) {
	dir := testenv.Ext4(t, 300*mib, "-O", "^extent,^64bit")
	o := options()
	o.Progress = func(done, _ int64) {
		if done != 4*mib {
			return
		}
		f, err := os.Create(filepath.Join(dir, "others"))
		require.NoError(t, err)
		_, err = io.Copy(f, zeros{})
		require.ErrorIs(t, err, unix.ENOSPC)
		require.NoError(t, f.Close())
	}
	_, err := target.PrepareFile(t.Context(), dir, o)
	require.ErrorIs(t, err, target.ErrNoSpace)
	require.ErrorIs(t, err, unix.ENOSPC)
	assert.Equal(t, []string{"lost+found", "others"}, testenv.Names(t, dir))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestReadOnlyFilesystem(t *testing.T) {
	dir := testenv.Ext4(t, 300*mib)
	f, err := target.PrepareFile(t.Context(), dir, options())
	require.NoError(t, err)
	require.NoError(t, f.Close())
	testenv.RemountReadOnly(t, dir)
	require.ErrorIs(t, refused(t, dir), unix.EROFS)
	require.ErrorIs(t, refused(t, filepath.Join(dir, "new")), unix.EROFS)

	existing, err := target.OpenExisting(filepath.Join(dir, record.ProbeFileName))
	require.NoError(t, err, "it can still be read")
	require.NoError(t, existing.Close())
}

// A file that ssdprobe did not make is only read, so nobody need be able to write to it.
func TestForeignFilesThatCannotBeWritten(t *testing.T) {
	t.Run("read-only filesystem", func(t *testing.T) {
		dir := testenv.Ext4(t, 100*mib)
		path := filepath.Join(dir, "data")
		require.NoError(t, os.WriteFile(path, make([]byte, 4*mib), 0o644))
		testenv.RemountReadOnly(t, dir)
		require.ErrorIs(t, refused(t, path), target.ErrForeign)
		_, err := target.PlanFile(path, 64*mib)
		require.ErrorIs(t, err, target.ErrForeign)
	})
	t.Run("a program that is running", func(t *testing.T) {
		path, err := os.Executable()
		require.NoError(t, err)
		require.ErrorIs(t, refused(t, path), target.ErrForeign)
	})
}

// A filesystem gives the inode of a removed file to the next one.
func TestAFileThatTakesTheInodeOfOursIsAnotherOne(t *testing.T) {
	dir := testenv.Ext4(t, 256*mib)
	f := prepare(t, dir, options())
	inode := func() uint64 {
		var st unix.Stat_t
		require.NoError(t, unix.Stat(f.Path(), &st))
		return st.Ino
	}
	before := inode()
	require.NoError(t, f.Release())
	require.NoError(t, os.Remove(f.Path()))
	require.NoError(t, os.WriteFile(f.Path(), bytes.Repeat([]byte("important "), 2*mib), 0o600))
	require.Equal(t, before, inode())
	require.ErrorIs(t, f.Acquire(), target.ErrReplaced)
}

// What somebody copies onto the file has the inode of ours.
func TestAFileThatWasOverwrittenInPlaceIsNotUsed(t *testing.T) {
	dir := t.TempDir()
	f := prepare(t, dir, options())
	require.NoError(t, f.Release())
	require.NoError(t, os.WriteFile(f.Path(), []byte("important"), 0o600))
	require.ErrorIs(t, f.Acquire(), target.ErrDamaged)
	require.ErrorIs(t, f.Acquire(), target.ErrDamaged, "it is still released")
}
