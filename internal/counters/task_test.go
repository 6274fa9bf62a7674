package counters_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

func TestReadTasks(t *testing.T) {
	fs := sysfstest.Make(t, map[string]string{
		"proc/7/task/7/schedstat":   "83956 56986 2\n",
		"proc/7/task/9/schedstat":   "5 0 1\n",
		"proc/7/task/10/schedstat":  "0 0 0\n", // has not run yet
		"proc/7/task/11/comm":       "gone",    // between the listing and the reading
		"proc/7/task/7/children":    "20 21 \n",
		"proc/7/task/9/children":    "",
		"proc/7/task/10/children":   "300 \n",
		"proc/8/task/8/schedstat":   "1 1 x\n",
		"proc/8/task/8/children":    "x\n",
		"proc/9/task/one/schedstat": "1 1 1\n",
	}, nil)
	tasks, err := counters.ReadTasks(fs, 7)
	require.NoError(t, err)
	assert.Equal(t, map[int]counters.Thread{7: {Ran: 83956, Wait: 56986, Timeslices: 2}, 9: {Ran: 5, Timeslices: 1}}, tasks)
	children, err := counters.ReadChildren(fs, 7)
	require.NoError(t, err)
	assert.ElementsMatch(t, []int{20, 21, 300}, children)

	for _, pid := range []int{8, 9} {
		_, err = counters.ReadTasks(fs, pid)
		require.Error(t, err, "process %d", pid)
	}
	_, err = counters.ReadChildren(fs, 8)
	require.Error(t, err)
	_, err = counters.ReadTasks(fs, 1)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = counters.ReadChildren(fs, 1)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestReadTasksOfThisProcess(t *testing.T) {
	tasks, err := counters.ReadTasks(sysfs.New("/"), os.Getpid())
	require.NoError(t, err)
	assert.Contains(t, tasks, os.Getpid())
	children, err := counters.ReadChildren(sysfs.New("/"), os.Getppid())
	require.NoError(t, err)
	assert.Contains(t, children, os.Getpid())
}

func TestReadProcessIO(t *testing.T) {
	const text = "rchar: 62441\nwchar: 12\nsyscr: 9\nsyscw: 1\nread_bytes: 24326144\nwrite_bytes: 4096\ncancelled_write_bytes: 7\n"
	fs := sysfstest.Make(t, map[string]string{
		"proc/7/io": text,
		"proc/8/io": strings.Replace(text, "4096", "many", 1),
		"proc/9/io": "rchar: 1\n",
	}, nil)
	got, err := counters.ReadProcessIO(fs, 7)
	require.NoError(t, err)
	assert.Equal(t, counters.ProcessIO{Read: 24326144, Written: 4096}, got)
	_, err = counters.ReadProcessIO(fs, 8)
	require.ErrorContains(t, err, "/proc/8/io")
	_, err = counters.ReadProcessIO(fs, 9)
	require.ErrorContains(t, err, "no read_bytes")
	_, err = counters.ReadProcessIO(fs, 1)
	require.ErrorIs(t, err, os.ErrNotExist)

	_, err = counters.ReadProcessIO(sysfs.New("/"), os.Getpid())
	require.NoError(t, err)
}
