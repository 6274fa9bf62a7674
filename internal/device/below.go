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

// Below is what a file rests on.
type Below struct {
	// Device is the lowest device that holds all of the filesystem; the zero Device
	// when the filesystem does not name one.
	Device     record.Device
	Conditions record.Conditions
	Warnings   []record.Warning
}

// Filesystems tells what files rest on. It reads the mounts, and each device, once:
// make a new one for each look at the host. It may be used by several goroutines: one
// that waits for a filesystem or a driver that hangs does not hold up those that need
// another.
type Filesystems struct {
	fs     sysfs.FS
	mounts func() ([]*mountinfo.Info, error)

	mu sync.Mutex // of the map alone: a lookup may hang in a driver
	// disks looks up the disk with a number, once.
	disks map[string]func() (Below, error)
}

// NewFilesystems returns the mounts and devices that fs shows.
func NewFilesystems(fs sysfs.FS) *Filesystems {
	return &Filesystems{
		fs: fs, disks: map[string]func() (Below, error){},
		mounts: sync.OnceValues(func() ([]*mountinfo.Info, error) { return readMounts(fs) }),
	}
}

// disk returns what looks up the disk with a number. It may hang in the disk's driver.
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

// BelowFile returns the device under the filesystem that path is or would be on, as
// this process sees it, with the filesystem and its mount options among the
// conditions. The path need not exist yet.
//
// A partition stands for its disk, and what is by its nature made of one device (dm-crypt,
// a volume of LVM) for that device, with Conditions.Stack naming what is between. A
// filesystem that is not on one block device (btrfs, overlay, tmpfs, NFS, ZFS) has a
// warning instead of a device. The error joins what could not be read; the rest
// is returned all the same.
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

// follow returns a path without symbolic links. It looks up names on the path's own filesystem,
// which may hang; nothing else here touches that. Paths are as this process sees them: so are
// mounts, whatever root the files of the host are seen at. Parts that do not exist yet are left
// as they are.
func follow(name string) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	// An automounter mounts what is looked into, not what is merely looked at: until then the mount point is the automounter's.
	_, _ = os.Stat(name + "/.") // it may be a file, or not be there
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
	if mount.Major == 0 { // not a block device's number but one of the filesystem's own
		return deviceless(f.fs, mount)
	}
	below, err := f.disk(fmt.Sprintf("%d:%d", mount.Major, mount.Minor))()
	if errors.Is(err, errNoSuchNumber) {
		return deviceless(f.fs, mount)
	}
	below.Warnings = slices.Clone(below.Warnings) // callers add theirs
	return below, err
}

// errNoSuchNumber says that the number of a mount is that of no device.
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

// deviceless is what is known when no device is.
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

// between is what lies between a filesystem and the lowest device, ready for what it
// lies on to be added.
type between struct {
	text, key string // as of stackText and stackKey
	member    string // of the lowest device; empty when nothing lies between
}

// lowest goes down from the disk with a name in /sys/block to the first that is not
// made of one device by its nature.
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

// restsOn completes what is known of the lowest device.
func restsOn(a *attributes, f found, above between, links map[string][]string) (Below, error) {
	conditions, warnings, err := Conditions(a.fs, f.Device)
	switch {
	case above.member == "":
	case conditions.Stack == "":
		conditions.Stack = above.key + memberID(a, above.member, links)
		warnings = append(warnings, stacked(above.text+above.member))
	default:
		conditions.Stack = above.key + conditions.Stack
	}
	return Below{Device: f.Device, Conditions: conditions, Warnings: warnings}, errors.Join(f.err, err)
}

// diskAt returns the name in /sys/block of the device at a path of sysfs: of a
// partition that of its disk.
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
