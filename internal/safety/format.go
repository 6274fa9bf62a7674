package safety

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// Format is to NVMe Format: a command to the controller of the device, which erases the
// namespace, and that may reach further than what is held.
const Format Consent = "format"

// ErrFormatting says that nobody waits any longer for a drive that may still format.
var ErrFormatting = errors.New("the drive may go on with it for hours, and nothing stops it")

// formatPatience is how long formatting may take. Drives that overwrite everything take
// hours. When it has passed, the driver resets the controller.
const formatPatience = 24 * time.Hour

// Formats reports whether the permission is for formatting, too.
func (p Permission) Formats() bool { return p.format }

// Format checks everything again and has the controller format the device: all that is on
// it is erased, and its blocks and protection stay as they are. The command goes through
// the descriptor that holds the device, so that it can reach no other. Errors are those of
// Permit and pkg/nvme. When ctx ends, the error is its cause, and ErrFormatting as well if
// the drive has not answered.
func (c *Claim) Format(ctx context.Context) error {
	path := c.permission.path
	if !c.permission.format {
		return fmt.Errorf("format %s: %w: nobody has asked for it", path, ErrRefused)
	}
	l := &look{guard: c.guard}
	err := c.look(ctx, l, false)
	if err == nil {
		err = c.reach(ctx, l)
	}
	if err := c.verdict(l, err); err != nil {
		return err
	}
	_, err = guard.Do(ctx, c.guard, formatPatience, func(context.Context) (struct{}, error) {
		d, err := nvme.OnFile(c.file)
		if err != nil {
			return struct{}{}, err
		}
		id, _ := d.NamespaceID() // a block device has one
		return struct{}{}, nvme.NewFormatter(d).Format(id, formatPatience)
	})
	if err != nil {
		return fmt.Errorf("format %s: %w", path, unanswered(ctx, err))
	}
	return nil
}

// unanswered tells a command that the drive may still carry out from one that it refused or never got.
func unanswered(ctx context.Context, err error) error {
	hung := new(guard.HungError)
	switch {
	case errors.As(err, &hung) && !hung.Earlier && ctx.Err() != nil:
		return fmt.Errorf("%w: %w", context.Cause(ctx), ErrFormatting)
	case errors.As(err, &hung) && !hung.Earlier:
		return fmt.Errorf("%w: %w", err, ErrFormatting)
	case errors.Is(err, ctx.Err()): // before anything was sent
		return context.Cause(ctx)
	}
	return err
}

// reach looks whether formatting reaches beyond the device.
func (c *Claim) reach(ctx context.Context, l *look) error {
	return l.ask(ctx, "the controller", func() ([]Finding, error) {
		d, err := nvme.OnFile(c.file)
		if err != nil {
			return nil, err
		}
		id, _ := d.NamespaceID() // a block device has one
		return beyond(d, id)
	})
}

// aboutFormat says of a device that is no NVMe drive that it cannot be formatted.
func aboutFormat(d record.Device) []Finding {
	if len(d.Controllers) > 0 {
		return nil
	}
	return cannotFormat("it is not NVMe")
}

func cannotFormat(format string, args ...any) []Finding {
	return []Finding{{
		Kind: KindFormat, Text: "it cannot be formatted: " + fmt.Sprintf(format, args...), Cure: "leave out --format; --set purge=yes discards all blocks instead",
	}}
}

// beyond says what else Format NVM of a namespace would reach. A controller says
// in FNA whether it formats and erases one namespace alone; if not, there must be no other
// namespace, and no other controller by which somebody might use it.
func beyond(d *nvme.Device, id uint32) ([]Finding, error) {
	c, err := d.Controller()
	switch {
	case err != nil:
		return nil, err
	case !c.AdminCommands.Has(nvme.AdminCommandFormat):
		return cannotFormat("its controller does not have the command (Identify Controller, OACS)"), nil
	case c.MessageBased:
		return cannotFormat("it is reached over a network, by which others may use it"), nil
	case !c.FormatsAll && !c.ErasesAll:
		return nil, nil
	}
	const all = "its controller formats all namespaces at once (Identify Controller, FNA), and "
	switch {
	case c.AdminCommands.Has(nvme.AdminCommandNamespaceManagement):
		ids, err := d.AllocatedNamespaces()
		if err != nil {
			return nil, err
		}
		if !slices.Equal(ids, []uint32{id}) {
			return cannotFormat("%sits namespaces are %s", all, list(ids)), nil
		}
	case c.NamespaceLimit != 1:
		return cannotFormat("%sit may have %d and does not list them", all, c.NamespaceLimit), nil
	}
	if !c.MultipleControllers {
		return nil, nil
	}
	if !c.AdminCommands.Has(nvme.AdminCommandNamespaceManagement) {
		return cannotFormat("%sthe drive may have further controllers (CMIC), which it does not list", all), nil
	}
	ids, err := d.Controllers()
	if err != nil {
		return nil, err
	}
	if len(ids) != 1 {
		return cannotFormat("%sits controllers are %s", all, list(ids)), nil
	}
	return nil, nil
}

// list is "1, 2 and 5", or "none".
func list[T uint16 | uint32](ids []T) string {
	if len(ids) == 0 {
		return "none"
	}
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = fmt.Sprint(id)
	}
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
