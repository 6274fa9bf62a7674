package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/test/lab/wire"
)

// findInterval is how often to poll the kernel. Polling is necessary, because a path behind a
// multipath head is hidden and the kernel sends no event for it.
const findInterval = 20 * time.Millisecond

func findDrive(f *wire.Find) (*wire.Drive, error) {
	ticks := time.NewTicker(findInterval)
	defer ticks.Stop()
	for deadline := time.After(f.Within); ; {
		drive, complete, err := lookForDrive(f.Ports)
		if err != nil || complete {
			return drive, err
		}
		select {
		case <-deadline:
			return nil, fmt.Errorf("no complete drive behind %s in %v, only %+v: %w", strings.Join(f.Ports, ", "), f.Within,
				*drive, syscall.ETIMEDOUT)
		case <-ticks.C:
		}
	}
}

// lookForDrive returns the parts of the drive that are present behind the ports, and whether it is complete.
func lookForDrive(ports []string) (drive *wire.Drive, complete bool, err error) {
	drive, complete = &wire.Drive{}, true
	for _, port := range ports {
		controllers, err := filepath.Glob("/sys/bus/pci/devices/" + port + "/*:*:*.*/nvme/nvme*")
		if err != nil {
			return drive, false, err
		}
		if len(controllers) != 1 {
			complete = false
			continue
		}
		drive.Controllers = append(drive.Controllers, filepath.Base(controllers[0]))
		paths, err := filepath.Glob(controllers[0] + "/nvme*n*")
		if err != nil {
			return drive, false, err
		}
		complete = complete && len(paths) > 0
		for _, path := range paths {
			namespace := filepath.Base(path)
			namespace = cmp.Or(sysfs.HeadOf(namespace), namespace)
			drive.Namespaces = append(drive.Namespaces, namespace)
			opens, err := canOpen("/dev/" + namespace)
			if err != nil {
				return drive, false, err
			}
			complete = complete && opens
		}
	}
	slices.Sort(drive.Namespaces)
	drive.Namespaces = slices.Compact(drive.Namespaces)
	return drive, complete, nil
}

// canOpen tells whether the kernel lets programs open the device. It creates the device's files first, and until it is
// done opening them fails with ENXIO (device_add_disk in block/genhd.c).
func canOpen(path string) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENXIO) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, file.Close()
}
