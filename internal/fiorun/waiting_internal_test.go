package fiorun

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

func schedstat(ran, wait time.Duration) string {
	return fmt.Sprintf("%d %d 1\n", ran.Nanoseconds(), wait.Nanoseconds())
}

func TestWaiting(t *testing.T) {
	root := t.TempDir()
	w := waiting{fs: sysfs.New(root)}
	now := time.Now()
	look := func(after time.Duration, files map[string]string) {
		t.Helper()
		sysfstest.Add(t, root, files, nil)
		now = now.Add(after)
		require.NoError(t, w.look(7, now))
	}
	const second = time.Second
	look(0, nil) // fio does not exist yet
	look(second, map[string]string{
		"proc/7/task/7/schedstat": schedstat(0, 5*second), "proc/7/task/7/children": "20 30",
		"proc/7/task/8/schedstat":   schedstat(second, second),
		"proc/20/task/20/schedstat": schedstat(second, 0),
	})
	assert.Nil(t, w.ratio(), "nothing was seen twice")
	look(second, map[string]string{
		"proc/7/task/7/schedstat":   schedstat(0, 6*second), // only waits for the others
		"proc/7/task/8/schedstat":   schedstat(second+300*time.Millisecond, second+500*time.Millisecond),
		"proc/20/task/20/schedstat": schedstat(second+800*time.Millisecond, 0),
	})
	// One waited half of the second and wanted 0.8 s of it, the other had all that it wanted.
	assert.InDelta(t, 0.5*0.8/1.6, *w.ratio(), 1e-9)

	// Threads that end take nothing of what they did with them, and a reused id is another
	// thread.
	require.NoError(t, os.RemoveAll(filepath.Join(root, "proc/7/task/8")))
	look(10*second, map[string]string{"proc/20/task/20/schedstat": schedstat(100*time.Millisecond, 0)})
	assert.InDelta(t, 0.5*0.8/1.6, *w.ratio(), 1e-9)
	look(second, map[string]string{"proc/20/task/20/schedstat": schedstat(100*time.Millisecond, 400*time.Millisecond)})
	assert.InDelta(t, (0.5*0.8+0.4*0.4)/2, *w.ratio(), 1e-9)

	sysfstest.Add(t, root, map[string]string{"proc/20/task/20/schedstat": "odd"}, nil)
	require.ErrorContains(t, w.look(7, now), "process 20")
}

func TestParseCPUs(t *testing.T) {
	for text, want := range map[string][]int{
		"0": {0}, "0-3": {0, 1, 2, 3}, "0-1,8": {0, 1, 8}, "1, 3": {1, 3},
		"": nil, "3-1": nil, "a": nil, "1-": nil, "-1": nil, "1,,2": nil, "70000": nil,
	} {
		got, ok := parseCPUs(text)
		assert.Equal(t, want, got, "%q", text)
		assert.Equal(t, want != nil, ok, "%q", text)
	}
}
