package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrLocked says that another process holds a lock.
var ErrLocked = errors.New("locked by another process")

// Lock is a lock file that this process holds. The kernel lets go of it when
// the process ends, however it ends.
type Lock struct{ file *os.File }

// TakeLock takes the lock of that name in dir, which is made when it is not
// there, or returns ErrLocked at once. ErrUntrusted says that another user could
// remove the file: two processes could then hold two locks of one name. For the same
// reason the file itself stays.
func TakeLock(dir, name string) (*Lock, error) {
	if err := MakeDir(dir); err != nil {
		return nil, fmt.Errorf("take the lock %s: %w", name, err)
	}
	path := filepath.Join(dir, fileName(name)+".lock")
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
	return &Lock{file}, nil
}

// Release lets go of the lock.
func (l *Lock) Release() error { return l.file.Close() }
