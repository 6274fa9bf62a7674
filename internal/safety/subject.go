package safety

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// subject is a device with everything through which others may reach it. Others' files are compared with it by the
// kernel's numbers, because a node may have any name.
type subject struct {
	fs     sysfs.FS
	device record.Device
	blocks map[string]string // nodes of the device, its partitions and the devices below it, by number
	chars  map[string]string // nodes of character devices that pass commands to it, by number
	// backing is the file below a loop device; nil for other devices.
	backing *file
}

// file identifies a file regardless of its name.
type file struct {
	device string // number of the filesystem's device
	inode  uint64
	path   string
}

// subjectOf collects the numbers of an open device.
func subjectOf(fs sysfs.FS, d record.Device, opened *os.File) (subject, error) {
	s := subject{fs: fs, device: d, blocks: map[string]string{d.Number: "/dev/" + d.Name}, chars: map[string]string{}}
	for _, child := range d.Children {
		number, err := fs.Text(path.Join("/sys/class/block", sysfs.DirName(child), "dev"))
		if err != nil {
			return subject{}, fmt.Errorf("read the number of %s: %w", child, err)
		}
		s.blocks[number] = "/dev/" + child
	}
	if err := s.addCharacterDevices(); err != nil {
		return subject{}, err
	}
	if err := s.addMembers(d.Name); err != nil {
		return subject{}, err
	}
	if d.Kind != record.KindLoop {
		return s, nil
	}
	backing, err := fs.Text(path.Join("/sys/block", d.Name, "loop/backing_file"))
	if errors.Is(err, os.ErrNotExist) { // detached meanwhile
		return s, nil
	} else if err != nil {
		return subject{}, fmt.Errorf("read what %s is made of: %w", d.Name, err)
	}
	status, err := unix.IoctlLoopGetStatus64(int(opened.Fd()))
	if err != nil {
		return subject{}, fmt.Errorf("ask %s what it is made of: %w", d.Name, err)
	}
	if status.Rdevice == 0 {
		s.backing = &file{numberText(status.Device), status.Inode, backing}
		return s, nil
	}
	below, err := device.Find(fs, numberText(status.Rdevice))
	if err != nil {
		return subject{}, fmt.Errorf("find what %s is made of: %w", d.Name, err)
	}
	s.blocks[below.Number] = "/dev/" + below.Name
	err = s.addMembers(below.Name)
	return s, err
}

// addMembers adds the devices below a stacked one, down to the drives: a write to one of them is a write to the device.
func (s *subject) addMembers(name string) error {
	dir := path.Join("/sys/class/block", sysfs.DirName(name), "slaves")
	members, err := s.fs.List(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("list what %s is made of: %w", name, err)
	}
	for _, member := range members {
		number, err := s.fs.Text(path.Join("/sys/class/block", member, "dev"))
		if err != nil {
			return fmt.Errorf("read the number of %s: %w", member, err)
		}
		if _, known := s.blocks[number]; known {
			continue
		}
		s.blocks[number] = "/dev/" + member
		if err := s.addMembers(member); err != nil {
			return err
		}
	}
	return nil
}

// addCharacterDevices finds the nodes that accept commands for the device besides its block device: /dev/ng0n1 of an
// NVMe namespace and the /dev/nvme0 of its controllers, /dev/sg0 and /dev/bsg/0:0:0:0 of a SCSI disk.
func (s *subject) addCharacterDevices() error {
	d := s.device
	var dirs []string
	if namespace, ok := strings.CutPrefix(d.Name, "nvme"); ok {
		dirs = append(dirs, "/sys/class/nvme-generic/ng"+namespace) // since Linux 5.13
	}
	for _, controller := range d.Controllers {
		dirs = append(dirs, "/sys/class/nvme/"+controller)
	}
	for _, class := range []string{"scsi_generic", "bsg"} {
		found, err := glob(s.fs, path.Join("/sys/block", d.Name, "device", class, "*"))
		if err != nil {
			return err
		}
		dirs = append(dirs, found...)
	}
	for _, dir := range dirs {
		number, err := s.fs.Text(path.Join(dir, "dev"))
		switch {
		case errors.Is(err, os.ErrNotExist): // an older kernel, or a controller without a node
		case err != nil:
			return fmt.Errorf("read the number of %s: %w", path.Base(dir), err)
		case path.Base(path.Dir(dir)) == "bsg":
			s.chars[number] = "/dev/bsg/" + path.Base(dir)
		default:
			s.chars[number] = "/dev/" + path.Base(dir)
		}
	}
	return nil
}

// at returns the node or the backing file of the device that is at a path; "" if something else is.
//
// It asks no server: the kernel already knows what somebody has open, and a server of NFS or FUSE may never answer.
func (s subject) at(name string) (string, error) {
	var st unix.Statx_t
	for {
		err := unix.Statx(unix.AT_FDCWD, name, unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, unix.STATX_TYPE|unix.STATX_INO, &st)
		if errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil {
			return "", &os.PathError{Op: "stat", Path: name, Err: err}
		}
		break
	}
	number := fmt.Sprintf("%d:%d", st.Rdev_major, st.Rdev_minor)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFBLK:
		return s.blocks[number], nil
	case unix.S_IFCHR:
		return s.chars[number], nil
	}
	if b := s.backing; b != nil && b.inode == st.Ino && b.device == fmt.Sprintf("%d:%d", st.Dev_major, st.Dev_minor) {
		return s.backingText(), nil
	}
	return "", nil
}

func (s subject) backingText() string {
	return fmt.Sprintf("%s, of which /dev/%s is made,", s.backing.path, s.device.Name)
}

func numberText(rdev uint64) string { return fmt.Sprintf("%d:%d", unix.Major(rdev), unix.Minor(rdev)) }

// glob returns the paths that match a pattern, as path.Match does; none if a directory is missing.
func glob(fs sysfs.FS, pattern string) ([]string, error) {
	found := []string{"/"}
	for part := range strings.SplitSeq(strings.Trim(pattern, "/"), "/") {
		var next []string
		for _, dir := range found {
			if !strings.Contains(part, "*") {
				next = append(next, path.Join(dir, part))
				continue
			}
			names, err := fs.List(dir)
			if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
				continue
			} else if err != nil {
				return nil, err
			}
			for _, name := range names {
				if ok, err := path.Match(part, name); err != nil {
					return nil, err
				} else if ok {
					next = append(next, path.Join(dir, name))
				}
			}
		}
		found = next
	}
	return found, nil
}
