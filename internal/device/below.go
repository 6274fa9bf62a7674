package device

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/moby/sys/mountinfo"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Below describes the device under a file.
type Below struct {
	// Device is the lowest device that holds all of the filesystem; the zero Device
	// when the filesystem does not name one.
	Device     record.Device
	Conditions record.Conditions
	Warnings   []record.Warning
}

// Filesystems finds the devices under files. It reads the mounts, and each device, once:
// make a new one for each look at the host. It is safe for concurrent use. A goroutine that
// waits for a hanging filesystem or driver does not block goroutines that need another one.
type Filesystems struct {
	fs     sysfs.FS
	mounts func() ([]*mountinfo.Info, error)

	mu sync.Mutex // guards only the map: a lookup may hang in a driver
	// disks holds, by number, functions that look up a disk once.
	disks map[string]func() (Below, error)
}

// NewFilesystems returns a Filesystems for the mounts and devices in fs.
func NewFilesystems(fs sysfs.FS) *Filesystems {
	return &Filesystems{
		fs: fs, disks: map[string]func() (Below, error){},
		mounts: sync.OnceValues(func() ([]*mountinfo.Info, error) { return readMounts(fs) }),
	}
}

// disk returns the function that looks up the disk with a number. That function may hang
// in the disk's driver.
func (f *Filesystems) disk(number string) func() (Below, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	lookup, ok := f.disks[number]
	if !ok {
		lookup = sync.OnceValues(func() (Below, error) { return belowNumber(f.fs, number) })
		f.disks[number] = lookup
	}
	return lookup
}

// BelowFile returns the device under the filesystem that path is or would be on, as this process sees
// it. The conditions include the filesystem and its mount options. The path need not exist yet.
//
// Instead of a partition it returns the disk. Instead of a device that is by its nature
// made of one other (dm-crypt, an LVM volume) it returns that one, and Conditions.Stack
// names the layers between. A filesystem that is not on one block device (btrfs, overlay,
// tmpfs, NFS, ZFS) has a warning instead of a device. The error joins what could not be
// read; the rest is still returned.
func (f *Filesystems) BelowFile(path string) (Below, error) {
	var below Below
	resolved, err := follow(path)
	if err == nil {
		below, err = f.belowResolved(resolved)
	}
	if err != nil {
		err = fmt.Errorf("find the device below %s: %w", path, err)
	}
	return below, err
}

// follow resolves the symbolic links in a path. It looks up names on the path's own
// filesystem, which may hang; nothing else in this file touches that filesystem. The path
// is as this process sees it, like the mounts, whatever the root of the FS is. Parts that
// do not exist yet are left unchanged.
func follow(name string) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	// A lookup inside a directory triggers an automounter, a stat of the directory does
	// not. Until then the mount point belongs to the automounter.
	_, _ = os.Stat(name + "/.") // the path may be a file, or not exist
	missing := ""
	for at := name; ; at = filepath.Dir(at) {
		resolved, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(resolved, missing), nil
		}
		if !errors.Is(err, os.ErrNotExist) || at == "/" {
			return "", err
		}
		missing = filepath.Join(filepath.Base(at), missing)
	}
}

func (f *Filesystems) belowResolved(path string) (Below, error) {
	mount, err := f.mountOf(path)
	if err != nil {
		return Below{}, err
	}
	below, err := f.belowMount(mount)
	below.Conditions.Filesystem = mount.FSType
	below.Conditions.MountOptions = mountOptions(mount)
	return below, err
}

func (f *Filesystems) belowMount(mount mountinfo.Info) (Below, error) {
	if mount.Major == 0 { // not the number of a block device but an anonymous one
		return deviceless(f.fs, mount)
	}
	below, err := f.disk(fmt.Sprintf("%d:%d", mount.Major, mount.Minor))()
	if errors.Is(err, errNoSuchNumber) {
		return deviceless(f.fs, mount)
	}
	below.Warnings = slices.Clone(below.Warnings) // callers append to it
	return below, err
}

// errNoSuchNumber says that no device has the number of a mount.
var errNoSuchNumber = errors.New("no device has the number")

func belowNumber(fs sysfs.FS, number string) (Below, error) {
	disk, err := diskAt(fs, "/sys/dev/block/"+number)
	if errors.Is(err, os.ErrNotExist) {
		return Below{}, fmt.Errorf("%w %s", errNoSuchNumber, number)
	} else if err != nil {
		return Below{}, err
	}
	return lowest(fs, disk)
}

// deviceless returns what is known without a device.
func deviceless(fs sysfs.FS, mount mountinfo.Info) (Below, error) {
	a := &attributes{fs: fs}
	host, warnings := hostConditions(a)
	return Below{
		Conditions: host,
		Warnings: append([]record.Warning{{
			Code: record.WarnFilesystemUnknown,
			Text: fmt.Sprintf("the filesystem at %s is %s (%s), which does not say which device it is on: "+
				"load, link and firmware of that device are not known", mount.Mountpoint, mount.FSType, mount.Source),
		}}, warnings...),
	}, errors.Join(a.errs...)
}

// between describes the layers between a filesystem and the lowest device. The name of the
// next lower device can be appended to its texts.
type between struct {
	text, key string // in the form of stackText and stackKey
	member    string // the name of the lowest device or its partition; empty when nothing lies between
}

// lowest descends from the disk with the given name in /sys/block to the first device that is not madeOfOne.
func lowest(fs sysfs.FS, name string) (Below, error) {
	links, err := byID(fs)
	if err != nil {
		return Below{}, err
	}
	a := &attributes{fs: fs}
	for above := (between{}); ; {
		f, here := read(fs, name, links)
		switch {
		case !here:
			return Below{}, fmt.Errorf("read device %s: %w", sysfs.DeviceName(name), os.ErrNotExist)
		case !madeOfOne(f.Device):
			below, err := restsOn(a, f, above, links)
			return below, errors.Join(append(a.errs, err)...)
		case strings.Contains(above.text, layer(f.Device)+on):
			return Below{}, fmt.Errorf("%s%s is made of itself", above.text, f.Name)
		}
		a.dir = path.Join(blockDir, name)
		above.text += layer(f.Device) + on
		above.key += layerKey(a, f.Device) + on
		above.member = f.Members[0]
		if name, err = diskAt(fs, path.Join("/sys/class/block", sysfs.DirName(above.member))); err != nil {
			return Below{}, err
		}
	}
}

// restsOn adds the conditions and warnings of the lowest device.
func restsOn(a *attributes, f found, above between, links map[string][]string) (Below, error) {
	conditions, warnings, err := Conditions(a.fs, f.Device)
	switch {
	case above.member == "":
	case conditions.Stack == "":
		conditions.Stack = above.key + memberID(a, above.member, links, nil)
		warnings = append(warnings, stacked(above.text+above.member))
	default:
		conditions.Stack = above.key + conditions.Stack
	}
	return Below{Device: f.Device, Conditions: conditions, Warnings: warnings}, errors.Join(f.err, err)
}

// diskAt returns the name in /sys/block of the device at a path of sysfs; for a partition, that of its disk.
func diskAt(fs sysfs.FS, name string) (string, error) {
	dir, err := fs.Resolve(name)
	if err != nil {
		return "", err
	}
	_, err = fs.Text(path.Join(dir, "partition"))
	switch {
	case err == nil:
		return path.Base(path.Dir(dir)), nil
	case errors.Is(err, os.ErrNotExist):
		return path.Base(dir), nil
	default:
		return "", err
	}
}
