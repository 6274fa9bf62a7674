package safety

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// holders finds devices that the kernel lists as built on this one.
func (s subject) holders() []Finding {
	var found []Finding
	for _, holder := range s.device.Holders {
		found = append(found, Finding{Kind: KindHolder, Text: fmt.Sprintf("/dev/%s is made of it", holder)})
	}
	return found
}

// loops finds loop devices that are backed by the device, or by the same file as the device. The kernel lists no holder
// for these, and they do not open their backing file exclusively.
func (s subject) loops(ctx context.Context, l *look) error {
	dirs, err := glob(s.fs, "/sys/block/loop*")
	if err != nil {
		return fmt.Errorf("list loop devices: %w", err)
	}
	for _, dir := range dirs {
		name := path.Base(dir)
		backing, err := s.fs.Text(path.Join(dir, "loop/backing_file"))
		switch {
		case name == s.device.Name || errors.Is(err, os.ErrNotExist):
			continue
		case err != nil:
			return fmt.Errorf("read what %s is made of: %w", name, err)
		case backing == "": // the kernel names no file while it is being detached
			continue
		}
		err = l.ask(ctx, fmt.Sprintf("/dev/%s, which is made of %s,", name, backing), func() ([]Finding, error) {
			of, err := s.madeOf(name, backing)
			if err != nil {
				return []Finding{{Kind: KindBlind, Text: fmt.Sprintf("cannot see what the loop device /dev/%s is made of (%s, %v): detach it", name, backing, err)}}, nil
			}
			if of == "" {
				return nil, nil
			}
			return []Finding{{Kind: KindHolder, Text: fmt.Sprintf("the loop device /dev/%s is made of %s", name, of)}}, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// madeOf returns which part of the subject backs a loop device; "" if none does. It asks the kernel for the backing
// file itself. The path in sysfs is from the view of whoever created the loop device, so it is used only if the loop
// device has no node here.
func (s subject) madeOf(loop, backing string) (string, error) {
	f, err := s.fs.Open("/dev/" + loop)
	if errors.Is(err, os.ErrNotExist) {
		return s.at(backing)
	} else if err != nil {
		return "", err
	}
	defer f.Close()
	status, err := unix.IoctlLoopGetStatus64(int(f.Fd()))
	switch {
	case errors.Is(err, unix.ENXIO): // detached meanwhile
		return "", nil
	case err != nil:
		return "", err
	case status.Rdevice != 0:
		return s.blocks[numberText(status.Rdevice)], nil
	case s.backing != nil && s.backing.inode == status.Inode && s.backing.device == numberText(status.Device):
		return s.backingText() + " too", nil
	}
	return "", nil
}
