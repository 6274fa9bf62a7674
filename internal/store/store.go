package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	suffix = ".json"
	// maxNameBytes leaves room for the suffix and for ".damaged-…" in the 255
	// bytes that filesystems allow.
	maxNameBytes = 180
)

// ErrNewer says that a file was written by a newer ssdprobe. The file is left unchanged.
var ErrNewer = errors.New("written by a newer ssdprobe")

// Store is a state directory. Several goroutines may use it concurrently, for different values.
type Store struct {
	dir    string
	schema Schema
}

// Open opens the state directory dir, whose values follow schema, and creates it if it does not exist. Errors:
// ErrUntrusted, and those of the filesystem.
func Open(dir string, schema Schema) (*Store, error) {
	if err := MakeDir(dir); err != nil {
		return nil, fmt.Errorf("open the state directory: %w", err)
	}
	return &Store{dir: dir, schema: schema}, nil
}

// RemoveLeftovers removes what interrupted saves left behind, if it was last written before the given time. Another process
// may be saving later ones.
func (s *Store) RemoveLeftovers(before time.Time) error {
	// A pending file has digits after its suffix. Others may have hidden files with that suffix in a directory of theirs.
	leftovers, err := s.files("", regexp.MustCompile(`^\..+\`+suffix+`\d+$`).MatchString)
	if err != nil {
		return fmt.Errorf("list what saves left behind: %w", err)
	}
	for _, path := range leftovers {
		info, err := os.Lstat(path)
		if err == nil && info.ModTime().Before(before) {
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what a save left behind: %w", err)
		}
	}
	return nil
}

// files returns the sorted paths of the files of a kind, or of all kinds if kind is empty, whose names are wanted. For
// a kind of which nothing was saved it returns none.
func (s *Store) files(kind string, wanted func(name string) bool) ([]string, error) {
	kinds, all := []string{kind}, kind == ""
	if all {
		entries, err := os.ReadDir(s.dir)
		if err != nil {
			return nil, err
		}
		kinds = nil
		for _, entry := range entries {
			if entry.IsDir() {
				kinds = append(kinds, entry.Name())
			}
		}
	}
	var paths []string
	for _, kind := range kinds {
		dir := filepath.Join(s.dir, kind)
		entries, err := os.ReadDir(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case all && errors.Is(err, fs.ErrPermission): // not ours, such as lost+found
		case err != nil:
			return nil, err
		}
		for _, entry := range entries {
			if wanted(entry.Name()) {
				paths = append(paths, filepath.Join(dir, entry.Name()))
			}
		}
	}
	return paths, nil
}

// Dir returns the state directory.
func (s *Store) Dir() string { return s.dir }

func (s *Store) pathOf(kind, name string) string {
	return filepath.Join(s.dir, kind, fileName(name)+suffix)
}

// fileName returns the file name for a value's name of any length and content.
func fileName(name string) string {
	file := url.PathEscape(name)
	if len(file) > maxNameBytes {
		sum := sha256.Sum256([]byte(name))
		file = file[:maxNameBytes-33] + "-" + hex.EncodeToString(sum[:16])
	}
	switch {
	case file == "":
		return "%" // no other name maps to it
	case file[0] == '.': // a leading dot would mark a leftover
		return "%2E" + file[1:]
	}
	return file
}

// Save stores v as the value of the given kind and name. It does not replace a file that is newer (ErrNewer), that
// another user could have written (ErrUntrusted), or that cannot be read. A damaged file is set aside and reported as a
// *DamagedError; v is saved all the same.
func (s *Store) Save(kind, name string, v any) error {
	path := s.pathOf(kind, name)
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	text, err := json.MarshalIndent(envelope{
		Format: "ssdprobe/" + kind, Version: s.schema.Version, Name: name, Saved: time.Now().UTC(),
		Checksum: checksum(data), Data: data,
	}, "", " ")
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	if len(text) >= maxFileBytes {
		return fmt.Errorf("save %s: %d bytes are more than the %d that would be read again", path, len(text), maxFileBytes)
	}
	report, err := s.makeWay(kind, name)
	if err != nil {
		return fmt.Errorf("save %s %q: %w; not overwritten", kind, name, err)
	}
	if err := makeDir(filepath.Dir(path), s.dir); err != nil {
		return errors.Join(report, fmt.Errorf("save %s: %w", path, err))
	}
	if err := replace(path, append(text, '\n')); err != nil {
		return errors.Join(report, fmt.Errorf("save %s: %w", path, err))
	}
	return report
}

// Writable returns an error if a value of the given kind could not be saved.
func (s *Store) Writable(kind string) error {
	dir := filepath.Join(s.dir, kind)
	err := makeDir(dir, s.dir)
	if err == nil {
		err = writable(dir)
	}
	if err != nil {
		return fmt.Errorf("write to the state directory: %w", err)
	}
	return nil
}

// writable creates a file in a directory and removes it.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".check"+suffix)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// makeWay sets a damaged file aside and returns that as report. It returns err if the existing file must not be
// replaced.
func (s *Store) makeWay(kind, name string) (report, err error) {
	_, err = s.inspect(kind, name)
	var damaged *DamagedError
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case !errors.As(err, &damaged):
		return nil, err
	}
	report = s.SetAside(kind, name, damaged.Err)
	if !errors.As(report, &damaged) {
		return nil, report
	}
	return report, nil
}

// Load reads the value of the given kind and name into v. It returns false if there is none. A damaged file is set
// aside and reported as a *DamagedError; v may then be partly overwritten and must not be used.
func (s *Store) Load(kind, name string, v any) (bool, error) {
	e, err := s.inspect(kind, name)
	return s.unpack(s.pathOf(kind, name), kind, e, err, v)
}

// LoadEach reads all values of a kind in the order of their files. For each file, it reads into what newValue returns
// and then passes that to take. It leaves out copies of files. Damaged files are set aside. The error joins their *DamagedErrors and all other read
// errors.
func (s *Store) LoadEach(kind string, newValue func() any, take func(v any)) error {
	paths, err := s.values(kind)
	if err != nil {
		return err
	}
	var problems []error
	for _, path := range paths {
		e, err := s.readEnvelope(path, kind)
		if err == nil && s.pathOf(kind, e.Name) != path { // the value may have changed since it was copied
			continue
		}
		v := newValue()
		found, err := s.unpack(path, kind, e, err, v)
		problems = append(problems, err)
		if found {
			take(v)
		}
	}
	return errors.Join(problems...)
}

// unpack reads the data of an envelope into v. err is the error of reading the envelope, which unpack handles.
func (s *Store) unpack(path, kind string, e envelope, err error, v any) (bool, error) {
	var damaged *DamagedError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case errors.As(err, &damaged):
		return false, setAside(path, damaged.Err)
	case errors.Is(err, ErrNewer):
		return false, fmt.Errorf("load %s: %w; upgrade, or move the file away", kind, err)
	case err != nil:
		return false, fmt.Errorf("load %s: %w", kind, err)
	}
	data, err := s.schema.upgraded(kind, e)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return false, setAside(path, err)
	}
	return true, nil
}

// inspect reads and checks the file of a value without changing anything. Errors: those of readEnvelope.
func (s *Store) inspect(kind, name string) (envelope, error) {
	path := s.pathOf(kind, name)
	e, err := s.readEnvelope(path, kind)
	if err == nil && e.Name != name {
		err = &DamagedError{Path: path, Err: fmt.Errorf("it is the value of %q, and %q was looked for", e.Name, name)}
	}
	return e, err
}

// SetAside renames the file of a value whose data turned out to be invalid, and returns a *DamagedError that says so.
func (s *Store) SetAside(kind, name string, cause error) error {
	return setAside(s.pathOf(kind, name), cause)
}

func setAside(path string, cause error) error {
	aside := fmt.Sprintf("%s.damaged-%s", path, time.Now().UTC().Format("20060102T150405.000000000"))
	if err := os.Rename(path, aside); err != nil {
		return errors.Join(fmt.Errorf("load %s: %w", path, cause), fmt.Errorf("set it aside: %w", err))
	}
	return &DamagedError{Path: path, SetAside: aside, Err: cause}
}

// SetDamagedAside renames the damaged files of a kind, including those that no caller would ever load by name. It
// returns their *DamagedErrors, joined.
func (s *Store) SetDamagedAside(kind string) error {
	paths, err := s.values(kind)
	problems := []error{err}
	for _, path := range paths {
		_, err := s.readEnvelope(path, kind)
		if damaged := new(DamagedError); errors.As(err, &damaged) {
			problems = append(problems, setAside(path, damaged.Err))
		}
	}
	return errors.Join(problems...)
}

// isValue distinguishes files of values from the leftovers of saves and from files that were set aside.
func isValue(name string) bool {
	return !strings.HasPrefix(name, ".") && strings.HasSuffix(name, suffix)
}

// Names returns the names of all values of a kind, sorted by file. It takes them from the names of the files, and reads
// only those files whose names are too long to tell. It sets the damaged ones of these aside, as nobody could load them.
// The error joins their *DamagedErrors and all other read errors; the other names are returned all the same.
func (s *Store) Names(kind string) ([]string, error) {
	paths, err := s.values(kind)
	if err != nil {
		return nil, err
	}
	return s.namesOf(kind, paths)
}

// Count returns how many values of a kind there are, without reading them.
func (s *Store) Count(kind string) (int, error) {
	paths, err := s.values(kind)
	return len(paths), err
}

// NamesByAge is like Names, but what was saved longest ago comes first.
func (s *Store) NamesByAge(kind string) ([]string, error) {
	paths, err := s.values(kind)
	if err != nil {
		return nil, err
	}
	saved := map[string]time.Time{}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", kind, err)
		}
		saved[path] = info.ModTime()
	}
	slices.SortStableFunc(paths, func(a, b string) int { return saved[a].Compare(saved[b]) })
	return s.namesOf(kind, paths)
}

// values returns the paths of all values of a kind, sorted by file.
func (s *Store) values(kind string) ([]string, error) {
	paths, err := s.files(kind, isValue)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", kind, err)
	}
	return paths, nil
}

func (s *Store) namesOf(kind string, paths []string) ([]string, error) {
	var names []string
	var problems []error
	for _, path := range paths {
		name, err := s.nameIn(path, kind)
		switch {
		case err == nil && s.pathOf(kind, name) == path: // a copy has a name that no value has
			names = append(names, name)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			problems = append(problems, fmt.Errorf("list %s: %w", kind, err))
		}
	}
	return names, errors.Join(problems...)
}

// nameIn returns the name of the value in a file, which it reads only if the name of the file does not tell. It sets the
// file aside if it is damaged.
func (s *Store) nameIn(path, kind string) (string, error) {
	if name, told := nameOf(strings.TrimSuffix(filepath.Base(path), suffix)); told {
		return name, nil
	}
	e, err := s.readEnvelope(path, kind)
	if damaged := new(DamagedError); errors.As(err, &damaged) {
		err = setAside(path, damaged.Err)
	}
	return e.Name, err
}

// nameOf returns the name that fileName maps to a file, or false if only the content of the file tells it.
func nameOf(file string) (name string, told bool) {
	if file == fileName("") {
		return "", true
	}
	name, err := url.PathUnescape(file)
	return name, err == nil && len(file) < maxNameBytes
}

// Remove removes the value of the given kind and name; it is no error if there is none.
func (s *Store) Remove(kind, name string) error {
	path := s.pathOf(kind, name)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove: %w", err)
	}
	return nil
}
