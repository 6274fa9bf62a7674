package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/state"
)

// openState opens the state directory of the settings. It does not create the directory.
func (a *app) openState() (state.Dir, error) {
	c, err := a.settings()
	if err != nil {
		return state.Dir{}, err
	}
	return openExisting(c.StateDir)
}

// openExisting opens a state directory, and does not create it. Errors: fs.ErrNotExist, and errDenied
// when this user may not read its contents.
func openExisting(path string) (state.Dir, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return state.Dir{}, denied(path)
	case err != nil:
		return state.Dir{}, fmt.Errorf("open the state directory: %w; a daemon makes it when it starts: make it, or name another with --state-dir", err)
	}
	if !info.IsDir() {
		return state.Dir{}, usage(fmt.Errorf("open the state directory: %s is not a directory; name one with --state-dir", path))
	}
	if err := mayRead(path); err != nil {
		return state.Dir{}, err
	}
	return state.Open(path)
}

// mayRead returns errDenied if this user may not read the contents of a state directory.
func mayRead(path string) error {
	for _, dir := range []string{path, filepath.Join(path, "targets"), filepath.Join(path, "settings")} {
		if !readable(dir) {
			return denied(dir)
		}
	}
	return nil
}

// readable reports whether this user may read a directory. A missing directory counts as readable; the caller
// reports it.
func readable(dir string) bool { return !errors.Is(unix.Access(dir, unix.R_OK|unix.X_OK), unix.EACCES) }

// errDenied says that this user may not read the state.
var errDenied = fmt.Errorf("%w", fs.ErrPermission)

// denied returns errDenied about a directory that this user may not read, with the user who may: only its
// owner, because the files of the store are private.
func denied(dir string) error {
	who := "run as root"
	info, err := os.Stat(dir)
	if err == nil {
		owner, ok := info.Sys().(*syscall.Stat_t)
		if ok && owner.Uid != 0 {
			who += " or as " + userName(owner.Uid)
		}
	}
	return fmt.Errorf("read the state in %s: %w: %s", dir, errDenied, who)
}

// orAsk adds to errDenied what else a command can do that has the flag for it: ask a daemon.
func orAsk(c *cobra.Command, err error) error {
	if errors.Is(err, errDenied) && c.Flags().Lookup("url") != nil {
		return fmt.Errorf("%w, or name its daemon with --url", err)
	}
	return err
}

// userName returns the name of a user, or the user id if it has no name.
func userName(id uint32) string {
	number := strconv.FormatUint(uint64(id), 10)
	if u, err := user.LookupId(number); err == nil {
		return u.Username
	}
	return number
}
