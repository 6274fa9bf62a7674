// Package tool runs system programs that answer and exit, such as smartctl, blkid and wipefs.
//
// It finds the programs, and bounds how long to wait for an answer and how much of it to
// read. It does not interpret an answer; that is left to the caller. It is not for
// programs that run long and report meanwhile, such as fio.
//
//	path, err := tool.Find("blkid")
//	answer, err := tool.Ask(ctx, path, []string{"--probe", "/dev/sda"})
package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// answerLimit is the most bytes that a program may write to either stream; real answers have 10 KiB.
	answerLimit = 1 << 20
	// drain is how long to wait for the pipes of a killed program.
	drain = 2 * time.Second
)

// Answer is the output of a program, and its exit code.
type Answer struct {
	Stdout, Stderr []byte
	ExitCode       int // 0 to 255
}

// Find returns the absolute path of a program. It also searches the sbin directories, which services
// often lack in their PATH. The error matches exec.ErrNotFound if there is no such program.
func Find(name string) (string, error) {
	for _, candidate := range []string{name, "/usr/sbin/" + name, "/sbin/" + name, "/usr/local/sbin/" + name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", fmt.Errorf("find %s: %w", name, exec.ErrNotFound)
}

// Ask runs a program until it exits or ctx ends, which kills its process group. The files become
// its descriptors from 3 on. An exit code other than 0 is no error; termination by a signal is.
//
// A program that hangs in the kernel cannot be killed: call Ask through a guard.
func Ask(ctx context.Context, path string, args []string, files ...*os.File) (Answer, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	out, errs := limited{stop: stop}, limited{stop: stop}
	c := exec.CommandContext(ctx, path, args...)
	c.Env = append(os.Environ(), "LC_ALL=C")
	c.Stdout, c.Stderr, c.ExtraFiles = &out, &errs, files
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error {
		if err := syscall.Kill(-c.Process.Pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return os.ErrProcessDone
	}
	c.WaitDelay = drain
	err := c.Run()
	var exited *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return Answer{}, fmt.Errorf("%s: %w", filepath.Base(path), context.Cause(ctx))
	case err != nil && (!errors.As(err, &exited) || !exited.Exited()):
		return Answer{}, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return Answer{Stdout: out.text.Bytes(), Stderr: errs.text.Bytes(), ExitCode: c.ProcessState.ExitCode()}, nil
}

// limited collects output up to answerLimit, and stops a program that writes more. It
// does not embed the buffer, whose ReadFrom would bypass the limit.
type limited struct {
	text bytes.Buffer
	stop context.CancelCauseFunc
}

func (l *limited) Write(p []byte) (int, error) {
	if l.text.Len()+len(p) > answerLimit {
		err := fmt.Errorf("it says more than %d bytes", answerLimit)
		l.stop(err)
		return 0, err
	}
	return l.text.Write(p)
}
