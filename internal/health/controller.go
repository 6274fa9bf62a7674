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

// Controller reads the health of one NVMe controller, repeatedly. It keeps the device open, because
// an open device remembers what the controller refused. It is not safe for concurrent use.
type Controller struct {
	fs    sysfs.FS
	name  string
	open  Open
	guard guard.Guard
	// device is nil while the controller is not open.
	device *nvme.Device
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
		device *nvme.Device
		health record.Health
		ok     bool
		err    error
	}
	opened := c.device
	r, err := guard.Do(ctx, &c.guard, timeout, func(ctx context.Context) (reading, error) {
		device := opened
		if device == nil {
			var err error
			if device, err = c.open(); err != nil {
				return reading{}, err
			}
		}
		health, ok, err := read(ctx, device, namespaces)
		if ctx.Err() != nil && opened == nil { // nobody waits for it any more
			return reading{}, errors.Join(context.Cause(ctx), device.Close())
		}
		return reading{device, health, ok, err}, nil
	})
	if err != nil {
		return record.Health{}, false, fmt.Errorf("health of %s: %w", c.name, err)
	}
	c.device = r.device
	if r.err != nil {
		r.err = fmt.Errorf("health of %s: %w", c.name, r.err)
		if gone(r.err) {
			r.err = errors.Join(r.err, c.Close())
		}
	}
	if r.ok {
		r.err = errors.Join(r.err, driver(c.fs, c.name, &r.health.Features))
	}
	return r.health, r.ok, r.err
}

// gone reports whether the open device is of no further use. An error of the driver,
// unlike an answer of the drive, may go away with a new descriptor.
func gone(err error) bool {
	var refused *nvme.StatusError
	for _, other := range []error{fs.ErrPermission, errors.ErrUnsupported, context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, other) {
			return false
		}
	}
	return !errors.As(err, &refused)
}

// Close closes the controller. If a reading hangs, the controller is closed when that
// reading ends, and an error of closing it is lost.
func (c *Controller) Close() error {
	device := c.device
	c.device = nil
	if device == nil {
		return nil
	}
	var err error
	if !c.guard.Finally(func() { err = device.Close() }) {
		return nil
	}
	return err
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
