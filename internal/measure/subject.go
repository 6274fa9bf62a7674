package measure

import (
	"path/filepath"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/probe"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Subject is a target with what is known about it before it is opened.
type Subject struct {
	Target
	// LockID names the lock of the device that is used: for a file, of the device below
	// it.
	LockID string
	// Device is the device itself, or the device below the file.
	Device     record.Device
	Conditions record.Conditions
	Warnings   []record.Warning
	// AskedBytes is the size that a user asked for, where a probe file that is there is used in its present size,
	// which is FileBytes; 0 for others.
	AskedBytes int64
}

// OfDevice returns the subject for a raw device that host has found. The error joins what could not be read
// about the device; the subject is usable all the same.
func OfDevice(host *device.Scanner, path string, dev record.Device) (Subject, error) {
	conditions, warnings, err := host.Conditions(dev)
	conditions.Engine = probe.Name
	return Subject{
		Target: Target{ID: dev.ID, Path: path, Number: dev.Number, Spins: device.Spins(dev), SizeBytes: dev.SizeBytes},
		LockID: dev.ID, Device: dev, Conditions: conditions, Warnings: warnings,
	}, err
}

// OfFile returns the subject for a file, or for a directory that is to hold one. Its
// identity is its path, because whatever lies there is measured, on whatever drive. The
// error joins what could not be read about the device below; the subject is usable all
// the same.
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

// UnknownFile is like OfFile but does not look at the device below the file.
func UnknownFile(path string, fileBytes, fillBytesPerSecond int64) Subject {
	path = filepath.Clean(path)
	id := "file:" + path
	return Subject{
		Target: Target{ID: id, Path: path, File: true, FileBytes: fileBytes, FillBytesPerSecond: fillBytesPerSecond},
		LockID: id,
	}
}
