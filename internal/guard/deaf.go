package guard

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Deaf runs f on a thread that takes no signals that end a process. The kernel gives a signal of the process to one thread
// that does not block it, the first one if it can, and drops further ones of the kind until that has taken it: one that
// hangs in f would keep Ctrl-C from all others. f starts no programs, which would inherit that.
func Deaf[T any](f func() (T, error)) (T, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var none T
	var block, before unix.Sigset_t
	for _, signal := range []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM} {
		block.Val[0] |= 1 << (signal - 1)
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &block, &before); err != nil {
		return none, err
	}
	value, err := f()
	if restored := unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil); err == nil {
		err = restored
	}
	return value, err
}
