package cli

import (
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// timeout(1) sends a signal to the process, and then to its process group.
func TestASignalThatIsSentTwiceIsOne(t *testing.T) {
	runtime.LockOSThread() // a signal that a thread sends to itself has arrived when the call returns
	defer runtime.UnlockOSThread()
	ctx, stop := untilSignal(t.Context(), unix.SIGTERM)
	defer stop()
	require.NoError(t, unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGTERM))
	<-ctx.Done()
	require.NoError(t, unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGTERM), "without an effect")
}
