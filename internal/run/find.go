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
	path, err := filepath.Abs(path)
	if err != nil {
		return measure.Subject{}, fmt.Errorf("find %s: %w", path, err)
	}
	block, err := target.IsBlockDevice(path)
	if err != nil && !os.IsNotExist(err) {
		return measure.Subject{}, fmt.Errorf("find %s: %w", path, err)
	}
	if block {
		d, err := device.Find(fs, path)
		if err != nil {
			return measure.Subject{}, err
		}
		return known(measure.OfDevice(fs, path, d))
	}
	if made, err := os.Stat(filepath.Join(path, target.FileName)); err == nil {
		fileBytes = made.Size() // the daemon's: used as it is
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	if parent := filepath.Dir(path); os.IsNotExist(err) {
		if info, err := os.Stat(parent); err != nil || !info.IsDir() {
			return measure.Subject{}, fmt.Errorf("find %s: neither it nor the directory %s exists", path, parent)
		}
	}
	return known(measure.OfFile(fs, path, fileBytes, 0))
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
