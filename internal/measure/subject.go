package measure

import (
	"path/filepath"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Subject is a target with what is known of it before it is opened.
type Subject struct {
	Target
	// LockID names the lock of the device that is touched: for files, of the one below.
	LockID string
	// Device is the device itself, or the one below the file.
	Device     record.Device
	Conditions record.Conditions
	Warnings   []record.Warning
}

// OfDevice returns the subject that a raw device is. The error joins what could
// not be read of it; the subject is of use all the same.
func OfDevice(fs sysfs.FS, path string, dev record.Device) (Subject, error) {
	conditions, warnings, err := device.Conditions(fs, dev)
	conditions.Engine = probe.Name
	return Subject{
		Target: Target{ID: dev.ID, Path: path, Number: dev.Number, Spins: device.Spins(dev), SizeBytes: dev.SizeBytes},
		LockID: dev.ID, Device: dev, Conditions: conditions, Warnings: warnings,
	}, err
}

// OfFile returns the subject that a file, or a directory for one, is. Its identity
// is its path: what is measured is what lies there, on whatever drive. The error
// joins what could not be read of the device below; the subject is of use all the
// same.
func OfFile(mounted *device.Filesystems, path string, fileBytes, fillBytesPerSecond int64) (Subject, error) {
	s := UnknownFile(path, fileBytes, fillBytesPerSecond)
	below, err := mounted.BelowFile(s.Path)
	s.Number, s.Device, s.Conditions, s.Warnings = below.Device.Number, below.Device, below.Conditions, below.Warnings
	s.Spins = device.Spins(below.Device)
	s.Conditions.Engine = probe.Name
	if below.Device.ID != "" {
		s.LockID = below.Device.ID
	}
	return s, err
}

// UnknownFile is OfFile without a look at what the file rests on.
func UnknownFile(path string, fileBytes, fillBytesPerSecond int64) Subject {
	path = filepath.Clean(path)
	id := "file:" + path
	return Subject{
		Target: Target{ID: id, Path: path, File: true, FileBytes: fileBytes, FillBytesPerSecond: fillBytesPerSecond},
		LockID: id,
	}
}
