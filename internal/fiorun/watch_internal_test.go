package fiorun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

func machine(throttled, diskstats, interrupts string) map[string]string {
	return map[string]string{
		"proc/self/cgroup":           "0::/box\n",
		"proc/self/mountinfo":        "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 none rw\n",
		"sys/fs/cgroup/box/cpu.stat": "usage_usec 1\nnr_throttled 1\nthrottled_usec " + throttled + "\n",
		"proc/diskstats":             " 259       0 nvme0n1 " + diskstats + "\n",
		"proc/interrupts":            "           CPU0       CPU1\n 40:  " + interrupts + "  PCI-MSIX-0000:01:00.0 1-edge nvme0q1\n 41:  7  7  PCI-MSIX-0000:02:00.0 1-edge nvme1q1\n",
	}
}

func TestWatch(t *testing.T) {
	root := t.TempDir()
	sysfstest.Add(t, root, machine("1000", "10 0 80 5 20 0 160 6 0 9 11 0 0 0 0 0 0", "100 4294967290"), nil)
	w := Watch{FS: sysfs.New(root), Device: "259:0", Controllers: []string{"nvme0"}}
	s := w.begin()
	sysfstest.Add(t, root, machine("251000", "110 0 880 55 20 0 160 6 0 59 61 0 0 0 0 0 0", "150 10"), nil)
	seen := s.end()
	require.NotNil(t, seen.Disk)
	require.NotNil(t, seen.Interrupts)
	assert.Equal(t, uint64(100), seen.Disk.ReadIOs)
	assert.Equal(t, counters.Sectors512(800), seen.Disk.ReadSectors)
	assert.Equal(t, uint64(50+16), *seen.Interrupts, "the counts are 32 bits wide")
	assert.Equal(t, 250*time.Millisecond, seen.Throttled)
	assert.Empty(t, seen.Problems)
}

func TestWatchSaysWhatItCannotSee(t *testing.T) {
	root := t.TempDir()
	sysfstest.Add(t, root, machine("broken", "1", "x"), nil)
	seen := Watch{FS: sysfs.New(root), Device: "259:0", Controllers: []string{"nvme0"}}.begin().end()
	assert.Nil(t, seen.Disk)
	assert.Nil(t, seen.Interrupts)
	assert.Len(t, seen.Problems, 3)

	// A machine without control groups has no quotas to check.
	require.NoError(t, os.RemoveAll(root))
	seen = Watch{FS: sysfs.New(root)}.begin().end()
	assert.Empty(t, seen.Problems)

	seen = Watch{Device: "0:0"}.begin().end()
	assert.Equal(t, []string{"the device's I/O: no device 0:0 in /proc/diskstats"}, seen.Problems)
}

func TestDevicesThatGo(t *testing.T) {
	const disks = " 259 0 nvme0n1 1 0 8 5 0 0 0 0 0 9 11 0 0 0 0 0 0\n 259 1 nvme1n1 1 0 8 5 0 0 0 0 0 9 11 0 0 0 0 0 0\n"
	for _, c := range []struct {
		name  string
		watch Watch
		later string
		want  string
	}{
		{"all are there", Watch{Device: "259:0", Groups: []string{"259:0", "259:1"}}, disks, ""},
		{"the device", Watch{Device: "259:0"}, disks[strings.Index(disks, "\n")+1:], "the device is gone: nvme0n1"},
		{"the device of a group", Watch{Groups: []string{"259:0", "259:1"}}, disks[:strings.Index(disks, "\n")+1], "the device is gone: nvme1n1"},
		{"another one", Watch{Device: "259:1"}, disks[strings.Index(disks, "\n")+1:], ""},
		{"one that was never there", Watch{Device: "0:50", Groups: []string{"0:50"}}, disks, ""},
		{"nothing can be read", Watch{Device: "259:0"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			path := filepath.Join(root, "proc", "diskstats")
			sysfstest.Add(t, root, map[string]string{"proc/diskstats": disks}, nil)
			c.watch.FS = sysfs.New(root)
			s := c.watch.begin()
			require.NoError(t, os.Remove(path))
			if c.later != "" {
				require.NoError(t, os.WriteFile(path, []byte(c.later), 0o600))
			}
			err := s.during(os.Getpid())
			if c.want == "" {
				assert.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrGone)
			assert.EqualError(t, err, c.want)
		})
	}
}

func TestHead(t *testing.T) {
	h := head{limit: 5}
	for _, text := range []string{"a\n", "\n b\n", "cd"} {
		n, err := h.Write([]byte(text))
		require.NoError(t, err)
		assert.Equal(t, len(text), n)
	}
	assert.Equal(t, ": a; b (3 bytes more)", h.note())
	assert.Empty(t, (&head{limit: 5}).note())
}

func TestLines(t *testing.T) {
	var got []string
	l := lines{line: func(s string) { got = append(got, s) }}
	for _, text := range []string{"Jobs: 1\rJo", "bs: 2\r\n", "\nend"} {
		_, err := l.Write([]byte(text))
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"Jobs: 1", "Jobs: 2", "", ""}, got)
}
