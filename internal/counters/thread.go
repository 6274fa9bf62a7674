package counters

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Thread holds the scheduler's counts for one thread since it started.
type Thread struct {
	Ran  time.Duration // on a CPU
	Wait time.Duration // runnable, but waiting for a CPU
	// Timeslices is how often the thread was put on a CPU.
	Timeslices uint64
	// InvoluntarySwitches is how often the thread was preempted.
	InvoluntarySwitches int64
}

// Sub returns what happened between before and t.
func (t Thread) Sub(before Thread) Thread {
	return Thread{
		Ran:                 t.Ran - before.Ran,
		Wait:                t.Wait - before.Wait,
		Timeslices:          t.Timeslices - before.Timeslices,
		InvoluntarySwitches: t.InvoluntarySwitches - before.InvoluntarySwitches,
	}
}

// ReadThread reads the calling thread's /proc/thread-self/schedstat
// (Documentation/scheduler/sched-stats.rst) and its resource usage. It costs some
// microseconds. The caller must have locked its goroutine to the thread, and fs must be
// the process's own view.
//
// The error matches errors.ErrUnsupported or os.ErrNotExist if the kernel does not keep these times.
func ReadThread(fs sysfs.FS) (Thread, error) {
	data, err := fs.Bytes("/proc/thread-self/schedstat")
	if err != nil {
		return Thread{}, err
	}
	t, err := parseSchedstat(data)
	if err != nil {
		return Thread{}, err
	}
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &usage); err != nil {
		return Thread{}, fmt.Errorf("resource usage of the thread: %w", err)
	}
	t.InvoluntarySwitches = usage.Nivcsw
	return t, nil
}

// parseSchedstat parses "ran_ns wait_ns timeslices".
func parseSchedstat(data []byte) (Thread, error) {
	fields := bytes.Fields(data)
	if len(fields) != 3 {
		return Thread{}, fmt.Errorf("parse schedstat: %d columns in %q, want 3", len(fields), data)
	}
	var values [3]uint64
	for i, field := range fields {
		n, err := strconv.ParseUint(string(field), 10, 63)
		if err != nil {
			return Thread{}, fmt.Errorf("parse schedstat: %w", err)
		}
		values[i] = n
	}
	// A thread that reads its own file runs, so it was put on a CPU at least once. All
	// zeros therefore mean that the kernel does not count (kernel/sched, sched_info_on).
	if values == [3]uint64{} {
		return Thread{}, fmt.Errorf("schedstat: the kernel does not count: %w", errors.ErrUnsupported)
	}
	return Thread{
		Ran:        time.Duration(values[0]),
		Wait:       time.Duration(values[1]),
		Timeslices: values[2],
	}, nil
}
