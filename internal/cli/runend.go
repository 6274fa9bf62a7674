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

// endingPatience is how long a run may take to end when it was asked to: fio has seconds for its report, what was made
// is removed, settings are restored.
const endingPatience = 30 * time.Second

// errOutputGone is why a run ends whose report nobody would read.
var errOutputGone = errors.New("nobody reads its output any more")

// endable runs f, which begins a run on targets, with a context that ends by a signal or when the output is gone, and
// returns in any case: what hangs in the kernel then is left there.
func endable(ctx context.Context, stdout io.Writer, targets []string, f func(context.Context) error) error {
	// A closed pipe is an error of writing, told at the end. It is not ignored, since fio would inherit that.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	// A terminal that goes away must not leave files or settings behind; what was started by nohup goes on.
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
	late := time.NewTimer(endingPatience)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return fmt.Errorf("%w: the run has not ended %s later: something that it uses hangs, such as the filesystem of %s; "+
			"files named ssdprobe*.dat* may be left there", context.Cause(ctx), units.Span(endingPatience), strings.Join(targets, ", "))
	}
}

// outputGone waits until ctx ends, which is false, or until what is written to fd can reach nobody: the reader of a pipe
// has closed it, the peer of a socket is gone, a terminal was hung up. Files and /dev/null are never gone.
func outputGone(ctx context.Context, fd int) bool {
	const look = 500 * time.Millisecond
	for ctx.Err() == nil {
		events := []unix.PollFd{{Fd: int32(fd)}} // errors and hang-ups are told without being asked for
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
