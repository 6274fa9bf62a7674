package fiorun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrMemoryNode says that fio cannot bind its memory to a NUMA node here.
var ErrMemoryNode = errors.New("fio cannot bind its memory here")

// CheckMemoryNode checks that fio can bind the memory of a job to a NUMA node: fio was
// built with libnuma, the node exists, and the kernel, the cpuset and the container's
// seccomp profile allow it. If not, the error matches ErrMemoryNode.
//
// It runs a job that does no I/O, which shows all of that. If the kernel refuses
// (set_mempolicy), libnuma merely complains and fio continues with unbound memory. Any
// complaint therefore counts as a failure.
func (b Binary) CheckMemoryNode(ctx context.Context, node int) error {
	answer, err := answer(ctx, b.Path, []string{
		"--name=memory", "--ioengine=null", "--rw=read", "--size=4k", "--thread", fmt.Sprintf("--numa_mem_policy=bind:%d", node),
		"--output-format=terse",
	})
	if err != nil {
		return fmt.Errorf("ask %s to bind memory to NUMA node %d: %w", b.Path, node, err)
	}
	said := bytes.TrimSpace(answer.Stderr)
	if answer.ExitCode == 0 && len(said) == 0 {
		return nil
	}
	line, _, _ := strings.Cut(string(said), "\n")
	if line == "" {
		line = fmt.Sprintf("exit status %d", answer.ExitCode)
	}
	return fmt.Errorf("%w (NUMA node %d): %s", ErrMemoryNode, node, strings.TrimSpace(line))
}
