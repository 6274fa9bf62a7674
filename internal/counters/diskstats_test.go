package counters_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Three versions of the format. All numbers of a line differ, so that no two columns can be mixed up.
const (
	line14 = "   8       0 sda 101 102 103 104 105 106 107 108 109 110 111\n"
	line18 = " 259       0 nvme0n1 201 202 203 204 205 206 207 208 209 210 211 212 213 214 215\n"
	line20 = " 252       5 cciss/c0d0 301 302 303 304 305 306 307 308 309 310 311 312 313 314 315 316 317\n"
)

func TestParseDisks(t *testing.T) {
	disks, err := counters.ParseDisks(strings.NewReader(line14 + line18 + "\n" + line20))
	require.NoError(t, err)
	const ms = time.Millisecond
	assert.Equal(t, counters.Disks{
		{
			Number: "8:0", Name: "sda",
			ReadIOs: 101, ReadMerges: 102, ReadSectors: 103, ReadTime: 104 * ms,
			WriteIOs: 105, WriteMerges: 106, WriteSectors: 107, WriteTime: 108 * ms,
			InFlight: 109, BusyTime: 110 * ms, WeightedTime: 111 * ms,
		},
		{
			Number: "259:0", Name: "nvme0n1",
			ReadIOs: 201, ReadMerges: 202, ReadSectors: 203, ReadTime: 204 * ms,
			WriteIOs: 205, WriteMerges: 206, WriteSectors: 207, WriteTime: 208 * ms,
			InFlight: 209, BusyTime: 210 * ms, WeightedTime: 211 * ms,
			Discards: &counters.Discards{IOs: 212, Merges: 213, Sectors: 214, Time: 215 * ms},
		},
		{
			Number: "252:5", Name: "cciss/c0d0",
			ReadIOs: 301, ReadMerges: 302, ReadSectors: 303, ReadTime: 304 * ms,
			WriteIOs: 305, WriteMerges: 306, WriteSectors: 307, WriteTime: 308 * ms,
			InFlight: 309, BusyTime: 310 * ms, WeightedTime: 311 * ms,
			Discards: &counters.Discards{IOs: 312, Merges: 313, Sectors: 314, Time: 315 * ms},
			Flushes:  &counters.Flushes{IOs: 316, Time: 317 * ms},
		},
	}, disks)

	nvme, ok := disks.ByNumber("259:0")
	require.True(t, ok)
	assert.Equal(t, "nvme0n1", nvme.Name)
	assert.Equal(t, uint64(203*512), nvme.ReadSectors.Bytes())
	assert.Equal(t, uint64(201+205+212), nvme.IOs())
	cciss, ok := disks.ByName("cciss!c0d0") // as sysfs has it
	require.True(t, ok)
	assert.Equal(t, "252:5", cciss.Number)
	assert.Equal(t, uint64(301+305+312+316), cciss.IOs())
	_, ok = disks.ByNumber("259:1")
	assert.False(t, ok)
	_, ok = disks.ByName("nvme0n2")
	assert.False(t, ok)
}

func TestParseDisksRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"partition of 2.6.24": "8 1 sda1 1 2 3 4\n",
		"15 columns":          strings.TrimSuffix(line14, "\n") + " 1\n",
		"19 columns":          strings.TrimSuffix(line18, "\n") + " 1\n",
		"letters":             strings.Replace(line14, "104", "1o4", 1),
		"negative":            strings.Replace(line14, "109", "-1", 1),
		"device number":       strings.Replace(line14, "8 ", "x ", 1),
		"bad second line":     line14 + strings.Replace(line18, "215", "", 1),
	} {
		t.Run(name, func(t *testing.T) {
			disks, err := counters.ParseDisks(strings.NewReader(text))
			require.Error(t, err)
			assert.Nil(t, disks)
		})
	}
}

func TestDiskSince(t *testing.T) {
	parse := func(line string) counters.Disk {
		disks, err := counters.ParseDisks(strings.NewReader(line))
		require.NoError(t, err)
		return disks[0]
	}
	const before = "259 0 nvme0n1 10 20 30 40 50 60 70 80 9 4294967290 110 120 130 140 150 160 170"

	delta, ok := parse("259 0 nvme0n1 11 22 33 44 55 66 77 88 2 4 121 132 143 154 165 176 187").Since(parse(before))
	require.True(t, ok)
	assert.Equal(t, parse("259 0 nvme0n1 1 2 3 4 5 6 7 8 2 10 11 12 13 14 15 16 17"), delta,
		"busy time went through zero, I/Os in flight are of the moment")

	for name, later := range map[string]string{
		"plugged again":   "259 0 nvme0n1 1 0 8 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
		"one count less":  "259 0 nvme0n1 11 22 33 44 55 66 77 88 2 4 121 119 143 154 165 176 187",
		"another number":  "259 1 nvme0n1 11 22 33 44 55 66 77 88 2 4 121 132 143 154 165 176 187",
		"another name":    "259 0 nvme1n1 11 22 33 44 55 66 77 88 2 4 121 132 143 154 165 176 187",
		"another columns": "259 0 nvme0n1 11 22 33 44 55 66 77 88 2 4 121",
	} {
		t.Run(name, func(t *testing.T) {
			_, ok := parse(later).Since(parse(before))
			assert.False(t, ok)
		})
	}
}

// Compares the machine's diskstats with each device's stat file in sysfs, read before
// and after. It has the same counters in the same order (Documentation/block/stat.rst).
func TestReadDisksOfThisMachine(t *testing.T) {
	fs := sysfs.New("/")
	names, err := fs.List("/sys/block")
	require.NoError(t, err)
	names = slices.DeleteFunc(names, func(name string) bool { // others make and remove virtual ones meanwhile: loop, zram, dm
		path, err := fs.Resolve("/sys/block/" + name)
		return err != nil || strings.HasPrefix(path, "/sys/devices/virtual/")
	})
	require.NotEmpty(t, names)
	stat := func(name string) []uint64 {
		text, err := fs.Text("/sys/block/" + name + "/stat")
		require.NoError(t, err)
		var values []uint64
		for _, field := range strings.Fields(text) {
			n, err := strconv.ParseUint(field, 10, 64)
			require.NoError(t, err)
			values = append(values, n)
		}
		require.GreaterOrEqual(t, len(values), 11)
		return values
	}
	before := map[string][]uint64{}
	for _, name := range names {
		before[name] = stat(name)
	}
	disks, err := counters.ReadDisks(fs)
	require.NoError(t, err)
	for _, name := range names {
		disk, ok := disks.ByName(name)
		require.True(t, ok, name)
		after := stat(name)
		got := []uint64{
			disk.ReadIOs, disk.ReadMerges, uint64(disk.ReadSectors), uint64(disk.ReadTime.Milliseconds()),
			disk.WriteIOs, disk.WriteMerges, uint64(disk.WriteSectors), uint64(disk.WriteTime.Milliseconds()),
		}
		for i, n := range got {
			assert.LessOrEqual(t, before[name][i], n, "%s column %d", name, i)
			assert.GreaterOrEqual(t, after[i], n, "%s column %d", name, i)
		}
		alone, err := counters.ReadDisk(fs, disk.Number)
		require.NoError(t, err)
		alone.Name = disk.Name
		_, ok = alone.Since(disk)
		assert.True(t, ok, "read later, it is of the same device, with the same columns, and nothing went backwards")
	}
}

func TestReadDisk(t *testing.T) {
	root := t.TempDir()
	stat := func(number, text string) {
		dir := filepath.Join(root, "sys/dev/block", number)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "stat"), []byte(text), 0o600))
	}
	disks, err := counters.ParseDisks(strings.NewReader(line14 + line18 + "\n" + line20))
	require.NoError(t, err)
	for i, line := range []string{line14, line18, line20} {
		want := disks[i]
		stat(want.Number, strings.Join(strings.Fields(line)[3:], "   ")+"\n")
		want.Name = ""
		got, err := counters.ReadDisk(sysfs.New(root), want.Number)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	stat("1:1", "1 2 3\n")
	_, err = counters.ReadDisk(sysfs.New(root), "1:1")
	require.ErrorContains(t, err, `parse /sys/dev/block/1:1/stat: "1 2 3": `)
	_, err = counters.ReadDisk(sysfs.New(root), "1:2")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func FuzzParseDisks(f *testing.F) {
	for _, seed := range []string{line14, line18, line20, line14 + line18 + line20, "8 0 sda", " \n\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		disks, err := counters.ParseDisks(strings.NewReader(text))
		if err != nil {
			require.Nil(t, disks)
			return
		}
		for _, disk := range disks {
			zero, ok := disk.Since(disk)
			require.True(t, ok)
			require.Zero(t, zero.ReadIOs+zero.WriteIOs)
			require.Zero(t, zero.BusyTime)
		}
	})
}
