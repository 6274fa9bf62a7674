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
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// maxFileBytes limits how much is read into memory; a value is far smaller.
const maxFileBytes = 32 << 20

// DamagedError says that a file could not be interpreted.
type DamagedError struct {
	Path string
	// SetAside is the new path of the file; empty if the file was left where it is.
	SetAside string
	Err      error
}

// Error returns the file, its new name and the reason.
func (e *DamagedError) Error() string {
	if e.SetAside == "" {
		return fmt.Sprintf("%s is damaged (%v)", e.Path, e.Err)
	}
	return fmt.Sprintf("%s is damaged (%v); it was set aside as %s", e.Path, e.Err, e.SetAside)
}

// Unwrap returns the reason.
func (e *DamagedError) Unwrap() error { return e.Err }

// envelope is the content of a file.
type envelope struct {
	Format   string          `json:"format"` // "ssdprobe/" and the kind
	Version  int             `json:"version"`
	Name     string          `json:"name"`
	Saved    time.Time       `json:"saved"`
	Checksum string          `json:"checksum"` // "sha256:" and the hash of data without white space
	Data     json.RawMessage `json:"data"`
}

// readEnvelope reads and checks a file. Errors: fs.ErrNotExist, ErrNewer, *DamagedError
// for a file that cannot be interpreted, and those of reading it.
func (s *Store) readEnvelope(path, kind string) (envelope, error) {
	text, err := read(path)
	if err != nil {
		return envelope{}, err
	}
	e, err := s.schema.decode(text, kind)
	switch {
	case errors.Is(err, ErrNewer):
		return e, fmt.Errorf("%s: %w", path, err)
	case err != nil:
		return e, &DamagedError{Path: path, Err: err}
	}
	return e, nil
}

// decode checks the envelope of a file.
func (s Schema) decode(text []byte, kind string) (envelope, error) {
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil {
		return e, err
	}
	if want := "ssdprobe/" + kind; e.Format != want {
		return e, fmt.Errorf("its format is %q, not %q", e.Format, want)
	}
	if e.Version > s.Version {
		return e, fmt.Errorf("version %d, and this ssdprobe knows %d: %w", e.Version, s.Version, ErrNewer)
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

// read returns the content of a file. It does not follow links, does not block on a
// FIFO or device, and refuses a file that another user could have written.
func read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, &DamagedError{Path: path, Err: errors.New("it is a symbolic link")}
	} else if err != nil {
		return nil, err
	}
	text, err := readFile(f)
	return text, errors.Join(err, f.Close())
}

func readFile(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &DamagedError{Path: f.Name(), Err: errors.New("it is not a file")}
	}
	stateDir := filepath.Dir(filepath.Dir(f.Name())) // which has one directory for each kind
	if err := trustFile(f.Name(), stateDir, info); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil && len(text) > maxFileBytes {
		err = &DamagedError{Path: f.Name(), Err: fmt.Errorf("it is larger than %d bytes", maxFileBytes)}
	}
	return text, err
}

// replace replaces the content of path so that a crash leaves either the old or the new
// content.
func replace(path string, text []byte) (err error) {
	pending, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600), renameio.WithTempDir(filepath.Dir(path)))
	if err != nil {
		return unnamed(err)
	}
	defer func() { err = errors.Join(err, pending.Cleanup()) }()
	if _, err := pending.Write(text); err != nil {
		return unnamed(err)
	}
	if err := pending.CloseAtomicallyReplace(); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	return errors.Join(syncDir(dir), syncDir(filepath.Dir(dir))) // dir may itself be new
}

// unnamed takes the name of an unfinished file out of an error. It is random, so the same problem would be reported as
// a new one each time.
func unnamed(err error) error {
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return fmt.Errorf("%s: %w", file.Op, file.Err)
	}
	return err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
