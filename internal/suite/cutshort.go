package suite

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
)

// errIOFailed says that a step was cut short because an I/O failed or the drive is gone. fio reports what it measured
// up to that point, but that must not be taken for a complete result.
var errIOFailed = errors.New("an I/O failed")

// cutShort returns why fio ended before the end of the step; nil if it did not. A job that continues after errors
// (continue_on_error) is not cut short.
func cutShort(run fiorun.Run) error {
	if run.Stopped != nil || run.Ended == "" {
		return run.Stopped
	}
	for _, job := range run.Output.Jobs {
		if job.Errno != 0 {
			return fmt.Errorf("%w: %w%s", errIOFailed, fiorun.JobError{Job: job.Name, Errno: syscall.Errno(job.Errno)}, run.Messages)
		}
	}
	return nil
}
