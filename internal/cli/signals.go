package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalError says that a signal ended a command. It matches context.Canceled.
type signalError struct{ signal syscall.Signal }

func (e *signalError) Error() string {
	if e.signal == unix.SIGTERM {
		return "stopped by SIGTERM, as kill and ssdprobe run --stop send it"
	}
	return e.signal.String() + " signal received"
}

func (*signalError) Is(target error) bool { return target == context.Canceled }

// untilSignal returns a context whose cause is a *signalError once one of the signals was received. A second one ends
// the process.
func untilSignal(ctx context.Context, signals ...os.Signal) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	received := make(chan os.Signal, 1)
	signal.Notify(received, signals...)
	go func() {
		select {
		case s := <-received:
			signal.Stop(received)
			cancel(&signalError{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(received)
		cancel(context.Canceled)
	}
}

// ended is the error of a command whose context a signal has ended, with the exit code that shells give to that; any
// other error as it is.
func ended(ctx context.Context, err error) error {
	var by *signalError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &by):
	case !errors.As(context.Cause(ctx), &by):
		return err
	case errors.Is(err, context.Canceled): // which does not say why
		err = by
	}
	var coded *exitError
	if errors.As(err, &coded) && coded.code > 128 {
		return err
	}
	return &exitError{128 + int(by.signal), err}
}

// Exit ends the process with an exit code of Main. After Ctrl-C it ends by that signal: shells then stop a loop, which
// an exit code of 130 alone does not tell them.
func Exit(code int) {
	if code == 128+int(unix.SIGINT) {
		signal.Reset(unix.SIGINT)
		_ = unix.Kill(unix.Getpid(), unix.SIGINT) // what cannot be sent is told by the code
	}
	os.Exit(code)
}
