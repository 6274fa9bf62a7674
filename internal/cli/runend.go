package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssdprobe/ssdprobe/internal/units"
)

// endingPatience is how long a run may take to end when it was asked to. fio takes seconds to write its report,
// files are removed and settings are restored.
const endingPatience = 30 * time.Second

// errOutputGone is why a run ends when nobody would read its report.
var errOutputGone = errors.New("nobody reads its output any more")

// endable calls f, which runs on targets. Its context ends on a signal, or when nobody reads the output any
// more. endable always returns, even if f hangs in the kernel.
func endable(ctx context.Context, stdout io.Writer, targets []string, f func(context.Context) error) error {
	// With this, a closed pipe is an error of writing that is reported at the end. SIGPIPE is not ignored,
	// because fio would inherit that.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	// When the terminal goes away, no files or changed settings may stay behind. A run that was started by
	// nohup continues.
	if !signal.Ignored(unix.SIGHUP) {
		var stop func()
		ctx, stop = untilSignal(ctx, unix.SIGHUP)
		defer stop()
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if file, ok := stdout.(*os.File); ok {
		go func() {
			if outputGone(ctx, int(file.Fd())) {
				end(errOutputGone)
			}
		}()
	}
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(endingPatience):
		return fmt.Errorf("%w: the run has not ended %s later: something that it uses hangs, such as the filesystem of %s; "+
			"files named ssdprobe*.dat* may be left there", context.Cause(ctx), units.Span(endingPatience), strings.Join(targets, ", "))
	}
}

// outputGone waits until ctx ends and returns false, or until nobody can receive what is written to fd and
// returns true: the reader of a pipe closed it, the peer of a socket is gone, or a terminal was hung up. Files
// and /dev/null are never gone.
func outputGone(ctx context.Context, fd int) bool {
	const look = 500 * time.Millisecond
	for ctx.Err() == nil {
		events := []unix.PollFd{{Fd: int32(fd)}} // errors and hang-ups are reported without being requested
		n, err := unix.Poll(events, int(look.Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return false
		case n > 0:
			return events[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
		}
	}
	return false
}
