package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrUntrusted says that another user could change what is in a directory.
var ErrUntrusted = errors.New("another user could change what is kept there")

// MakeDir makes a directory, and those above it, for this user alone when it is not
// there. One that is there must be trusted; ErrUntrusted says why it is not, and which
// command mends it.
//
// A directory is trusted when it belongs to root or to the user of this process, and
// only they may write to it. Its group may write when this process is in the group: the
// root of a Kubernetes volume belongs to root and to the pod's fsGroup. All directories
// above it are held to the same rule, except that those with the sticky bit, as /tmp,
// may be writable by anyone. Symbolic links are followed, and the directories that hold
// them are checked as well.
func MakeDir(dir string) error {
	err := trust(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return trust(dir) // in /tmp somebody may have been faster
}

// trust walks to a directory as the kernel does. What was checked on the way cannot be
// exchanged by those whom the check keeps out, so that the result holds later.
func trust(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	const maxLinks = 40 // as many as the kernel follows: path_resolution(7)
	links, at := 0, "/"
	for names := strings.Split(dir, "/"); len(names) > 0; {
		next := filepath.Join(at, names[0])
		names = names[1:]
		info, err := os.Lstat(next)
		if err != nil {
			return err
		}
		if err := trustOwner(next, info); err != nil {
			return err
		}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			links++
			if links > maxLinks {
				return &fs.PathError{Op: "follow", Path: dir, Err: unix.ELOOP}
			}
			target, err := os.Readlink(next)
			if err != nil {
				return err
			}
			if filepath.IsAbs(target) {
				at = "/"
			}
			names = append(strings.Split(target, "/"), names...)
			continue
		case !info.IsDir():
			return &fs.PathError{Op: "open", Path: next, Err: unix.ENOTDIR}
		case info.Mode()&fs.ModeSticky != 0 && len(names) > 0:
		default:
			if err := trustWriters(next, info); err != nil {
				return err
			}
		}
		at = next
	}
	return nil
}

// trustOwner refuses what belongs to another user.
func trustOwner(path string, info fs.FileInfo) error {
	owner, self := info.Sys().(*syscall.Stat_t).Uid, uint32(os.Geteuid())
	if owner == 0 || owner == self {
		return nil
	}
	command := "chown"
	if info.Mode()&fs.ModeSymlink != 0 {
		command += " -h"
	}
	err := untrusted(path, fmt.Sprintf("belongs to user %d, and this is user %d", owner, self), fmt.Sprintf("%s %d", command, self))
	return fmt.Errorf("%w, or be that user", err)
}

// trustWriters refuses what others than its owner may write to.
func trustWriters(path string, info fs.FileInfo) error {
	const group, others = 0o020, 0o002
	mode := info.Mode().Perm()
	if mode&others != 0 {
		return untrusted(path, "is writable by all users", "chmod o-w")
	}
	if mode&group == 0 {
		return nil
	}
	gid := int(info.Sys().(*syscall.Stat_t).Gid)
	groups, err := os.Getgroups()
	if err != nil {
		return fmt.Errorf("list the groups of this process: %w", err)
	}
	if gid != os.Getegid() && !slices.Contains(groups, gid) {
		return untrusted(path, fmt.Sprintf("is writable by group %d, which this process is not in", gid), "chmod g-w")
	}
	// With an access control list, those are the rights of all whom it names: acl(5).
	switch _, err := unix.Lgetxattr(path, "system.posix_acl_access", nil); {
	case err == nil:
		return untrusted(path, "is writable by whom its access control list names", "setfacl -b")
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.ENOTSUP):
		return nil
	default:
		return &fs.PathError{Op: "read the access control list of", Path: path, Err: err}
	}
}

func untrusted(path, why, command string) error {
	return fmt.Errorf("%w: %s %s: run `%s %s`", ErrUntrusted, path, why, command, shellWord(path))
}

var plainWord = regexp.MustCompile(`^[\w./@%+,:-]+$`)

// shellWord quotes a path for a shell where that is needed.
func shellWord(path string) string {
	if plainWord.MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
