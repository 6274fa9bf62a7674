package counters_test

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

func schedstat(t *testing.T, text string) sysfs.FS {
	return sysfstest.Make(t, map[string]string{"proc/7/task/9/schedstat": text},
		map[string]string{"proc/thread-self": "7/task/9"})
}

func TestReadThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	got, err := counters.ReadThread(schedstat(t, "83956 56986 2\n"))
	require.NoError(t, err)
	got.InvoluntarySwitches = 0 // those of the test's own thread
	assert.Equal(t, counters.Thread{Ran: 83956, Wait: 56986, Timeslices: 2}, got)

	_, err = counters.ReadThread(schedstat(t, "0 0 0\n"))
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = counters.ReadThread(sysfstest.Make(t, nil, nil))
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, text := range []string{"", "1 2\n", "1 2 3 4\n", "1 -2 3\n", "1 2 x\n", "99999999999999999999 1 1\n"} {
		_, err = counters.ReadThread(schedstat(t, text))
		require.Error(t, err, "%q", text)
	}
}

func TestThreadSub(t *testing.T) {
	before := counters.Thread{Ran: 5 * time.Second, Wait: 3 * time.Millisecond, Timeslices: 10, InvoluntarySwitches: 2}
	after := counters.Thread{Ran: 7 * time.Second, Wait: 4 * time.Millisecond, Timeslices: 15, InvoluntarySwitches: 3}
	assert.Equal(t,
		counters.Thread{Ran: 2 * time.Second, Wait: time.Millisecond, Timeslices: 5, InvoluntarySwitches: 1},
		after.Sub(before))
}

// On the real scheduler, the run time of a thread grows while it runs.
func TestReadThreadOfThisMachine(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fs := sysfs.New("/")
	before, err := counters.ReadThread(fs)
	require.NoError(t, err)
	for {
		after, err := counters.ReadThread(fs)
		require.NoError(t, err)
		delta := after.Sub(before)
		require.GreaterOrEqual(t, delta.Wait, time.Duration(0))
		require.GreaterOrEqual(t, delta.InvoluntarySwitches, int64(0))
		if delta.Ran > 0 {
			return
		}
	}
}

// BenchmarkReadThread measures the cost of reading before and after a round.
func BenchmarkReadThread(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fs := sysfs.New("/")
	for b.Loop() {
		if _, err := counters.ReadThread(fs); err != nil {
			b.Fatal(err)
		}
	}
}
