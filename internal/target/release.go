package target

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// ErrReplaced says that the path now leads to a different file or device.
var ErrReplaced = errors.New("it is another one than before")

// identity distinguishes a file or device from all others, also from a later one with the same inode.
type identity struct {
	dev, ino, rdev uint64
	born           unix.StatxTimestamp // zero where the filesystem does not know
}

// identity asks no server (AT_STATX_DONT_SYNC, statx(2)): none of it changes while the file is open. On NFS, a process
// cannot end while it has a file open that it is not reading, and the server is gone: the kernel waits for the answer to
// its CLOSE. A request between open and read would be a moment for that.
func (d *direct) identity() (identity, error) {
	const flags, mask = unix.AT_EMPTY_PATH | unix.AT_STATX_DONT_SYNC, unix.STATX_TYPE | unix.STATX_INO | unix.STATX_BTIME
	var st unix.Statx_t
	if err := uninterrupted(func() error { return unix.Statx(d.fd, "", flags, mask, &st) }); err != nil {
		return identity{}, &fs.PathError{Op: "statx", Path: d.path, Err: err}
	}
	return identity{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino, unix.Mkdev(st.Rdev_major, st.Rdev_minor), st.Btime}, nil
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
	err = d.Close()
	d.released, d.fd = &id, -1 // also after an error: close(2) has freed the number, and another file may have it
	return err
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

// acquire is like Acquire, and checks with same that the target is still as it was. The error of same names the target.
func (d *direct) acquire(same func() error) error {
	if d.released == nil {
		return nil
	}
	if err := d.Acquire(); err != nil {
		return err
	}
	if err := same(); err != nil {
		return errors.Join(err, d.Release())
	}
	return nil
}

// Acquire opens the file again after Release. Errors: ErrReplaced, ErrDamaged if it has another size now, and those of open.
func (f *File) Acquire() error {
	return f.acquire(func() error {
		st, err := f.stat()
		if err == nil && st.Size != f.sizeBytes { // somebody has written something else to it
			err = fmt.Errorf("open %s: %w: it has %d bytes, and had %d", f.path, ErrDamaged, st.Size, f.sizeBytes)
		}
		return err
	})
}

// Acquire opens the file again after Release. Errors: ErrReplaced, also if it is smaller now: reads beyond its end would
// be I/O errors; and those of open.
func (e *Existing) Acquire() error {
	return e.acquire(func() error {
		st, err := e.stat()
		if err == nil && st.Size < e.sizeBytes {
			err = fmt.Errorf("open %s: %w: it has %d bytes, and had %d", e.path, ErrReplaced, st.Size, e.sizeBytes)
		}
		return err
	})
}

// Acquire opens the device again after Release. Errors: ErrReplaced, also if it is smaller now or has other logical
// blocks, as after a format: reads beyond its end or of a part of a block would be I/O errors; and those of open.
func (d *Device) Acquire() error {
	return d.acquire(func() error {
		now, err := checkDevice(d.direct, "")
		if err == nil && (now.sizeBytes < d.sizeBytes || now.blockBytes != d.blockBytes) {
			err = fmt.Errorf("open %s: %w: it has %d bytes in blocks of %d, and had %d in blocks of %d",
				d.path, ErrReplaced, now.sizeBytes, now.blockBytes, d.sizeBytes, d.blockBytes)
		}
		return err
	})
}
