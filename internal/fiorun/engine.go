package fiorun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// CheckEngine tells whether an I/O engine can be used: fio has it, and the kernel
// lets this process. The error matches ErrEngine when not. It looks closer at
// io_uring alone, which containers and hardened kernels commonly forbid.
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

// checkUring asks for a ring without saying where its parameters are. A kernel
// that allows rings complains about that (EFAULT), any other one about the wish.
func checkUring() error {
	_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
	if errors.Is(errno, unix.EFAULT) {
		return nil
	}
	return errno
}
