package target

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// ErrReplaced says that the path now leads to a different file or device.
var ErrReplaced = errors.New("it is another one than before")

// identity distinguishes a file or device from all others.
type identity struct{ dev, ino, rdev uint64 }

func (d *direct) identity() (identity, error) {
	st, err := d.stat()
	return identity{st.Dev, st.Ino, st.Rdev}, err
}

// Release closes the descriptor until Acquire. Between rounds, the target is then not
// in use for anybody who wants to unmount, detach or remove what is below it.
func (d *direct) Release() error {
	if d.released != nil {
		return nil
	}
	id, err := d.identity()
	if err != nil {
		return err
	}
	if err := d.Close(); err != nil {
		return err
	}
	d.released, d.fd = &id, -1
	return nil
}

// Acquire opens the target again after Release. Errors: ErrReplaced, and those of open.
func (d *direct) Acquire() error {
	if d.released == nil {
		return nil
	}
	again, err := openDirect(d.path, d.flags&^(unix.O_CREAT|unix.O_EXCL), 0)
	if err != nil {
		return err
	}
	id, err := again.identity()
	if err == nil && id != *d.released {
		err = fmt.Errorf("open %s: %w", d.path, ErrReplaced)
	}
	if err != nil {
		return errors.Join(err, again.Close())
	}
	d.fd, d.released = again.fd, nil
	return nil
}
