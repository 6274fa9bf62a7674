package run

import (
	"errors"
	"fmt"
	"slices"
)

// ErrInUse says that another run, or a round of the daemon, uses the device.
var ErrInUse = errors.New("another ssdprobe uses the device")

// InUseError says which target cannot be taken for a run. It matches ErrInUse.
type InUseError struct {
	Target string
	// By is the run that has the device. It is zero for a round or a scheduled run of the daemon, and if nobody may know.
	By  Holder
	err error
}

// inUse returns the error for a target on a device whose lock another process holds.
func inUse(lockDir, lockID, path string, err error) *InUseError {
	e := &InUseError{Target: path, err: err}
	found, _ := InProgress(lockDir) // a user who may not read the locks of others is told less
	if i := slices.IndexFunc(found, func(h Holder) bool { return slices.Contains(h.Locks, lockID) }); i >= 0 {
		e.By = found[i]
	}
	return e
}

// Error returns "/mnt/data: another ssdprobe uses the device: the run on /mnt/other (process 4711)".
func (e *InUseError) Error() string {
	if e.By.PID == 0 {
		return fmt.Sprintf("%s: %v", e.Target, e.err)
	}
	return fmt.Sprintf("%s: %v: %s", e.Target, ErrInUse, e.By)
}

func (e *InUseError) Unwrap() error { return e.err }
