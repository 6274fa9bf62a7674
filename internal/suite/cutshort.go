package suite

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
)

// errIOFailed is why a step is cut short whose drive failed an I/O, or is gone. fio reports what it measured until then,
// which is no reason to take that for the whole.
var errIOFailed = errors.New("an I/O failed")

// cutShort is why fio ended before the end of the step; nil when it did not. A job that goes on after errors
// (continue_on_error) comes to its end.
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
