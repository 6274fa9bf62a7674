package measure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/cap"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/target"
)

// tryTimeout is how long an open may take that only checks permission.
const tryTimeout = 5 * time.Second

// Denied opens a device once, through its guard, and returns why this process may not read it,
// or "" if it may. The only error is a *guard.HungError, if the device does not answer. All
// other trouble is ignored; whoever opens the device to measure it will meet it.
func Denied(ctx context.Context, g *guard.Guard, path, number string) (string, error) {
	_, err := guard.Do(ctx, g, tryTimeout, func(context.Context) (struct{}, error) {
		opened, err := target.OpenDevice(path, number)
		if err == nil {
			err = opened.Close()
		}
		return struct{}{}, err
	})
	if guard.Hangs(err) {
		return "", fmt.Errorf("open %s: %w", path, err)
	}
	if !errors.Is(err, fs.ErrPermission) {
		return "", nil
	}
	return "no permission to read the device node: " + howToRead(path, err), nil
}

// howToRead says how this process may get the permission to read a device. err is why it was refused: a device cgroup
// refuses by EPERM, the mode of a node by EACCES.
func howToRead(path string, err error) string {
	if os.Geteuid() != 0 {
		return "run as root, or add this user to the group that owns the device node"
	}
	node, failed := os.Stat(path)
	if failed == nil && errors.Is(err, unix.EACCES) && !readsAll() {
		if owner := node.Sys().(*syscall.Stat_t).Uid; owner != 0 {
			return fmt.Sprintf("it belongs to user %d, and root lacks the capability CAP_DAC_READ_SEARCH, "+
				"which reads what belongs to others: grant it, in a systemd unit by CapabilityBoundingSet=", owner)
		}
	}
	return "even root is refused: allow it in the container or its device cgroup"
}

// readsAll reports whether this process may read files of all users.
func readsAll() bool {
	has, err := cap.GetProc().GetFlag(cap.Effective, cap.DAC_READ_SEARCH)
	return err == nil && has
}
