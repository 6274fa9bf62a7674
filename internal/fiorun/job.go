package fiorun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrJob says that fio does not accept a job.
var ErrJob = errors.New("fio does not accept it")

// CheckJob checks that fio accepts the text of a job file: it knows all options and values. If not, the error matches
// ErrJob. It does no I/O.
func (b Binary) CheckJob(ctx context.Context, job string) error {
	file, err := inMemory(job)
	if err != nil {
		return fmt.Errorf("ask fio to check a job: %w", err)
	}
	answer, err := answer(ctx, b.Path, []string{"--parse-only", "/proc/self/fd/3"}, file)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("ask %s to check a job: %w", b.Path, err)
	}
	if answer.ExitCode == 0 {
		return nil
	}
	said := head{data: answer.Stderr}
	return fmt.Errorf("%w%s", ErrJob, said.note())
}

// inMemory returns a file without a name that holds a text.
func inMemory(text string) (*os.File, error) {
	fd, err := unix.MemfdCreate("job", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	file := os.NewFile(uintptr(fd), "job")
	if _, err := strings.NewReader(text).WriteTo(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
