package fiorun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/guard"
)

// killRemains kills every process that fio left behind. The jobs of fio itself are
// threads. But if fio is a script that starts the real one, that may be in a session of
// its own, which no signal to the group reaches. Such processes are recognised by a
// marker in their environment.
//
// Reading another process's environment can block together with that process, so this
// goes through a guard.
func killRemains(ctx context.Context, marker string, patience time.Duration) error {
	var g guard.Guard
	_, err := guard.Do(context.WithoutCancel(ctx), &g, patience, func(ctx context.Context) (struct{}, error) {
		again := time.NewTicker(5 * time.Millisecond)
		defer again.Stop()
		for {
			left, err := killMarked(marker)
			if err != nil || len(left) == 0 {
				return struct{}{}, err
			}
			select {
			case <-again.C:
			case <-ctx.Done():
				return struct{}{}, fmt.Errorf("processes %v of fio do not end", left)
			}
		}
	})
	return err
}

// killMarked kills all processes with marker in their environment, and returns their
// ids.
func killMarked(marker string) ([]int, error) {
	found, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var killed []int
	for _, dir := range found {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		// Find the process first and check it then: the kernel distinguishes a found
		// process from a later one with the same id.
		process, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		switch marked, err := isMarked(dir, marker); {
		case err != nil:
			return killed, err
		case marked:
			killed = append(killed, pid)
			err = process.Kill()
			if err != nil && !errors.Is(err, os.ErrProcessDone) {
				return killed, fmt.Errorf("kill process %d of fio: %w", pid, err)
			}
		}
		if err := process.Release(); err != nil {
			return killed, err
		}
	}
	return killed, nil
}

// isMarked checks a process's environment for marker. A process that has ended has none,
// and one of another user was not started by fio.
func isMarked(dir, marker string) (bool, error) {
	environment, err := os.ReadFile(filepath.Join(dir, "environ"))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ESRCH):
		return false, nil
	case err != nil:
		return false, err
	}
	for entry := range bytes.SplitSeq(environment, []byte{0}) {
		if string(entry) == marker {
			return true, nil
		}
	}
	return false, nil
}
