package fiorun

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// ErrHung says that fio did not end even when it was killed, because it waits for the
// device in the kernel. The process is abandoned.
var ErrHung = errors.New("fio does not end, not even killed: the device hangs")

// ErrTimeout says that a run was stopped because it took longer than its limit, or did nothing for too long.
var ErrTimeout = errors.New("fio took longer than it was given")

// ErrOthers says that a run was stopped because others used the device too much.
var ErrOthers = errors.New("others use the device")

// ErrGone says that a run was stopped because a device that it used is not there any more. The kernel ends I/Os on it at
// once, so fio would keep a CPU busy until the end of the job.
var ErrGone = errors.New("the device is gone")

// FailedError says that fio ended without having measured anything. It matches the
// errors of its jobs: errors.Is(err, os.ErrPermission).
type FailedError struct {
	// Ended is how it ended: "exit status 1", "signal: killed".
	Ended string
	Jobs  []JobError
	// Messages are the first lines that fio wrote to its standard error, or else into its report: ": first line; second line".
	Messages string
}

// JobError is the error that ended a job.
type JobError struct {
	Job   string
	Errno syscall.Errno
}

// Error returns "job a: EACCES".
func (e JobError) Error() string { return fmt.Sprintf("job %s: %s", e.Job, record.ErrorName(e.Errno)) }

// Unwrap returns the errno.
func (e JobError) Unwrap() error { return e.Errno }

// Error returns "run fio: exit status 1: job a: EACCES: fio: pid=1, err=13…".
func (e *FailedError) Error() string {
	text := "run fio"
	if e.Ended != "" {
		text += ": " + e.Ended
	}
	for _, job := range e.Jobs {
		text += ": " + job.Error()
	}
	text += e.Messages
	if strings.Contains(e.Messages, "func=io_queue_init") {
		text += " (the kernel allows this host no more asynchronous I/O: lower the depth, or raise fs.aio-max-nr with sysctl)"
	}
	return text
}

// Unwrap returns the errors of the jobs.
func (e *FailedError) Unwrap() []error {
	errs := make([]error, len(e.Jobs))
	for i, job := range e.Jobs {
		errs[i] = job
	}
	return errs
}

func jobErrors(out fio.Output) []JobError {
	var errs []JobError
	for _, job := range out.Jobs {
		if job.Errno != 0 {
			errs = append(errs, JobError{Job: job.Name, Errno: syscall.Errno(job.Errno)})
		}
	}
	return errs
}

// ending returns how a process ended; empty if it ended well.
func ending(err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &exit):
		text := exit.Error()
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
			text += " (out of memory?)"
		}
		return text
	case errors.Is(err, exec.ErrWaitDelay):
		return "something that it started kept its output open"
	}
	return strings.TrimSpace(err.Error())
}
