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

// ErrUntrusted says that another user could change the content of a directory.
var ErrUntrusted = errors.New("another user could change what is kept there")

// MakeDir creates a directory and its missing parents, accessible to this user alone. A
// directory that exists must be trusted; otherwise the ErrUntrusted explains why it is
// not, and how to correct that.
//
// A directory is trusted if it belongs to root or to the user of this process, and only
// they may write to it. Its group may write if this process is in the group: the root of
// a Kubernetes volume belongs to root and to the pod's fsGroup. The same rule applies to
// all directories above it, except that those with the sticky bit, such as /tmp, may be
// writable by anyone. Symbolic links are followed, and the directories that contain them
// are checked as well.
func MakeDir(dir string) error { return makeDir(dir, dir) }

// makeDir is MakeDir for a directory within whole, to which the suggested command
// applies.
func makeDir(dir, whole string) error {
	err := trust(dir, whole)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return trust(dir, whole) // in /tmp, another user may have been faster
}

// trust resolves the path of a directory as the kernel does and checks each step. Users
// whom the check excludes cannot replace what it has passed, so that the result remains
// valid.
func trust(dir, whole string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	const maxLinks = 40 // as in the kernel: path_resolution(7)
	links, at := 0, "/"
	for names := strings.Split(dir, "/"); len(names) > 0; {
		next := filepath.Join(at, names[0])
		names = names[1:]
		info, err := os.Lstat(next)
		if err != nil {
			return err
		}
		isLink, sticky, last := info.Mode()&fs.ModeSymlink != 0, info.Mode()&fs.ModeSticky != 0, len(names) == 0
		wrong := wrongOwner(info)
		if wrong == nil && !isLink && (last || !sticky) {
			if wrong, err = wrongWriters(next, info); err != nil {
				return err
			}
		}
		switch {
		case wrong == nil:
		case last && !isLink && !sticky:
			return wrong.mend(next, whole)
		case last && sticky && !wrong.owner:
			return fmt.Errorf("%w: %s is shared, and %s: name a directory of its own below it, such as %s",
				ErrUntrusted, next, wrong.why, shellWord(filepath.Join(next, "ssdprobe")))
		default: // a command could take away rights that others need
			what := next
			if isLink {
				what = "the link " + next
			}
			if next != dir {
				what += ", on the way to " + dir + ","
			}
			return fmt.Errorf("%w: %s %s: name another directory", ErrUntrusted, what, wrong.why)
		}
		switch {
		case isLink:
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
		case !info.IsDir():
			return &fs.PathError{Op: "open", Path: next, Err: unix.ENOTDIR}
		default:
			at = next
		}
	}
	return nil
}

// trustFile refuses a file that another user could have written. whole is the state
// directory.
func trustFile(path, whole string, info fs.FileInfo) error {
	wrong := wrongOwner(info)
	if wrong == nil {
		var err error
		if wrong, err = wrongWriters(path, info); wrong == nil || err != nil {
			return err
		}
	}
	return wrong.mend(path, whole)
}

// wrong is the reason why something is not trusted, and the commands that correct it.
type wrong struct {
	why      string
	commands []string
	owner    bool
}

// mend returns the error for path, which is whole or lies in it. The suggested commands
// apply to whole, because rarely just one file was made by another user or with other
// rights.
func (w *wrong) mend(path, whole string) error {
	whole, err := filepath.Abs(whole)
	if err != nil {
		return err
	}
	if whole, err = filepath.EvalSymlinks(whole); err != nil { // chown -R does not follow links
		return err
	}
	info, err := os.Stat(whole)
	if err != nil {
		return err
	}
	by := ""
	if os.Geteuid() != 0 && !own(info) {
		by = " as root, in a pod by an init container"
	}
	whole = shellWord(whole)
	var commands []string
	for _, command := range w.commands {
		commands = append(commands, command+" "+whole)
	}
	return fmt.Errorf("%w: %s %s: if only ssdprobe uses %s, run `%s`%s; if not, name another directory",
		ErrUntrusted, path, w.why, whole, strings.Join(commands, " && "), by)
}

// wrongOwner returns why info has the wrong owner: neither root nor this user.
func wrongOwner(info fs.FileInfo) *wrong {
	owner, self := info.Sys().(*syscall.Stat_t).Uid, uint32(os.Geteuid())
	if owner == 0 || owner == self {
		return nil
	}
	return &wrong{
		why: fmt.Sprintf("belongs to user %d, and this is user %d", owner, self), commands: []string{ownIt()}, owner: true,
	}
}

// wrongWriters returns why users other than the owner may write to path.
func wrongWriters(path string, info fs.FileInfo) (*wrong, error) {
	const group, others = 0o020, 0o002
	mode := info.Mode().Perm()
	if mode&others != 0 {
		return &wrong{why: "is writable by all users", commands: alone(info, "o-w")}, nil
	}
	if mode&group == 0 {
		return nil, nil
	}
	gid := int(info.Sys().(*syscall.Stat_t).Gid)
	groups, err := os.Getgroups()
	if err != nil {
		return nil, fmt.Errorf("list the groups of this process: %w", err)
	}
	if gid != os.Getegid() && !slices.Contains(groups, gid) {
		return &wrong{why: fmt.Sprintf("is writable by group %d, which this process is not in", gid), commands: alone(info, "g-w")}, nil
	}
	// With an access control list, the group bits are the rights of all whom it names:
	// acl(5).
	switch _, err := unix.Lgetxattr(path, "system.posix_acl_access", nil); {
	case err == nil:
		return &wrong{why: "is writable by whom its access control list names", commands: []string{"setfacl -R -b"}}, nil
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.ENOTSUP):
		return nil, nil
	default:
		return nil, &fs.PathError{Op: "read the access control list of", Path: path, Err: err}
	}
}

// own reports whether something belongs to the user of this process.
func own(info fs.FileInfo) bool { return info.Sys().(*syscall.Stat_t).Uid == uint32(os.Geteuid()) }

func ownIt() string { return fmt.Sprintf("chown -R %d", os.Geteuid()) }

// alone returns the commands after which only the user of this process may write to something that others may write to.
// What belongs to root, such as a volume without fsGroup, this user could then no longer use.
func alone(info fs.FileInfo, mode string) []string {
	if own(info) {
		return []string{"chmod -R " + mode}
	}
	return []string{ownIt(), "chmod -R go-w"}
}

var plainWord = regexp.MustCompile(`^[\w./@%+,:-]+$`)

// shellWord quotes a path for a shell if necessary.
func shellWord(path string) string {
	if plainWord.MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
