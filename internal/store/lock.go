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

// Lock is a lock file that this process holds. The kernel lets go of it when
// the process ends, however it ends.
type Lock struct {
	file  *os.File
	noted bool
}

// lockSuffix ends the names of lock files.
const lockSuffix = ".lock"

// TakeLock takes the lock of that name in dir, which is made when it is not
// there, or returns ErrLocked at once. ErrUntrusted says that another user could
// remove the file: two processes could then hold two locks of one name. For the same
// reason the file itself stays.
func TakeLock(dir, name string) (*Lock, error) {
	if err := MakeDir(dir); err != nil {
		return nil, fmt.Errorf("take the lock %s: %w", name, err)
	}
	path := filepath.Join(dir, fileName(name)+lockSuffix)
	// O_NOFOLLOW: in a shared directory the name may be somebody else's link.
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("take the lock %s: %w", path, err)
	}
	file := os.NewFile(uintptr(fd), path)
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, errors.Join(fmt.Errorf("take the lock %s: %w", path, err), file.Close())
	}
	// What a process that was killed has noted is not this one's.
	if err := empty(file); err != nil {
		return nil, errors.Join(fmt.Errorf("take the lock %s: %w", path, err), file.Close())
	}
	return &Lock{file: file}, nil
}

// empty empties a file. One that is empty is not written to: that fails where a quota is used up.
func empty(file *os.File) error {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	return file.Truncate(0)
}

// Note writes into the file of the lock who holds it, for who finds it taken. It is
// there until the lock is released; what a process that was killed has noted stays until
// the lock is taken again.
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

// Release lets go of the lock.
func (l *Lock) Release() error {
	var err error
	if l.noted {
		err = l.file.Truncate(0)
	}
	return errors.Join(err, l.file.Close())
}

// Keep leaves the lock to the kernel, which lets go of it when the process has ended, with
// every thread that still waits for a drive. It is instead of Release.
func (l *Lock) Keep() error {
	if _, err := unix.FcntlInt(l.file.Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil { // which the garbage collector does not close
		return fmt.Errorf("keep the lock %s: %w", l.file.Name(), err)
	}
	return nil
}

// IsNoted reports whether the lock of that name in dir is held by somebody who has noted that. It may be
// asked often: a lock in which nothing is noted is not touched.
func IsNoted(dir, name string) bool {
	path := filepath.Join(dir, fileName(name)+lockSuffix)
	if info, err := os.Lstat(path); err != nil || info.Size() == 0 {
		return false
	}
	text, _, err := readNote(path)
	return err == nil && len(text) > 0
}

// Noted is what is noted in a lock, and by which user: nobody else could write to the file.
type Noted[T any] struct {
	Holder T
	UID    uint32
}

// Notes are what is noted in the locks of dir that are held, by the name of the file of each.
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
		if json.Unmarshal(text, &note.Holder) == nil { // what was never noted, or is just being written, says nothing
			notes[entry.Name()] = note
		}
	}
	return notes, nil
}

// readNote reads a lock file that is nobody's link, and whose it is. It is empty when nobody holds the lock.
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
		return nil, 0, nil // anybody's words
	}
	// Shared and for a moment: whoever wants the lock just then tries again.
	if err = unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		return nil, 0, err
	}
	text, err = io.ReadAll(io.LimitReader(file, noteLimit))
	return text, st.Uid, err
}
