package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

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

// sameSignal is how long further signals count as the first one: timeout(1) sends each to the process and then to its
// group, and a killed run would leave its file and changed settings behind.
const sameSignal = time.Second

// untilSignal returns a context whose cause is a *signalError once one of the signals was received. A signal that
// comes later than sameSignal ends the process.
func untilSignal(ctx context.Context, signals ...os.Signal) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	received := make(chan os.Signal, 1)
	signal.Notify(received, signals...)
	go func() {
		select {
		case s := <-received:
			time.AfterFunc(sameSignal, func() { signal.Stop(received) })
			cancel(&signalError{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(received)
		cancel(context.Canceled)
	}
}

// ended returns the error of a command. If a signal ended its context, the error gets the exit code that shells
// use for that; any other error is returned unchanged.
func ended(ctx context.Context, err error) error {
	var by *signalError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &by):
	case !errors.As(context.Cause(ctx), &by):
		return err
	case errors.Is(err, context.Canceled): // it does not say why
		err = by
	}
	var coded *exitError
	if errors.As(err, &coded) && coded.code > 128 {
		return err
	}
	return &exitError{128 + int(by.signal), err}
}

// Exit ends the process with an exit code of Main. After Ctrl-C, the process kills itself by that signal,
// because shells stop a loop only then, and not on an exit code of 130.
func Exit(code int) {
	if code == 128+int(unix.SIGINT) {
		signal.Reset(unix.SIGINT)
		_ = unix.Kill(unix.Getpid(), unix.SIGINT) // if it cannot be sent, the exit code remains
	}
	os.Exit(code)
}
