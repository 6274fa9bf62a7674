package settings

import (
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// ErrNone says that a device does not have a setting.
var ErrNone = errors.New("the device has no such setting")

// place gives access to one setting of a device.
type place interface {
	read() (string, error)
	write(value string) error
}

// find returns the place of a device's setting. Errors: ErrNone.
func (o Options) find(d record.Device, name Name) (place, error) {
	isNVMe := len(d.Controllers) > 0
	block := path.Join("/sys/block", sysfs.DirName(d.Name))
	switch {
	case isNVMe && len(d.Controllers) > 1:
		return nil, fmt.Errorf("%s of %s: %w that one of its %d controllers could change alone", name, d.Name, ErrNone, len(d.Controllers))
	case isNVMe && name == InterruptCoalescing:
		return feature{o, d.Controllers[0], name}, nil
	case isNVMe && name == WriteCache:
		f := feature{o, d.Controllers[0], name}
		_, err := f.read()
		if errors.Is(err, errors.ErrUnsupported) {
			return nil, fmt.Errorf("%s of %s: %w: its cache is safe, or it has none", name, d.Name, ErrNone)
		}
		return f, err
	case name == WriteCache:
		disks, err := o.FS.List(path.Join(block, "device/scsi_disk"))
		if err == nil && len(disks) == 1 {
			return file{o.FS, path.Join(block, "device/scsi_disk", disks[0], "cache_type")}, nil
		}
		return file{o.FS, path.Join(block, "queue/write_cache")}, nil
	}
	return nil, fmt.Errorf("%s of %s: %w: it is not NVMe", name, d.Name, ErrNone)
}

// LosesFlushes reports whether the write cache of a device is only what the kernel assumes about it. While that is off, the
// kernel sends no flushes, but the device goes on as before (Documentation/ABI/stable/sysfs-block).
func (o Options) LosesFlushes(d record.Device) bool {
	p, err := o.find(d, WriteCache)
	f, ok := p.(file)
	return err == nil && ok && path.Base(f.path) == "write_cache"
}

// file is the write cache as a sysfs attribute.
type file struct {
	fs   sysfs.FS
	path string
}

const (
	writeBack    = "write back"
	writeThrough = "write through"
)

func (f file) read() (string, error) {
	text, err := f.fs.Text(f.path)
	if err != nil {
		return "", err
	}
	switch text {
	case writeBack:
		return on, nil
	case writeThrough:
		return off, nil
	}
	return "", fmt.Errorf("read %s: %q is neither %q nor %q", f.path, text, writeBack, writeThrough)
}

func (f file) write(value string) error {
	text := map[string]string{on: writeBack, off: writeThrough}[value]
	if text == "" {
		return fmt.Errorf("set the write cache: %q is neither on nor off", value)
	}
	opened, err := f.fs.Open(f.path) // only for its name below the root
	if err != nil {
		return err
	}
	w, err := os.OpenFile(opened.Name(), os.O_WRONLY|os.O_TRUNC, 0)
	if err := errors.Join(err, opened.Close()); err != nil {
		return err
	}
	_, err = w.WriteString(text)
	return errors.Join(err, w.Close())
}

// feature is a setting that is a feature of an NVMe controller.
type feature struct {
	options    Options
	controller string
	name       Name
}

func (f feature) with(use func(*nvme.Device) error) error {
	d, err := f.options.OpenNVMe("/dev/" + f.controller)
	if err != nil {
		return err
	}
	return errors.Join(use(d), d.Close())
}

func (f feature) read() (value string, err error) {
	err = f.with(func(d *nvme.Device) error {
		if f.name == InterruptCoalescing {
			c, err := d.InterruptCoalescing()
			value = coalescingText(c)
			return err
		}
		enabled, err := d.WriteCache()
		if value = off; enabled {
			value = on
		}
		return err
	})
	return value, err
}

func (f feature) write(value string) error {
	return f.with(func(d *nvme.Device) error {
		w := nvme.NewFeatureWriter(d)
		if f.name == InterruptCoalescing {
			c, err := coalescing(value)
			if err != nil {
				return err
			}
			return w.SetInterruptCoalescing(c, nvme.UntilReset)
		}
		if value != on && value != off {
			return fmt.Errorf("set the write cache: %q is neither on nor off", value)
		}
		return w.SetWriteCache(value == on, nvme.UntilReset)
	})
}
