package fiorun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// CheckEngine checks that an I/O engine can be used: fio has it, and the kernel allows
// this process to use it. If not, the error matches ErrEngine. The kernel's permission
// is only checked for io_uring, which containers and hardened kernels commonly forbid.
func (b Binary) CheckEngine(ctx context.Context, name string) error {
	list, err := ask(ctx, b.Path, "--enghelp")
	if err != nil {
		return err
	}
	if !slices.Contains(strings.Fields(string(list)), name) {
		return fmt.Errorf("I/O engine %s: %w: %s was built without it", name, ErrEngine, b.Path)
	}
	if name != "io_uring" && name != "io_uring_cmd" {
		return nil
	}
	if err := checkUring(); err != nil {
		return fmt.Errorf("I/O engine %s: %w: io_uring_setup: %w (kernel.io_uring_disabled, or the container's seccomp profile; libaio works everywhere)",
			name, ErrEngine, err)
	}
	return nil
}

// checkUring requests a ring with an invalid pointer to the parameters. A kernel that
// allows rings fails because of the pointer (EFAULT), any other because of the request.
func checkUring() error {
	_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
	if errors.Is(errno, unix.EFAULT) {
		return nil
	}
	return errno
}

// hasForeignThreads reports whether threads that do not belong to fio may do I/O for it: io_uring has
// had its workers in the process that it works for since Linux 5.12.
func hasForeignThreads(fs sysfs.FS, job fio.Job) bool {
	for i := range job.Sections {
		if job.Effective(i).IOEngine == "io_uring" {
			return !counters.LinuxIsAtLeast(fs, 5, 12)
		}
	}
	return false
}
