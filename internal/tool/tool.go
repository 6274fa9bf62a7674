// Package tool asks programs of the system that answer and end, such as smartctl, blkid
// and wipefs.
//
// It owns finding them and the bounds of an answer: how long it is waited for and how
// much is read. It refuses to interpret: what an answer means is for who asked. What runs
// for long and reports meanwhile, fio, is not its business.
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
	// answerLimit is the most bytes that a program may say on either stream; real answers
	// are 10 KiB.
	answerLimit = 1 << 20
	// drain is how long the pipes of a program that was killed are waited for.
	drain = 2 * time.Second
)

// Answer is what a program said, and how it ended.
type Answer struct {
	Stdout, Stderr []byte
	ExitCode       int // 0 to 255
}

// Find returns the absolute path of a program. Services often have no sbin in their PATH,
// so that is looked at too. The error matches exec.ErrNotFound when there is none.
func Find(name string) (string, error) {
	for _, candidate := range []string{name, "/usr/sbin/" + name, "/sbin/" + name, "/usr/local/sbin/" + name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", fmt.Errorf("find %s: %w", name, exec.ErrNotFound)
}

// Ask runs a program until it ends or ctx does: then it is killed with all that it
// started. The files are its descriptors from 3 on. That it ended with another exit code
// than 0 is no error; that a signal ended it is one.
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

// limited gathers output up to answerLimit; a program that says more is stopped. It
// embeds no buffer, whose ReadFrom would go around the limit.
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
