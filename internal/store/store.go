package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/renameio/v2"
)

const (
	version = 1
	// maxFileBytes bounds what is read into memory; a value is far smaller.
	maxFileBytes = 64 << 20
	suffix       = ".json"
	// maxNameBytes leaves room for the suffix and for ".damaged-…" in the 255
	// bytes that filesystems allow.
	maxNameBytes = 180
)

// ErrNewer says that a file was written by a newer ssdprobe. It is left alone.
var ErrNewer = errors.New("written by a newer ssdprobe")

// DamagedError says that a file could not be understood and was set aside.
type DamagedError struct {
	Path, SetAside string
	Err            error
}

// Error names the file, its new name and the reason.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged (%v); it was set aside as %s", e.Path, e.Err, e.SetAside)
}

// Unwrap returns the reason.
func (e *DamagedError) Unwrap() error { return e.Err }

// Store is a state directory. It may be used by several goroutines, for
// different values.
type Store struct {
	dir string
	mu  sync.Mutex
	// newer holds the paths of files that must not be overwritten.
	newer map[string]bool
}

// envelope is the form of a file.
type envelope struct {
	Format   string          `json:"format"` // "ssdprobe/" and the kind
	Version  int             `json:"version"`
	Name     string          `json:"name"`
	Saved    time.Time       `json:"saved"`
	Checksum string          `json:"checksum"` // "sha256:" of data without white space
	Data     json.RawMessage `json:"data"`
}

// Open opens the state directory dir and makes it when it is not there.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("open the state directory: %w", err)
	}
	return &Store{dir: dir, newer: map[string]bool{}}, nil
}

// RemoveLeftovers removes what saves that were cut short left behind. It must not
// be called while another process may be saving.
func (s *Store) RemoveLeftovers() error {
	leftovers, err := s.files("*", func(name string) bool { return strings.HasPrefix(name, ".") && strings.Contains(name, suffix) })
	if err != nil {
		return fmt.Errorf("list what saves left behind: %w", err)
	}
	for _, path := range leftovers {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what a save left behind: %w", err)
		}
	}
	return nil
}

// files returns the paths of the files of a kind, or of all ("*"), whose names
// are wanted, sorted.
func (s *Store) files(kind string, wanted func(name string) bool) ([]string, error) {
	// Not filepath.Glob, to which brackets in the directory's name mean something.
	names, err := fs.Glob(os.DirFS(s.dir), kind+"/*")
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range names {
		if wanted(path.Base(name)) {
			paths = append(paths, filepath.Join(s.dir, filepath.FromSlash(name)))
		}
	}
	return paths, nil
}

// Dir returns the state directory.
func (s *Store) Dir() string { return s.dir }

func (s *Store) pathOf(kind, name string) string {
	file := url.PathEscape(name)
	if len(file) > maxNameBytes {
		sum := sha256.Sum256([]byte(name))
		file = file[:maxNameBytes-33] + "-" + hex.EncodeToString(sum[:16])
	}
	if strings.HasPrefix(file, ".") { // not to be taken for a leftover
		file = "%2E" + file[1:]
	}
	return filepath.Join(s.dir, kind, file+suffix)
}

// Save stores v as the value of that kind and name.
func (s *Store) Save(kind, name string, v any) error {
	path := s.pathOf(kind, name)
	if s.isNewer(path) {
		return fmt.Errorf("save %s: %w; not overwritten", path, ErrNewer)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	text, err := json.MarshalIndent(envelope{
		Format: "ssdprobe/" + kind, Version: version, Name: name, Saved: time.Now().UTC(),
		Checksum: checksum(data), Data: data,
	}, "", " ")
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	if err := replace(path, append(text, '\n')); err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	return nil
}

// replace puts text in path's place so that a crash leaves the old or the new.
func replace(path string, text []byte) (err error) {
	pending, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o640), renameio.WithTempDir(filepath.Dir(path)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pending.Cleanup()) }()
	if _, err := pending.Write(text); err != nil {
		return err
	}
	if err := pending.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Load reads the value of that kind and name into v. It returns false when there
// is none. A damaged file is set aside and reported as a *DamagedError; v may
// then be changed in part and must not be used.
func (s *Store) Load(kind, name string, v any) (bool, error) {
	path := s.pathOf(kind, name)
	text, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("load %s: %w", path, err)
	}
	e, err := decode(text, kind)
	if err == nil && e.Name != name {
		err = fmt.Errorf("it is the value of %q, and %q was looked for", e.Name, name)
	}
	if errors.Is(err, ErrNewer) {
		s.mu.Lock()
		s.newer[path] = true
		s.mu.Unlock()
		return false, fmt.Errorf("load %s: %w; upgrade, or move the file away", path, err)
	}
	if err == nil {
		err = json.Unmarshal(e.Data, v)
	}
	if err != nil {
		return false, s.SetAside(kind, name, err)
	}
	return true, nil
}

// SetAside renames the file of a value that turned out to make no sense, and
// returns the *DamagedError that says so.
func (s *Store) SetAside(kind, name string, cause error) error {
	path := s.pathOf(kind, name)
	aside := fmt.Sprintf("%s.damaged-%s", path, time.Now().UTC().Format("20060102T150405.000000000"))
	if err := os.Rename(path, aside); err != nil {
		return errors.Join(fmt.Errorf("load %s: %w", path, cause), fmt.Errorf("set it aside: %w", err))
	}
	return &DamagedError{Path: path, SetAside: aside, Err: cause}
}

// decode checks the envelope of a file.
func decode(text []byte, kind string) (envelope, error) {
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil {
		return e, err
	}
	if want := "ssdprobe/" + kind; e.Format != want {
		return e, fmt.Errorf("its format is %q, not %q", e.Format, want)
	}
	if e.Version > version {
		return e, fmt.Errorf("version %d, and this ssdprobe knows %d: %w", e.Version, version, ErrNewer)
	}
	if e.Version < 1 {
		return e, fmt.Errorf("version %d cannot be", e.Version)
	}
	var data bytes.Buffer
	if err := json.Compact(&data, e.Data); err != nil {
		return e, fmt.Errorf("data: %w", err)
	}
	if got := checksum(data.Bytes()); got != e.Checksum {
		return e, fmt.Errorf("the checksum is %s, and the file says %q", got, e.Checksum)
	}
	return e, nil
}

func checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	err = errors.Join(err, f.Close())
	if err == nil && len(text) > maxFileBytes {
		err = fmt.Errorf("larger than %d bytes", maxFileBytes)
	}
	return text, err
}

// Names returns the names of all values of a kind, sorted by file. The error
// joins what was wrong with files that could not be understood; the names of the
// others are returned all the same.
func (s *Store) Names(kind string) ([]string, error) {
	paths, err := s.files(kind, func(name string) bool { return !strings.HasPrefix(name, ".") && strings.HasSuffix(name, suffix) })
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", kind, err)
	}
	var names []string
	var problems []error
	for _, path := range paths {
		text, err := read(path)
		if err == nil {
			var e envelope
			if e, err = decode(text, kind); err == nil {
				names = append(names, e.Name)
				continue
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, fmt.Errorf("%s: %w", path, err))
		}
	}
	return names, errors.Join(problems...)
}

// Remove removes the value of that kind and name; it need not be there.
func (s *Store) Remove(kind, name string) error {
	path := s.pathOf(kind, name)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove: %w", err)
	}
	return nil
}

func (s *Store) isNewer(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newer[path]
}
