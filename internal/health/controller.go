package health

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// Timeout is how long a controller may take to answer all that is asked in one
// reading. It is far below the driver's own timeout for a command, after which the
// driver would reset the controller: a slow one is left to answer in its own time.
const Timeout = 20 * time.Second

// Open opens a controller.
type Open func() (*nvme.Device, error)

// Node opens the controller whose node is at path, "/dev/nvme0".
func Node(path string) Open { return func() (*nvme.Device, error) { return nvme.Open(path) } }

// Controller reads the health of one NVMe controller, again and again. It keeps the
// controller open, since an open one remembers what it refused. One goroutine may
// use it.
type Controller struct {
	fs    sysfs.FS
	name  string
	open  Open
	guard guard.Guard
	// device is nil while the controller is not open.
	device *nvme.Device
}

// NewController returns the reader of a controller by the kernel's current name.
func NewController(files sysfs.FS, name string, open Open) *Controller {
	return &Controller{fs: files, name: name, open: open}
}

// Read asks the controller once, and for the namespaces with these ids; with nil, for
// all that are active. It waits at most for timeout. A reading that hangs is left
// behind, and until it ends none is begun: *guard.HungError.
//
// The error joins what could not be read. The health is of use all the same when ok
// is true. A denied one matches fs.ErrPermission, a controller that left
// fs.ErrNotExist.
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

// gone reports that the open controller is of no further use: what the driver
// answers, not the drive, can get better with a new descriptor.
func gone(err error) bool {
	var refused *nvme.StatusError
	for _, other := range []error{fs.ErrPermission, errors.ErrUnsupported, context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, other) {
			return false
		}
	}
	return !errors.As(err, &refused)
}

// Close closes the controller, or has it closed when a reading that hangs ends; how
// that goes is not told then.
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

// Denied says in words which permission is missing, empty when the error is about
// something else.
func Denied(err error) string {
	switch {
	case !errors.Is(err, fs.ErrPermission):
		return ""
	case errors.As(err, new(*fs.PathError)):
		return "no permission to open the controller's node: run as root, or give the container or unit the device (mode, group, device cgroup)"
	default:
		return "the capability CAP_SYS_ADMIN is missing; the kernel requires it for NVMe admin commands"
	}
}
