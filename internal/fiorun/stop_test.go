package fiorun_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/fiorun"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/test/testenv"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

var errEnough = errors.New("enough")

// An interrupted run returns what was measured until then and leaves no process,
// whether fio is started directly or by a script.
func TestRunIsCancelled(t *testing.T) {
	b := real(t)
	for name, b := range map[string]fiorun.Binary{"fio": b, "a script that starts it": script(t, "trap '' INT; "+b.Path+` "$@"; exit $?`)} {
		t.Run(name, func(t *testing.T) {
			left := marked(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			run, err := b.Run(ctx, fiorun.Request{Job: endless(dataFile(t)), Progress: func(s fio.Status) {
				if s.Rates != nil {
					cancel(errEnough)
				}
			}})
			require.NoError(t, err)
			assert.Empty(t, left())
			require.ErrorIs(t, run.Stopped, errEnough)
			steps := run.Steps()
			require.Len(t, steps, 1)
			assert.Positive(t, steps[0].Read.IOs)
			require.NotEmpty(t, steps[0].Warnings)
			assert.Equal(t, record.Warning{Code: record.WarnShort, Text: "Stopped before its end: enough."}, steps[0].Warnings[0])
		})
	}
}

func TestRunIsNotStartedWhenCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnough)
	_, err := real(t).Run(ctx, fiorun.Request{Job: job("r", reads("x"))})
	assert.ErrorIs(t, err, errEnough)
}

// A program that ignores signals is killed, with everything that it started.
func TestRunKillsWhatDoesNotStop(t *testing.T) {
	left := marked(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	deaf := script(t, `trap '' INT TERM; (setsid sleep 1000 3>&- >/dev/null 2>&1 &); sleep 1000 & echo 'Jobs: 1 (f=1)'; while :; do wait; sleep 1000; done`)
	_, err := deaf.Run(ctx, fiorun.Request{Job: job("r", reads("x")), Grace: 2 * time.Second, Progress: func(fio.Status) { cancel(errEnough) }})
	require.ErrorIs(t, err, errEnough)
	require.ErrorContains(t, err, "stopped before it reported")
	assert.Empty(t, left())
}

func TestRunEndsAtItsLimit(t *testing.T) {
	left := marked(t)
	_, err := script(t, "sleep 1000").Run(t.Context(), fiorun.Request{Job: job("r", reads("x")), Limit: 50 * time.Millisecond})
	require.ErrorIs(t, err, fiorun.ErrTimeout)
	assert.Empty(t, left())
}

// A device that is slow is not taken for one that hangs: the run ends when no I/O completes any more.
func TestRunEndsWhenNothingMoves(t *testing.T) {
	left := marked(t)
	const status = `Jobs: 1 (f=1): [r(1)][1.0%%][r=%s][r=%d IOPS][eta 59m:00s]`
	moves, hangs := fmt.Sprintf(status, "1024KiB/s", 1), fmt.Sprintf(status, "0KiB/s", 0)
	slow := script(t, fmt.Sprintf(`for i in 1 2 3 4 5 6 7 8; do echo '%s'; sleep 0.5; done; echo '%s'; sleep 1000`, moves, hangs))
	seen := 0
	_, err := slow.Run(t.Context(), fiorun.Request{Job: job("r", reads("x")), Idle: 3 * time.Second, Progress: func(fio.Status) { seen++ }})
	require.ErrorIs(t, err, fiorun.ErrTimeout)
	require.ErrorContains(t, err, "no I/O completed for 3 s")
	assert.Equal(t, 9, seen, "it moves for four seconds")
	assert.Empty(t, left())
}

// If only the script that started it were killed, fio would continue for its hour.
func TestRunOfAnFioThatIsKilled(t *testing.T) {
	left := marked(t)
	kill := sync.OnceFunc(func() {
		pids := left()
		i := slices.IndexFunc(pids, func(pid int) bool { return parent(t, pid) == os.Getpid() })
		assert.Len(t, pids, 2, "the script and fio")
		assert.NoError(t, syscall.Kill(pids[i], syscall.SIGKILL))
	})
	wrapped := script(t, real(t).Path+` "$@"; exit $?`)
	_, err := wrapped.Run(t.Context(), fiorun.Request{Job: endless(dataFile(t)), Progress: func(s fio.Status) {
		if s.Rates != nil {
			kill()
		}
	}})
	var failed *fiorun.FailedError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "signal: killed (out of memory?)", failed.Ended)
	assert.Empty(t, left())
}

// fio does not outlive the program that started it, however that ends.
func TestFioDiesWithItsParent(t *testing.T) {
	testenv.Installed(t, "fio")
	left := marked(t)
	self, err := os.Executable()
	require.NoError(t, err)
	helper := exec.CommandContext(t.Context(), self)
	helper.Env = append(os.Environ(), helperFile+"="+dataFile(t))
	require.NoError(t, helper.Start())
	require.Eventually(t, func() bool { return len(left()) == 2 }, testenv.Patience, 5*time.Millisecond, "the helper and its fio")
	require.NoError(t, helper.Process.Kill())
	require.Error(t, helper.Wait())
	require.Eventually(t, func() bool { return len(left()) == 0 }, testenv.Patience, 5*time.Millisecond)
}
