package store_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/store"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
)

const kind = "targets"

// value is a value to save.
type value struct {
	N    int                `json:"n"`
	Text string             `json:"text"`
	Map  map[string]float64 `json:"map,omitempty"`
}

func some(n int) value {
	return value{N: n, Text: "<p99> & \"µs\" \u2028 " + strings.Repeat("x", n%50), Map: map[string]float64{"a": 0.1, "b": 1e-300}}
}

// open opens a new state directory.
func open(t *testing.T) *store.Store {
	t.Helper()
	return at(t, filepath.Join(t.TempDir(), "state"))
}

func at(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir, store.Schema{Version: 1})
	require.NoError(t, err)
	require.Equal(t, dir, s.Dir())
	return s
}

// one saves a value and returns the path and the text of its file.
func one(t *testing.T, s *store.Store, name string, v any) (path, text string) {
	t.Helper()
	require.NoError(t, s.Save(kind, name, v))
	files := tree(t, filepath.Join(s.Dir(), kind))
	require.Len(t, files, 1)
	for path, text = range files {
		path = filepath.Join(s.Dir(), kind, path)
	}
	return path, text
}

// tree returns the names and contents of the files below dir.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		if d.Type()&fs.ModeSymlink != 0 {
			files[name], err = os.Readlink(path)
			files[name] = "-> " + files[name]
			return err
		}
		text, err := os.ReadFile(path)
		files[name] = string(text)
		return err
	}))
	return files
}

// loadsDamaged loads a value that must turn out to be damaged, and returns the new path
// of its file.
func loadsDamaged(t *testing.T, s *store.Store, name string) *store.DamagedError {
	t.Helper()
	var v value
	found, err := s.Load(kind, name, &v)
	require.False(t, found)
	var damaged *store.DamagedError
	require.ErrorAs(t, err, &damaged)
	require.NotEmpty(t, damaged.SetAside)
	return damaged
}

func TestSaveAndLoad(t *testing.T) {
	for name, v := range map[string]any{
		"a value": some(3), "nothing": nil, "a list": []any{1.5, "two", nil, map[string]any{"<": ">"}}, "a number": 1e300, "text": "\u2028</script>",
	} {
		s := open(t)
		var got any
		found, err := s.Load(kind, name, &got)
		require.NoError(t, err)
		require.False(t, found)
		require.NoError(t, s.Save(kind, name, v))
		require.NoError(t, s.Save(kind, name, v), "again, over the old one")
		found, err = at(t, s.Dir()).Load(kind, name, &got)
		require.NoError(t, err)
		require.True(t, found)
		want, err := json.Marshal(v)
		require.NoError(t, err)
		have, err := json.Marshal(got)
		require.NoError(t, err)
		assert.JSONEq(t, string(want), string(have))

		require.NoError(t, s.Remove(kind, name))
		require.NoError(t, s.Remove(kind, name))
		assert.Empty(t, tree(t, s.Dir()), "nothing else is left behind")
	}
	require.ErrorContains(t, open(t).Save(kind, "x", func() {}), "unsupported type")
}

func TestAPersonCanReadAndIndentAFile(t *testing.T) {
	s := open(t)
	path, text := one(t, s, "eui.0025", value{N: 7, Text: "seven"})
	assert.Equal(t, filepath.Join(s.Dir(), "targets", "eui.0025.json"), path)
	assert.Regexp(t, `^\{
 "format": "ssdprobe/targets",
 "version": 1,
 "name": "eui.0025",
 "saved": "20\d\d-[^"]+Z",
 "checksum": "sha256:[0-9a-f]{64}",
 "data": \{
  "n": 7,
  "text": "seven"
 \}
\}
$`, text)
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, " ", "\t\t")), 0o600))
	var v value
	found, err := s.Load(kind, "eui.0025", &v)
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, value{N: 7, Text: "seven"}, v)
}

func TestNobodyElseMayReadOrWrite(t *testing.T) {
	dir := t.TempDir()
	old := unix.Umask(0)
	defer unix.Umask(old)
	s := at(t, filepath.Join(dir, "state"))
	path, _ := one(t, s, "x", some(1))
	lock, err := store.TakeLock(filepath.Join(s.Dir(), "locks"), "x")
	require.NoError(t, err)
	defer lock.Release()
	for path, want := range map[string]fs.FileMode{
		s.Dir(): fs.ModeDir | 0o700, filepath.Dir(path): fs.ModeDir | 0o700, path: 0o600,
		filepath.Join(s.Dir(), "locks"): fs.ModeDir | 0o700, filepath.Join(s.Dir(), "locks", "x.lock"): 0o600,
	} {
		info, err := os.Lstat(path)
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode(), path)
	}
}

func TestNamesOfAnyKind(t *testing.T) {
	// Brackets in the directory's name are not a pattern.
	s := at(t, filepath.Join(t.TempDir(), "[a-z]*"))
	names := []string{
		"plain", "file:/srv/data", "../../etc/passwd", "..", ".hidden", "", "a b\nc", "µ", "%2F", "/", "x.json", "*", "[x]", "CON",
		strings.Repeat("long/", 100), strings.Repeat("long/", 100) + "er",
	}
	for i, name := range names {
		require.NoError(t, s.Save(kind, name, some(i)), name)
	}
	for i, name := range names {
		var v value
		found, err := s.Load(kind, name, &v)
		require.NoError(t, err, name)
		require.True(t, found, name)
		assert.Equal(t, some(i), v, name)
	}
	got, err := s.Names(kind)
	require.NoError(t, err)
	assert.ElementsMatch(t, names, got)
	files := tree(t, filepath.Dir(s.Dir()))
	assert.Len(t, files, len(names))
	for name := range files {
		assert.Equal(t, "[a-z]*/targets", filepath.Dir(name), "none is elsewhere")
	}
	got, err = s.Names("reports")
	require.NoError(t, err)
	assert.Empty(t, got, "another kind")
}

// There may be thousands of files, and reading them takes long.
func TestNamesReadsOnlyWhatItMust(t *testing.T) {
	s := open(t)
	names := []string{"", "%", ".hidden", "a b", "b", "file:/srv/µ", strings.Repeat("long/", 100), strings.Repeat("long/", 100) + "er", strings.Repeat("x", 180)}
	for i, name := range names {
		require.NoError(t, s.Save(kind, name, some(i)))
	}
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir(), kind, "c d.json"), nil, 0o600)) // a copy has a name that no value has
	for _, list := range []func(string) ([]string, error){s.Names, s.NamesByAge} {
		got, err := list(kind)
		require.NoError(t, err)
		assert.ElementsMatch(t, names, got)
	}
	for file := range tree(t, filepath.Join(s.Dir(), kind)) {
		require.NoError(t, os.WriteFile(filepath.Join(s.Dir(), kind, file), []byte("{"), 0o600))
	}
	got, err := s.Names(kind)
	assert.ElementsMatch(t, names[:6], got, "they are not read")
	damaged := new(store.DamagedError)
	require.ErrorAs(t, err, &damaged)
	assert.FileExists(t, damaged.SetAside, "nobody could load them by name")
	for _, list := range []func(string) ([]string, error){s.Names, s.NamesByAge} {
		got, err = list(kind)
		require.NoError(t, err)
		assert.ElementsMatch(t, names[:6], got)
	}
}

// A backup that somebody has made beside a file is no second value, nor does its old content count.
func TestCopiesAreNoValues(t *testing.T) {
	s := open(t)
	path, text := one(t, s, "x", some(1))
	require.NoError(t, os.WriteFile(strings.TrimSuffix(path, ".json")+"-before.json", []byte(text), 0o600))
	require.NoError(t, s.Save(kind, "x", some(2)))
	var all []value
	require.NoError(t, s.LoadEach(kind, func() any { return new(value) }, func(v any) { all = append(all, *v.(*value)) }))
	assert.Equal(t, []value{some(2)}, all)
}

func TestEveryCutIsNoticed(t *testing.T) {
	s := open(t)
	path, text := one(t, s, "x", some(5))
	end := strings.LastIndex(text, "}") // without its last line break, the file is still complete
	for cut := range end {
		require.NoError(t, os.WriteFile(path, []byte(text[:cut]), 0o600))
		damaged := loadsDamaged(t, s, "x")
		kept, err := os.ReadFile(damaged.SetAside)
		require.NoError(t, err)
		require.Equal(t, text[:cut], string(kept))
		require.NoFileExists(t, path)
		require.NoError(t, os.Remove(damaged.SetAside))
	}
	require.NoError(t, os.WriteFile(path, []byte(text[:end+1]), 0o600))
	var v value
	found, err := s.Load(kind, "x", &v)
	require.NoError(t, err)
	require.True(t, found)
	assert.Equal(t, some(5), v)
}

func TestNoFlippedBitChangesAValue(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	s := open(t)
	path, text := one(t, s, "x", some(5))
	for i := range len(text) {
		for bit := range 8 {
			flipped := []byte(text)
			flipped[i] ^= 1 << bit
			require.NoError(t, os.WriteFile(path, flipped, 0o600))
			var v value
			if found, err := s.Load(kind, "x", &v); found {
				require.NoError(t, err)
				require.Equal(t, some(5), v, "bit %d of byte %d", bit, i)
			} else {
				require.Error(t, err)
			}
		}
	}
}

func TestWhatMakesNoSenseIsSetAside(t *testing.T) {
	const sum = "sha256:74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b" // of null
	for name, text := range map[string]string{
		"empty":              "",
		"zeros":              strings.Repeat("\x00", 4096), // a crash leaves this on some filesystems
		"another format":     `{"format":"ssdprobe/reports","version":1,"name":"x","checksum":"` + sum + `","data":null}`,
		"another name":       `{"format":"ssdprobe/targets","version":1,"name":"y","checksum":"` + sum + `","data":null}`,
		"version 0":          `{"format":"ssdprobe/targets","version":0,"name":"x","checksum":"` + sum + `","data":null}`,
		"no data":            `{"format":"ssdprobe/targets","version":1,"name":"x","checksum":"` + sum + `"}`,
		"another checksum":   `{"format":"ssdprobe/targets","version":1,"name":"x","checksum":"sha256:0","data":null}`,
		"data of other type": `{"format":"ssdprobe/targets","version":1,"name":"x","checksum":"sha256:6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b","data":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			path, _ := one(t, s, "x", some(1))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			damaged := loadsDamaged(t, s, "x")
			assert.Equal(t, path, damaged.Path)
			kept, err := os.ReadFile(damaged.SetAside)
			require.NoError(t, err)
			assert.Equal(t, text, string(kept))
			require.EqualError(t, damaged, path+" is damaged ("+damaged.Err.Error()+"); it was set aside as "+damaged.SetAside)

			require.NoError(t, s.Save(kind, "x", some(2)), "and life goes on")
			names, err := s.Names(kind)
			require.NoError(t, err, "what was set aside is not in the way")
			assert.Equal(t, []string{"x"}, names)
			assert.FileExists(t, damaged.SetAside)
		})
	}
}

func TestSavingNeverOverwritesWhatIsDamaged(t *testing.T) {
	s := open(t)
	path, _ := one(t, s, "x", some(1))
	require.NoError(t, os.WriteFile(path, []byte("precious?"), 0o600))
	err := s.Save(kind, "x", some(2))
	var damaged *store.DamagedError
	require.ErrorAs(t, err, &damaged)
	kept, err := os.ReadFile(damaged.SetAside)
	require.NoError(t, err)
	assert.Equal(t, "precious?", string(kept))
	var v value
	found, err := s.Load(kind, "x", &v)
	require.NoError(t, err)
	assert.True(t, found, "saved all the same")
	assert.Equal(t, some(2), v)
}

func TestNewerFilesStay(t *testing.T) {
	s := open(t)
	path, text := one(t, s, "x", some(1))
	newer := strings.Replace(text, `"version": 1`, `"version": 2`, 1)
	require.NoError(t, os.WriteFile(path, []byte(newer), 0o600))

	require.ErrorIs(t, at(t, s.Dir()).Save(kind, "x", some(2)), store.ErrNewer, "whether or not it was loaded before")
	var v value
	found, err := s.Load(kind, "x", &v)
	require.ErrorIs(t, err, store.ErrNewer)
	require.ErrorContains(t, err, "version 2, and this ssdprobe knows 1")
	assert.False(t, found)
	require.ErrorIs(t, s.Save(kind, "x", some(2)), store.ErrNewer)
	assert.Equal(t, map[string]string{"x.json": newer}, tree(t, filepath.Dir(path)))

	require.NoError(t, os.Rename(path, path+".away"))
	require.NoError(t, s.Save(kind, "x", some(2)), "the user has moved it away")
}

func TestLinksAndPipesAreNotFollowed(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.WriteFile(elsewhere, []byte("somebody else's"), 0o600))
	for name, put := range map[string]func(path string) error{
		"a link":            func(path string) error { return os.Symlink(elsewhere, path) },
		"a link to nothing": func(path string) error { return os.Symlink(elsewhere+"x", path) },
		"a pipe":            func(path string) error { return unix.Mkfifo(path, 0o600) }, // reading it would block for ever
		"a directory":       func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			path, _ := one(t, s, "x", some(1))
			for _, touch := range []func() error{
				func() error { var v value; _, err := s.Load(kind, "x", &v); return err },
				func() error { return s.Save(kind, "x", some(2)) },
			} {
				require.NoError(t, os.Remove(path))
				require.NoError(t, put(path))
				before, err := os.Lstat(path)
				require.NoError(t, err)
				var damaged *store.DamagedError
				require.ErrorAs(t, touch(), &damaged)
				after, err := os.Lstat(damaged.SetAside)
				require.NoError(t, err)
				assert.True(t, os.SameFile(before, after), "set aside as it was")
				if _, err := os.Lstat(path); err != nil {
					require.NoError(t, os.WriteFile(path, nil, 0o600)) // for the next iteration
				}
			}
			text, err := os.ReadFile(elsewhere)
			require.NoError(t, err)
			assert.Equal(t, "somebody else's", string(text))
			assert.NoFileExists(t, elsewhere+"x")
		})
	}
}

func TestTooLargeIsSaid(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	s := open(t)
	path, text := one(t, s, "x", some(1))
	require.ErrorContains(t, s.Save(kind, "x", strings.Repeat("x", 32<<20)), "more than the 33554432 that would be read again")
	assert.Equal(t, map[string]string{"x.json": text}, tree(t, filepath.Dir(path)))
	require.NoError(t, os.Truncate(path, 32<<20+1))
	assert.ErrorContains(t, loadsDamaged(t, s, "x"), "it is larger than 33554432 bytes")
}

func TestLeftoversAreRemovedWhenAsked(t *testing.T) {
	s := open(t)
	path, text := one(t, s, "x", some(1))
	left := filepath.Join(filepath.Dir(path), ".x.json123456")
	require.NoError(t, os.WriteFile(left, []byte("half"), 0o600))
	names, err := at(t, s.Dir()).Names(kind)
	require.NoError(t, err)
	assert.Equal(t, []string{"x"}, names)
	assert.FileExists(t, left, "opening removes nothing: another process may be saving")
	now := time.Now()
	for written, stays := range map[time.Time]bool{now.AddDate(1, 0, 0): true, now: true, now.Add(-time.Minute): false} {
		require.NoError(t, os.WriteFile(left, []byte("half"), 0o600))
		require.NoError(t, os.Chtimes(left, written, written))
		require.NoError(t, s.RemoveLeftovers(now.Add(-time.Second)))
		_, err := os.Lstat(left)
		assert.Equal(t, stays, err == nil, written)
		require.NoError(t, s.RemoveLeftovers(now.AddDate(2, 0, 0)))
	}
	assert.Equal(t, map[string]string{"x.json": text}, tree(t, filepath.Dir(path)))
}

// A state directory may be one that has been there before, with the files of others in its directories.
func TestFilesOfOthersAreNoLeftovers(t *testing.T) {
	s := open(t)
	theirs := filepath.Join(s.Dir(), "project")
	require.NoError(t, os.Mkdir(theirs, 0o700))
	files := map[string]string{".eslintrc.json": "{}", ".json": "{}", ".a.jsonl": "{}", ".a.json.bak2": "{}", ".settings.json.1": "{}"}
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(theirs, name), []byte(text), 0o600))
	}
	require.NoError(t, s.RemoveLeftovers(time.Now().Add(time.Hour)))
	assert.Equal(t, files, tree(t, theirs))
}

func TestReadOnlyStateDirectory(t *testing.T) {
	dir := testenv.Ext4(t, 16<<20)
	s := at(t, dir)
	require.NoError(t, s.Save(kind, "x", some(1)))
	require.NoError(t, os.WriteFile(filepath.Join(dir, kind, "bad.json"), nil, 0o600))
	testenv.RemountReadOnly(t, dir)
	s = at(t, dir)
	var v value
	found, err := s.Load(kind, "x", &v)
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, some(1), v)
	require.ErrorIs(t, s.Save(kind, "x", some(2)), unix.EROFS)
	require.ErrorIs(t, s.Save("new", "x", some(2)), unix.EROFS)
	_, err = s.Load(kind, "bad", &v)
	require.ErrorIs(t, err, unix.EROFS, "it cannot be set aside, which is said")
	_, err = store.Open(filepath.Join(dir, "sub"), store.Schema{Version: 1})
	require.ErrorIs(t, err, unix.EROFS)
}

func TestFullFilesystemKeepsTheOldValue(t *testing.T) {
	dir := testenv.Ext4(t, 16<<20)
	s := at(t, dir)
	path, text := one(t, s, "x", some(1))
	ballast, err := os.Create(filepath.Join(dir, "ballast"))
	require.NoError(t, err)
	for chunk := 1 << 20; chunk > 0; chunk /= 2 {
		for err = nil; err == nil; {
			_, err = ballast.Write(make([]byte, chunk))
		}
		require.ErrorIs(t, err, unix.ENOSPC)
	}
	require.NoError(t, ballast.Close())

	err = s.Save(kind, "x", value{Text: strings.Repeat("long", 100_000)})
	require.ErrorIs(t, err, unix.ENOSPC)
	again := s.Save(kind, "x", value{Text: strings.Repeat("long", 100_000)})
	require.EqualError(t, again, err.Error(), "the same problem is told once")
	assert.Equal(t, map[string]string{"x.json": text}, tree(t, filepath.Dir(path)), "the old one is whole, and nothing else is left")
	require.NoError(t, os.Remove(ballast.Name()))
	require.NoError(t, s.Save(kind, "x", some(2)))
}

func FuzzLoad(f *testing.F) {
	s, err := store.Open(f.TempDir(), store.Schema{Version: 1})
	require.NoError(f, err)
	require.NoError(f, s.Save(kind, "x", some(1)))
	path := filepath.Join(s.Dir(), kind, "x.json")
	text, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(strings.Replace(string(text), `"version": 1`, `"version": 9`, 1)))
	f.Add([]byte(`{"format":"ssdprobe/targets","version":1,"name":"x","checksum":"sha256:","data":null}`))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := store.Open(t.TempDir(), store.Schema{Version: 1})
		require.NoError(t, err)
		path := filepath.Join(s.Dir(), kind, "x.json")
		require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, text, 0o600))
		var v value
		found, err := s.Load(kind, "x", &v)
		require.Equal(t, err == nil, found)
		var damaged *store.DamagedError
		if errors.As(err, &damaged) {
			path = damaged.SetAside
		}
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(text), string(kept), "nothing is lost")
		if damaged == nil && !found {
			require.ErrorIs(t, s.Save(kind, "x", v), store.ErrNewer)
			return
		}
		require.NoError(t, s.Save(kind, "x", v))
		var again value
		found, err = s.Load(kind, "x", &again)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, v, again)
	})
}
