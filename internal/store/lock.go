package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrLocked says that another process holds a lock.
var ErrLocked = errors.New("locked by another process")

// Lock is a lock file that this process holds. The kernel releases the lock when the process ends, however
// it ends.
type Lock struct {
	file  *os.File
	noted bool
}

// lockSuffix is the suffix of lock files.
const lockSuffix = ".lock"

// TakeLock takes the named lock in dir, which it creates if necessary, or returns ErrLocked at once.
// ErrUntrusted says that another user could remove the file: two processes could then hold the same lock.
// For the same reason, the file remains after Release.
func TakeLock(dir, name string) (*Lock, error) {
	if err := MakeDir(dir); err != nil {
		return nil, fmt.Errorf("take the lock %s: %w", name, err)
	}
	path := filepath.Join(dir, fileName(name)+lockSuffix)
	// O_NOFOLLOW: in a shared directory, the name may be a link made by another user.
	const flags = unix.O_CLOEXEC | unix.O_NOFOLLOW
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|flags, 0o600)
	readOnly := errors.Is(err, unix.EROFS)
	if readOnly { // as after an I/O error; a lock needs no right to write
		if existing, missing := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|flags, 0); missing == nil {
			fd, err = existing, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("take the lock %s: %w", path, err)
	}
	lock, err := lockFile(os.NewFile(uintptr(fd), path))
	if err != nil || readOnly {
		return lock, err
	}
	// Remove the note of an earlier holder that was killed.
	if err := empty(lock.file); err != nil {
		return nil, errors.Join(fmt.Errorf("take the lock %s: %w", path, err), lock.Release())
	}
	return lock, nil
}

// TakeDirLock takes a lock that is dir itself, or returns ErrLocked at once. It serves where TakeLock cannot make its file.
func TakeDirLock(dir string) (*Lock, error) {
	if err := MakeDir(dir); err != nil {
		return nil, fmt.Errorf("take the lock %s: %w", dir, err)
	}
	file, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("take the lock %s: %w", dir, err)
	}
	return lockFile(file)
}

// lockFile locks an open file, or closes it.
func lockFile(file *os.File) (*Lock, error) {
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, errors.Join(fmt.Errorf("take the lock %s: %w", file.Name(), err), file.Close())
	}
	return &Lock{file: file}, nil
}

// errForeign says that a lock file has content that Note does not write.
var errForeign = errors.New("ssdprobe did not write what is in this file: move it away, or name another directory")

// empty removes the note in a file. It does not truncate a file that is empty already, as that fails where a quota is
// used up, nor a file of another program.
func empty(file *os.File) error {
	var first [1]byte
	switch n, err := file.ReadAt(first[:], 0); {
	case n == 0 && errors.Is(err, io.EOF):
		return nil
	case n == 0:
		return err
	case first[0] != '{':
		return errForeign
	}
	return file.Truncate(0)
}

// Note writes a description of the holder into the lock file, for others who want the lock. Its JSON is an object. It
// remains there until the lock is released, or, if the holder is killed, until the lock is taken again.
func (l *Lock) Note(holder any) error {
	text, err := json.Marshal(holder)
	if err != nil {
		return fmt.Errorf("note in %s who holds it: %w", l.file.Name(), err)
	}
	l.noted = true
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err = l.file.WriteAt(text, 0)
	return err
}

// Release releases the lock.
func (l *Lock) Release() error {
	var err error
	if l.noted {
		err = l.file.Truncate(0)
	}
	return errors.Join(err, l.file.Close())
}

// Keep hands the lock over to the kernel, which releases it when the process has ended, including every
// thread that still waits for a drive. Call it instead of Release.
func (l *Lock) Keep() error {
	if _, err := unix.FcntlInt(l.file.Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil { // the garbage collector does not close the duplicate
		return fmt.Errorf("keep the lock %s: %w", l.file.Name(), err)
	}
	return nil
}

// IsNoted reports whether the named lock in dir is held and has a note. It is cheap enough to be called
// often: a lock file without a note is not opened.
func IsNoted(dir, name string) bool {
	path := filepath.Join(dir, fileName(name)+lockSuffix)
	if info, err := os.Lstat(path); err != nil || info.Size() == 0 {
		return false
	}
	text, _, err := readNote(path)
	return err == nil && len(text) > 0
}

// Noted is the note of a lock and the user who wrote it: nobody else could write to the file.
type Noted[T any] struct {
	Holder T
	UID    uint32
}

// Notes returns the notes of all held locks in dir, keyed by the name of the lock file.
func Notes[T any](dir string) (map[string]Noted[T], error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("look for locks: %w", err)
	}
	notes := map[string]Noted[T]{}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), lockSuffix) || !entry.Type().IsRegular() {
			continue
		}
		text, uid, err := readNote(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("look for locks: %w", err)
		}
		note := Noted[T]{UID: uid}
		if json.Unmarshal(text, &note.Holder) == nil { // a lock without a note, or whose note is just being written, is left out
			notes[entry.Name()] = note
		}
	}
	return notes, nil
}

// readNote returns the content and the owner of a lock file. It does not follow links. text is empty if
// nobody holds the lock.
func readNote(path string) (text []byte, uid uint32, err error) {
	const noteLimit = 64 << 10
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return nil, 0, err
	}
	if st.Mode&0o022 != 0 {
		return nil, 0, nil // anybody could have written it
	}
	// A shared lock, held only for a moment: another process that wants the lock at the same time has to try
	// again.
	if err = unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		return nil, 0, err
	}
	text, err = io.ReadAll(io.LimitReader(file, noteLimit))
	return text, st.Uid, err
}
