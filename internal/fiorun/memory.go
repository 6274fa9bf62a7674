package fiorun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/tool"
)

// ErrMemoryNode says that fio cannot bind its memory to a NUMA node here.
var ErrMemoryNode = errors.New("fio cannot bind its memory here")

// CheckMemoryNode tells whether fio can bind the memory of a job to a NUMA node: it was
// built with libnuma, there is such a node, and the kernel, the cpuset and the seccomp
// profile of the container let it. The error matches ErrMemoryNode when not.
//
// A job that does no I/O shows all of that. libnuma only complains when the kernel
// refuses (set_mempolicy), and fio goes on with memory that is not bound: so any
// complaint counts.
func (b Binary) CheckMemoryNode(ctx context.Context, node int) error {
	answer, err := tool.Ask(ctx, b.Path, []string{
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
