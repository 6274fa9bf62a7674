package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// loopDevices creates n devices of 1 MiB; detach removes those that exist, even after an error.
func (b *bench) loopDevices(ctx context.Context, n int) (names []string, detach func() error, err error) {
	detach = func() (err error) {
		for _, name := range names {
			err = errors.Join(err, tool(context.WithoutCancel(ctx), "losetup", "--detach", name))
		}
		return err
	}
	if os.Geteuid() != 0 {
		return nil, detach, unreachableError{"it needs root, to make loop devices"}
	}
	for i := range n {
		file := filepath.Join(b.work, fmt.Sprintf("device-%d", i))
		if err := os.WriteFile(file, make([]byte, 1<<20), 0o600); err != nil {
			return nil, detach, err
		}
		name, err := exec.CommandContext(ctx, "losetup", "--find", "--show", file).Output()
		if err != nil {
			return nil, detach, fmt.Errorf("make a loop device: %w", err)
		}
		names = append(names, strings.TrimSpace(string(name)))
	}
	return names, detach, nil
}
