package counters

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// ReadTasks returns the scheduler's counts for each thread of a process, by thread id
// (/proc/PID/task/TID/schedstat). It leaves out threads that have not run yet or that end
// meanwhile. InvoluntarySwitches stays 0. fs must be a view in which the process has the id pid.
//
// The error matches os.ErrNotExist when the process is gone.
func ReadTasks(fs sysfs.FS, pid int) (map[int]Thread, error) {
	tasks := map[int]Thread{}
	err := eachTask(fs, pid, "schedstat", func(name string, data []byte) error {
		t, err := parseSchedstat(data)
		if errors.Is(err, errors.ErrUnsupported) { // all zeros
			return nil
		} else if err != nil {
			return fmt.Errorf("thread %s of process %d: %w", name, pid, err)
		}
		tid, err := strconv.Atoi(name)
		if err != nil {
			return fmt.Errorf("list the threads of process %d: %w", pid, err)
		}
		tasks[tid] = t
		return nil
	})
	if err != nil {
		return nil, err
	}
	return tasks, nil
}

// ReadChildren returns the ids of the processes that the threads of a process started
// (/proc/PID/task/TID/children); none if the kernel does not list them.
//
// The error matches os.ErrNotExist when the process is gone.
func ReadChildren(fs sysfs.FS, pid int) ([]int, error) {
	var children []int
	err := eachTask(fs, pid, "children", func(_ string, data []byte) error {
		for _, field := range bytes.Fields(data) {
			child, err := strconv.Atoi(string(field))
			if err != nil {
				return fmt.Errorf("parse the children of process %d: %w", pid, err)
			}
			children = append(children, child)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return children, nil
}

// eachTask passes the thread id and the content of a file of each thread of a process
// to take. Threads that end meanwhile are left out.
func eachTask(fs sysfs.FS, pid int, file string, take func(name string, data []byte) error) error {
	dir := path.Join("/proc", strconv.Itoa(pid), "task")
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := fs.Bytes(path.Join(dir, name, file))
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) { // the thread ended before or after the file was opened
			continue
		} else if err != nil {
			return err
		}
		if err := take(name, data); err != nil {
			return err
		}
	}
	return nil
}

// ProcessIO is what a process has read from and written to block devices, including its
// threads that have ended but not its children.
type ProcessIO struct {
	Read    uint64 // bytes, without reads served by the page cache
	Written uint64 // bytes, including those that are only in the page cache so far
}

// ReadProcessIO reads /proc/PID/io (Documentation/filesystems/proc.rst). The error
// matches os.ErrNotExist if the process is gone or the kernel does not count I/O.
func ReadProcessIO(fs sysfs.FS, pid int) (ProcessIO, error) {
	return readIO(fs, path.Join("/proc", strconv.Itoa(pid), "io"))
}

// ReadThreadIO is like ReadProcessIO, for the calling thread. The caller must have locked its
// goroutine to the thread, and fs must be the process's own view.
func ReadThreadIO(fs sysfs.FS) (ProcessIO, error) { return readIO(fs, "/proc/thread-self/io") }

func readIO(fs sysfs.FS, file string) (ProcessIO, error) {
	data, err := fs.Bytes(file)
	if errors.Is(err, unix.ESRCH) {
		err = fmt.Errorf("%w: %w", os.ErrNotExist, err)
	}
	if err != nil {
		return ProcessIO{}, err
	}
	var p ProcessIO
	if p.Read, err = parseColon(data, "read_bytes"); err == nil {
		p.Written, err = parseColon(data, "write_bytes")
	}
	if err != nil {
		return ProcessIO{}, fmt.Errorf("parse %s: %w", file, err)
	}
	return p, nil
}

// parseColon returns the value of a line "key: value".
func parseColon(data []byte, key string) (uint64, error) {
	for line := range bytes.Lines(data) {
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && string(name) == key {
			return strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 64)
		}
	}
	return 0, fmt.Errorf("no %s", key)
}
