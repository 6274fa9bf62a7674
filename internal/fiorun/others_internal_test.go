package fiorun

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
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
			o := others{watch: Watch{FS: sysfs.New(root), Device: "259:0", MaxOthers: c.limit}}
			now := time.Now()
			sysfstest.Add(t, root, moved{}.files(), nil)
			sysfstest.Add(t, root, map[string]string{"proc/7/task/7/children": "20"}, nil)
			require.NoError(t, o.look(7, now))
			sysfstest.Add(t, root, c.five.files(), nil)
			require.NoError(t, o.look(7, now.Add(4*time.Second)), "not for long enough")
			err := o.look(7, now.Add(5*time.Second))
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
	o := others{watch: Watch{FS: sysfs.New(root), Device: "259:0", MaxOthers: 0.5}}
	now := time.Now()
	sysfstest.Add(t, root, moved{}.files(), nil)
	require.NoError(t, o.look(7, now))
	sysfstest.Add(t, root, moved{read: 900, ownRead: 100}.files(), nil)
	require.NoError(t, o.look(7, now.Add(time.Second)))
	for i := 2; i <= 6; i++ {
		sysfstest.Add(t, root, moved{read: 900 + i*1000, ownRead: 100 + i*1000}.files(), nil)
		require.NoError(t, o.look(7, now.Add(time.Duration(i)*time.Second)))
	}
	require.NoError(t, o.look(8, now.Add(7*time.Second)), "there is no such process")

	sysfstest.Add(t, root, map[string]string{"proc/7/io": "odd"}, nil)
	require.ErrorContains(t, o.look(7, now.Add(8*time.Second)), "/proc/7/io")
}
