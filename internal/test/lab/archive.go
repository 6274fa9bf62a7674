package lab

import (
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// archive writes an initramfs: a cpio archive in the "newc" format of the kernel's
// Documentation/driver-api/early-userspace/buffer-format.rst. It creates the directories above an
// entry as needed. Several concatenated archives are unpacked over one another.
type archive struct {
	w       io.Writer
	offset  int64
	inode   uint32
	entries map[string]bool
}

const (
	modeDirectory = 0o040000
	modeFile      = 0o100000
	modeLink      = 0o120000

	trailer     = "TRAILER!!!"
	endOfHeader = 4   // header and name are padded to this
	endOfBlock  = 512 // the whole archive is padded to this
)

func newArchive(w io.Writer) *archive {
	return &archive{w: w, entries: map[string]bool{"/": true}}
}

// copyFile adds the host's file, with its permission bits; symbolic links on the host are followed.
func (a *archive) copyFile(guest, host string) error {
	file, err := os.Open(host)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", host)
	}
	return a.entry(guest, modeFile|uint32(info.Mode().Perm()), info.Size(), file)
}

// text adds a file with the given content.
func (a *archive) text(guest, content string) error {
	return a.entry(guest, modeFile|0o644, int64(len(content)), strings.NewReader(content))
}

// link adds a symbolic link to target.
func (a *archive) link(guest, target string) error {
	return a.entry(guest, modeLink|0o777, int64(len(target)), strings.NewReader(target))
}

func (a *archive) directory(guest string) error {
	guest = path.Clean(guest)
	if a.entries[guest] {
		return nil
	}
	return a.entry(guest, modeDirectory|0o755, 0, strings.NewReader(""))
}

func (a *archive) entry(guest string, mode uint32, size int64, content io.Reader) error {
	guest = path.Clean(guest)
	if a.entries[guest] {
		return fmt.Errorf("archive: %s is there twice", guest)
	}
	if err := a.directory(path.Dir(guest)); err != nil {
		return err
	}
	a.entries[guest] = true
	if err := a.header(strings.TrimPrefix(guest, "/"), mode, size); err != nil {
		return fmt.Errorf("archive %s: %w", guest, err)
	}
	n, err := io.Copy(a, io.LimitReader(content, size))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = a.pad(endOfHeader)
	}
	if err != nil {
		return fmt.Errorf("archive %s: %w", guest, err)
	}
	return nil
}

func (a *archive) header(name string, mode uint32, size int64) error {
	if size >= 1<<32 {
		return fmt.Errorf("%d bytes are too many for the format", size)
	}
	a.inode++
	links, mtime, device, checksum := 1, 0, 0, 0
	owner := 0
	_, err := fmt.Fprintf(a, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		a.inode, mode, owner, owner, links, mtime, size, device, device, device, device, len(name)+1, checksum, name)
	if err != nil {
		return err
	}
	return a.pad(endOfHeader)
}

// close ends the archive, so that another may follow.
func (a *archive) close() error {
	if err := a.header(trailer, 0, 0); err != nil {
		return err
	}
	return a.pad(endOfBlock)
}

// Write counts the bytes that it writes, because the padding depends on them.
func (a *archive) Write(p []byte) (int, error) {
	n, err := a.w.Write(p)
	a.offset += int64(n)
	return n, err
}

func (a *archive) pad(to int64) error {
	_, err := a.Write(make([]byte, (to-a.offset%to)%to))
	return err
}
