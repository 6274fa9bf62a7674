package fiorun

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
	"github.com/ssdprobe/ssdprobe/pkg/fio"
)

// moved holds numbers of bytes, in MiB.
type moved struct{ read, written, ownRead, ownWritten, childRead int }

func (m moved) files() map[string]string {
	io := func(read, written int) string {
		return fmt.Sprintf("read_bytes: %d\nwrite_bytes: %d\n", read<<20, written<<20)
	}
	return map[string]string{
		"proc/diskstats":     fmt.Sprintf(" 259 0 nvme0n1 1 0 %d 5 1 0 %d 6 0 9 11 0 0 0 0 0 0\n", m.read<<11, m.written<<11),
		"proc/7/io":          io(m.ownRead, m.ownWritten),
		"proc/7/task/7/stat": "",
		"proc/20/io":         io(m.childRead, 0),
	}
}

func TestOthers(t *testing.T) {
	for name, c := range map[string]struct {
		five  moved // after five seconds
		limit float64
		says  string
	}{
		"fio alone":           {moved{read: 500, ownRead: 500}, 0.1, ""},
		"a little":            {moved{read: 504, ownRead: 500}, 0.001, ""},
		"readers":             {moved{read: 500, ownRead: 200}, 0.5, "60 % of the bytes that it moved in the last 5 s were theirs, above the limit of 50 %"},
		"readers, fewer":      {moved{read: 500, ownRead: 300}, 0.5, ""},
		"writers":             {moved{read: 100, written: 300, ownRead: 100}, 0.5, "75 %"},
		"a journal":           {moved{written: 500, ownWritten: 100}, 0.5, ""},
		"readers of a writer": {moved{read: 300, written: 500, ownWritten: 100}, 0.5, "75 %"},
		"jobs as processes":   {moved{read: 500, ownRead: 100, childRead: 400}, 0.1, ""},
		"no limit":            {moved{read: 500}, 0, ""},
		"all that they like":  {moved{read: 500}, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			sysfstest.Add(t, root, moved{}.files(), nil)
			sysfstest.Add(t, root, map[string]string{"proc/7/task/7/children": "20"}, nil)
			look := looks(t, Watch{FS: sysfs.New(root), Device: "259:0", MaxOthers: c.limit})
			now := time.Now()
			require.NoError(t, look(7, now))
			sysfstest.Add(t, root, c.five.files(), nil)
			require.NoError(t, look(7, now.Add(4*time.Second)), "not for long enough")
			err := look(7, now.Add(5*time.Second))
			if c.says == "" {
				assert.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrOthers)
			assert.ErrorContains(t, err, c.says)
		})
	}
}

// Old I/O no longer counts, but what a process did before it ended does.
func TestOthersLooksBackSomeSeconds(t *testing.T) {
	root := t.TempDir()
	sysfstest.Add(t, root, moved{}.files(), nil)
	look := looks(t, Watch{FS: sysfs.New(root), Device: "259:0", MaxOthers: 0.5})
	now := time.Now()
	require.NoError(t, look(7, now))
	sysfstest.Add(t, root, moved{read: 900, ownRead: 100}.files(), nil)
	require.NoError(t, look(7, now.Add(time.Second)))
	for i := 2; i <= 6; i++ {
		sysfstest.Add(t, root, moved{read: 900 + i*1000, ownRead: 100 + i*1000}.files(), nil)
		require.NoError(t, look(7, now.Add(time.Duration(i)*time.Second)))
	}
	require.NoError(t, look(8, now.Add(7*time.Second)), "there is no such process")

	sysfstest.Add(t, root, map[string]string{"proc/7/io": "odd"}, nil)
	require.ErrorContains(t, look(7, now.Add(8*time.Second)), "/proc/7/io")
}

// looks returns a function that looks at the devices and at fio.
func looks(t *testing.T, w Watch) func(fio int, now time.Time) error {
	before, err := w.readDisks()
	require.NoError(t, err)
	o := newOthers(w, before)
	return func(fio int, now time.Time) error {
		disks, err := w.readDisks()
		require.NoError(t, err)
		return o.look(w.FS, fio, disks, now)
	}
}

// What was moved while fio ran is known for several devices, and without a limit, as of the last time at which fio was there.
func TestMoved(t *testing.T) {
	root := t.TempDir()
	disks := func(first, second int) map[string]string {
		const line = " 259 %d nvme%dn1 1 0 %d 5 1 0 8 6 0 9 11 0 0 0 0 0 0\n"
		return map[string]string{
			"proc/diskstats":                        fmt.Sprintf(line+line, 0, 0, first<<11, 1, 1, second<<11),
			"sys/dev/block/259:0/queue/nr_requests": "1", "sys/dev/block/259:1/queue/nr_requests": "1",
		}
	}
	sysfstest.Add(t, root, disks(100, 1000), nil)
	sysfstest.Add(t, root, map[string]string{"proc/7/task/7/children": "20", "proc/7/io": "read_bytes: 4096\nwrite_bytes: 4096\n"}, nil)
	s := Watch{FS: sysfs.New(root), Groups: []string{"259:0", "259:1", "259:0"}}.begin()
	assert.Nil(t, s.end().Moved)

	sysfstest.Add(t, root, disks(150, 1020), nil)
	require.NoError(t, s.during(7))
	sysfstest.Add(t, root, disks(190, 1020), nil)
	require.NoError(t, s.during(8), "fio has ended")
	got := s.end().Moved
	require.NotNil(t, got)
	got.at = time.Time{}
	assert.Equal(t, Moved{Read: 70 << 20, Own: counters.ProcessIO{Read: 4096, Written: 4096}}, *got, "up to the last look at fio")

	s.others.partly = true
	assert.Nil(t, s.end().Moved)
}

func TestHasForeignThreads(t *testing.T) {
	job := fio.Job{Sections: []fio.Section{{Name: fio.Global, Options: fio.Options{IOEngine: "io_uring"}}, {Name: "a"}}}
	for release, want := range map[string]bool{"5.4.0-216-generic": true, "5.12.0": false, "6.12.1": false} {
		fs := sysfstest.Make(t, map[string]string{"proc/sys/kernel/osrelease": release}, nil)
		assert.Equal(t, want, hasForeignThreads(fs, job), release)
		assert.False(t, hasForeignThreads(fs, fio.Job{Sections: []fio.Section{{Name: "a", Options: fio.Options{IOEngine: "libaio"}}}}), release)
	}
}
