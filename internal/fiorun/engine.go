package fiorun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
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
