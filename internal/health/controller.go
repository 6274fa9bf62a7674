package health

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// Timeout is how long a controller may take to answer all commands of one reading. It
// is far below the driver's own timeout for a command, after which the driver would
// reset the controller. A slow controller is left to answer in its own time.
const Timeout = 20 * time.Second

// Open opens a controller.
type Open func() (*nvme.Device, error)

// Node opens the controller whose node is at path, "/dev/nvme0".
func Node(path string) Open { return func() (*nvme.Device, error) { return nvme.Open(path) } }

// Controller reads the health of one NVMe controller, repeatedly. It opens the node for each reading:
// an open one would keep the driver's module from being removed, and the number of a controller that
// has left from being given to it again. It is not safe for concurrent use.
type Controller struct {
	fs    sysfs.FS
	name  string
	open  Open
	guard guard.Guard
	// last is closed, and remembers what the controller refused; nil if there is nothing to remember. It
	// belongs to the reading that the guard has let through.
	last *nvme.Device
}

// NewController returns the reader of the controller with the given kernel name.
func NewController(files sysfs.FS, name string, open Open) *Controller {
	return &Controller{fs: files, name: name, open: open}
}

// Read asks the controller once, including for the namespaces with the given ids; nil
// means all active ones. It waits at most for timeout. A reading that hangs is
// abandoned. Until it ends no other one starts, and the error is a *guard.HungError.
//
// The error joins what could not be read. The health is valid if ok is true, even with
// an error. The error matches fs.ErrPermission if access is denied, and fs.ErrNotExist
// if the controller has left.
func (c *Controller) Read(ctx context.Context, timeout time.Duration, namespaces []uint32) (h record.Health, ok bool, err error) {
	type reading struct {
		health record.Health
		ok     bool
		err    error
	}
	r, err := guard.Do(ctx, &c.guard, timeout, func(ctx context.Context) (reading, error) {
		var r reading
		device, err := c.open()
		if err == nil {
			if c.last != nil {
				device.Follow(c.last)
			}
			c.last = device
			r.health, r.ok, r.err = read(ctx, device, namespaces)
			r.err = errors.Join(r.err, device.Close())
		}
		if gone(errors.Join(err, r.err)) {
			c.last = nil
		}
		return r, err
	})
	if err != nil {
		return record.Health{}, false, fmt.Errorf("health of %s: %w", c.name, err)
	}
	if r.err != nil {
		r.err = fmt.Errorf("health of %s: %w", c.name, r.err)
	}
	if r.ok {
		r.err = errors.Join(r.err, driver(c.fs, c.name, &r.health.Features))
	}
	return r.health, r.ok, r.err
}

// gone reports whether the controller may have left or been reset, by an error of the driver. What it
// refused then may have changed, unlike after an answer of the drive.
func gone(err error) bool {
	if errors.Is(err, nvme.ErrNotLive) || errors.Is(err, nvme.ErrCancelled) { // the driver may say so by a status, too
		return true
	}
	var refused *nvme.StatusError
	for _, other := range []error{fs.ErrPermission, errors.ErrUnsupported, context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, other) {
			return false
		}
	}
	return err != nil && !errors.As(err, &refused)
}

// Denied returns a text that says which permission is missing, or "" if the error is
// about something else: a drive, too, may deny a command, whoever asks.
func Denied(err error) string {
	switch {
	case errors.As(err, new(deniedError)):
		return "smartctl has no permission to ask the drive: it needs the drive's node (mode, group, device cgroup) and, for SATA drives, the capability CAP_SYS_RAWIO"
	case !errors.Is(err, syscall.EPERM) && !errors.Is(err, syscall.EACCES):
		return ""
	case errors.As(err, new(*fs.PathError)):
		return "no permission to open the controller's node: run as root, or give the container or unit the device (mode, group, device cgroup)"
	default:
		return "the capability CAP_SYS_ADMIN is missing; the kernel requires it for NVMe admin commands"
	}
}
