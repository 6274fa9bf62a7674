package sysfs

import (
	"errors"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is how many symbolic links the kernel follows in one path.
const maxLinks = 40

// Resolve follows all symbolic links in a path, and returns the result as a path inside
// the root. The error matches os.ErrNotExist if nothing is there.
func (f FS) Resolve(name string) (string, error) {
	pending := strings.Split(name, "/")
	at := "" // without a slash at its end: empty for the root
	for links := 0; len(pending) > 0; {
		part := pending[0]
		pending = pending[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = strings.TrimSuffix(path.Dir("/"+at), "/")
			continue
		}
		next := at + "/" + part
		target, err := os.Readlink(f.root + next)
		switch {
		case errors.Is(err, unix.EINVAL): // not a link
			at = next
			continue
		case err != nil:
			return "", err
		}
		links++
		if links > maxLinks {
			return "", pathError("resolve", f.root+name, unix.ELOOP)
		}
		if path.IsAbs(target) {
			at = ""
		}
		pending = append(strings.Split(target, "/"), pending...)
	}
	return path.Join("/", at), nil
}

// Link follows only the symbolic link itself, and returns its target as a path inside
// the root. The target need not exist: a container may have the links of
// /dev/disk/by-id without the device files.
func (f FS) Link(name string) (string, error) {
	dir, err := f.Resolve(path.Dir(name))
	if err != nil {
		return "", err
	}
	target, err := os.Readlink(f.root + path.Join(dir, path.Base(name)))
	if err != nil {
		return "", err
	}
	if path.IsAbs(target) {
		return path.Clean(target), nil
	}
	return path.Join(dir, target), nil
}

// locate returns the path to pass to the kernel. On the machine itself the kernel
// follows links. With another root it would leave that root at an absolute link.
func (f FS) locate(name string) (string, error) {
	if f.root == "" {
		return name, nil
	}
	inside, err := f.Resolve(name)
	if err != nil {
		return "", err
	}
	return f.root + inside, nil
}
