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

// Format is the consent to NVMe Format. The controller of the device then erases the namespace, and
// the command may reach beyond the device that is held.
const Format Consent = "format"

// ErrFormatting says that the wait for a drive has ended although it may still be formatting.
var ErrFormatting = errors.New("the drive may go on with it for hours, and nothing stops it")

// formatPatience is how long formatting may take: drives that overwrite everything take hours. After
// that, the driver resets the controller.
const formatPatience = 24 * time.Hour

// Formats reports whether the permission includes formatting.
func (p Permission) Formats() bool { return p.format }

// Format checks everything again and has the controller format the device. That erases everything on
// it and leaves its block size and protection unchanged. The command goes through the descriptor that
// holds the device, so that it cannot reach another one. Errors are those of Permit and pkg/nvme. If
// ctx ends, the error is its cause, and also ErrFormatting if the drive has not answered.
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
		id, _ := d.NamespaceID() // a block device always has one
		return struct{}{}, nvme.NewFormatter(d).Format(id, formatPatience)
	})
	if err != nil {
		return fmt.Errorf("format %s: %w", path, unanswered(ctx, err))
	}
	return nil
}

// unanswered adds ErrFormatting to the error of a command that the drive may still be executing, as
// opposed to one that it refused or never received.
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

// reach checks whether formatting would reach beyond the device.
func (c *Claim) reach(ctx context.Context, l *look) error {
	return l.ask(ctx, "the controller", func() ([]Finding, error) {
		d, err := nvme.OnFile(c.file)
		if err != nil {
			return nil, err
		}
		id, _ := d.NamespaceID() // a block device always has one
		return beyond(d, id)
	})
}

// aboutFormat returns a finding for a device that is not an NVMe drive and cannot be formatted.
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

// beyond returns what else Format NVM of a namespace would reach. The FNA field says whether the
// controller formats and erases a single namespace. If it does not, there must be no other namespace,
// and no other controller through which somebody might use the drive.
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

// list formats ids as "1, 2 and 5", or as "none".
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
