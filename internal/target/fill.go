package target

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/schedule"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// chunk is how many bytes are written at a time when a probe file is filled.
const chunk = 1 << 20

// FillingSuffix marks a probe file that is being filled. Only ssdprobe uses this
// suffix.
const FillingSuffix = ".ssdprobe-filling"

// makeFile fills a new file beside path and renames it when it is complete, so that
// path never names a half-filled file. The remains of an interrupted fill are removed,
// at once or by the next fill.
func makeFile(ctx context.Context, path string, size int64, o FileOptions) error {
	filling := path + FillingSuffix
	d, err := openFilling(filling)
	if err != nil {
		return err
	}
	if err = fill(ctx, &d, size, o); err == nil {
		err = put(filling, path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(filling))
	}
	// Closing the descriptor releases the lock, so close it only when the file is in
	// place or removed.
	if err := errors.Join(err, d.Close()); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// put gives a filled file its name, which only a file of ours may have had until then.
func put(filling, path string) error {
	err := unix.Renameat2(unix.AT_FDCWD, filling, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
	if err == nil {
		return nil
	}
	if !errors.Is(err, unix.EEXIST) && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) { // some filesystems lack the flag
		return &os.LinkError{Op: "rename", Old: filling, New: path, Err: err}
	}
	if err := replaceable(path); err != nil {
		return err
	}
	return os.Rename(filling, path)
}

// replaceable returns an error that matches ErrForeign if a file that is not ours has taken the place of ours.
func replaceable(path string) error {
	switch ours, err := IsOurs(path); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && !ours:
		return fmt.Errorf("replace %s, which has appeared meanwhile: %w", path, ErrForeign)
	}
	return nil
}

// openFilling opens the empty file that is to be filled, for this process alone. It
// reuses what an earlier fill left behind.
func openFilling(path string) (direct, error) {
	d, err := openDirect(path, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return direct{}, unwritable(path, err)
	}
	if err := claim(d); err != nil {
		return direct{}, errors.Join(err, d.Close())
	}
	return d, nil
}

// unwritable says what to do about an error of making a file.
func unwritable(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("make a probe file in %s: %w: run as a user who may write there, or name another directory", filepath.Dir(path), fs.ErrPermission)
	case errors.Is(err, unix.EROFS):
		return fmt.Errorf("make a probe file in %s: %w: name a directory on another filesystem", filepath.Dir(path), unix.EROFS)
	}
	return err
}

func claim(d direct) error {
	if err := unix.Flock(d.fd, unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return fmt.Errorf("open %s: %w", d.path, ErrFilling)
	} else if err != nil {
		return fmt.Errorf("lock %s: %w", d.path, err)
	}
	opened, err := d.stat()
	if err != nil {
		return err
	}
	// The previous holder of the lock may have put the file in place, or removed it.
	var named unix.Stat_t
	if err := unix.Lstat(d.path, &named); errors.Is(err, unix.ENOENT) || err == nil && (named.Dev != opened.Dev || named.Ino != opened.Ino) {
		return fmt.Errorf("open %s: %w", d.path, ErrFilling)
	} else if err != nil {
		return &fs.PathError{Op: "stat", Path: d.path, Err: err}
	}
	if opened.Mode&unix.S_IFMT != unix.S_IFREG {
		return fmt.Errorf("open %s: not a regular file", d.path)
	}
	if opened.Nlink > 1 { // another user may have linked a file of somebody to this name
		return fmt.Errorf("fill %s: the file has %d names and may be somebody's, so it is not overwritten: remove this name", d.path, opened.Nlink)
	}
	if err := uninterrupted(func() error { return unix.Ftruncate(d.fd, 0) }); err != nil {
		return &fs.PathError{Op: "truncate", Path: d.path, Err: err}
	}
	return nil
}

func fill(ctx context.Context, d *direct, size int64, o FileOptions) error {
	// Allocating the space first shows at once if there is not enough, and keeps the
	// file in one piece. Not every filesystem supports it.
	err := uninterrupted(func() error { return unix.Fallocate(d.fd, 0, 0, size) })
	if err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
		return fillError(d.path, size, err)
	}
	block, err := d.fileBlockBytes()
	if err != nil {
		return err
	}
	filesystem, err := d.statfs()
	if err != nil {
		return err
	}
	buffer, err := alignedBuffer(chunk)
	if err != nil {
		return err
	}
	defer buffer.release()
	data := content{seed: rand.Uint64()}
	start := time.Now()
	for off := int64(0); off < size; {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("fill %s: %w", d.path, context.Cause(ctx))
		}
		part := buffer.p[:min(chunk, size-off)]
		data.Content(part, off)
		began := time.Now()
		n, err := unix.Pwrite(d.fd, part, off)
		took := time.Since(began)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fillError(d.path, size, err)
		case n == 0 || n%contentBlock != 0:
			return fillError(d.path, size, unix.ENOSPC)
		}
		if off == 0 { // before the memory is filled
			if err := d.refuseMemoryBelow(filesystem, buffer.p[:max(contentBlock, block)]); err != nil {
				return fmt.Errorf("fill %s: %w", d.path, err)
			}
		}
		off += int64(n)
		if o.Progress != nil {
			o.Progress(off, size)
		}
		if o.BytesPerSecond > 0 {
			schedule.Pause(ctx, rest(off, o.BytesPerSecond, time.Since(start), took))
		}
	}
	if err := d.datasync(); err != nil {
		return fillError(d.path, size, err)
	}
	text, err := header{Made: headerMade, Note: headerNote, Version: headerVersion, Seed: data.seed, Size: size}.encode()
	if err != nil {
		return err
	}
	first := buffer.p[:max(headerBytes, block)]
	data.Content(first, 0)
	copy(first, text)
	if _, err := unix.Pwrite(d.fd, first, 0); err != nil {
		return fillError(d.path, size, err)
	}
	if err := uninterrupted(func() error { return unix.Fsync(d.fd) }); err != nil {
		return fillError(d.path, size, err)
	}
	return nil
}

// longestRest limits the pause after a write that took long.
const longestRest = time.Second

// rest returns the pause after a write that took as long as that, when so many bytes have been written since the start. A
// drive that cannot keep up with the rate has half of its time for others, unless it hangs: who waits for progress would give up.
func rest(written, bytesPerSecond int64, since, took time.Duration) time.Duration {
	due := time.Duration(float64(written) / float64(bytesPerSecond) * float64(time.Second))
	return max(due-since, min(took, longestRest))
}

func fillError(path string, size int64, err error) error {
	if errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("fill %s: %w", path, ErrNoDirectIO)
	}
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return fmt.Errorf("fill %s with %s: %w: %w", path, units.Size(size), ErrNoSpace, err)
	}
	return fmt.Errorf("fill %s: %w", path, err)
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

// aligned is page-aligned memory, as O_DIRECT requires.
type aligned struct{ p []byte }

func alignedBuffer(size int) (aligned, error) {
	p, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return aligned{}, fmt.Errorf("map a buffer of %d bytes: %w", size, err)
	}
	return aligned{p}, nil
}

// release unmaps the memory. The mapping is complete and belongs to this process, so
// that cannot fail.
func (a aligned) release() { _ = unix.Munmap(a.p) }
