package run

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/measure"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/target"
)

// Find returns the subject that path names: a block device (by any of its names),
// a file, or a directory to make a file of fileBytes in.
func Find(fs sysfs.FS, path string, fileBytes int64) (measure.Subject, error) {
	typed := path
	path, err := filepath.Abs(path)
	if err != nil {
		return measure.Subject{}, fmt.Errorf("find %s: %w", path, err)
	}
	block, err := target.IsBlockDevice(path)
	if os.IsNotExist(err) {
		return measure.Subject{}, notThere(fs, typed)
	} else if err != nil {
		return measure.Subject{}, fmt.Errorf("find %s: %w", path, err)
	}
	if block {
		d, err := device.Find(fs, path)
		if err != nil {
			return measure.Subject{}, err
		}
		return known(measure.OfDevice(fs, path, d))
	}
	if size, ok := madeBefore(path); ok {
		fileBytes = size // the daemon's: used as it is
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	return known(measure.OfFile(device.NewFilesystems(fs), path, fileBytes, 0))
}

// notThere says that nothing is at a path. A file is never made under a name that
// was typed: a mistyped mount point or device would measure another drive.
func notThere(fs sysfs.FS, typed string) error {
	if d, err := device.Find(fs, typed); err == nil {
		return fmt.Errorf("find %s: nothing is there; the device of that name is /dev/%s", typed, d.Name)
	}
	return fmt.Errorf("find %s: nothing is there; name a block device, a file, or a directory to make a file in", typed)
}

// madeBefore returns the size of the probe file that path, or the directory there,
// has already. Another one would be made in place of a file of another size.
func madeBefore(path string) (sizeBytes int64, ok bool) {
	file, err := target.Locate(path)
	if err != nil {
		return 0, false
	}
	made, err := os.Stat(file)
	if err != nil || made.Size() < target.MinFileBytes {
		return 0, false
	}
	return made.Size(), true
}

// known turns what could not be read of a device into a warning: it can be
// measured all the same.
func known(s measure.Subject, err error) (measure.Subject, error) {
	if err != nil {
		s.Warnings = append(s.Warnings, record.Warning{
			Code: record.WarnConditionsUnknown, Text: fmt.Sprintf("not all conditions could be read: %v", err),
		})
	}
	return s, nil
}
