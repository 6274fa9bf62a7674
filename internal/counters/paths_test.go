package counters_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/counters"
)

// The first three lines are from Linux 6.1 in the test lab: a drive whose head counts nothing. The
// fourth is a second path to it. The others are paths to another drive, and a head that counts.
const multipath = `
 259       0 nvme0c0n1 212096 1 2089554 43766 15382 69 266828 13408 1 42752 57235 2 0 524290 1 15 58
 259       1 nvme0n1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 259       2 nvme0n1p1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 259       3 nvme0c12n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17
 259       4 nvme0c0n11 1000 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 259       5 nvme0cxn1 1000 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 259       6 nvme1c0n1 1000 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 259       7 nvme1n1 20 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 259       8 nvme2c0n1 1 2 3 4 5 6 7 8 9 10 11
 259       9 nvme2n1 0 0 0 0 0 0 0 0 0 0 0
   8       0 sda 0 0 0 0 0 0 0 0 0 0 0
`

func TestHeadsThatCountNothing(t *testing.T) {
	disks, err := counters.ParseDisks(strings.NewReader(multipath))
	require.NoError(t, err)
	byNumber := func(number string) counters.Disk {
		t.Helper()
		disk, ok := disks.ByNumber(number)
		require.True(t, ok)
		return disk
	}
	const ms = time.Millisecond
	assert.Equal(t, counters.Disk{
		Number: "259:1", Name: "nvme0n1",
		ReadIOs: 212097, ReadMerges: 3, ReadSectors: 2089557, ReadTime: 43770 * ms,
		WriteIOs: 15387, WriteMerges: 75, WriteSectors: 266835, WriteTime: 13416 * ms,
		InFlight: 10, BusyTime: 42762 * ms, WeightedTime: 57246 * ms,
		Discards: &counters.Discards{IOs: 14, Merges: 13, Sectors: 524304, Time: 16 * ms},
		Flushes:  &counters.Flushes{IOs: 31, Time: 75 * ms},
	}, byNumber("259:1"))
	assert.Equal(t, uint64(20), byNumber("259:7").ReadIOs, "one that counts speaks for itself")
	assert.Equal(t, 11*ms, byNumber("259:9").WeightedTime)
	for _, number := range []string{"259:2", "8:0"} {
		assert.Zero(t, byNumber(number).IOs(), number)
	}
	first := byNumber("259:1")
	disks[0].ReadIOs += 5
	delta, ok := byNumber("259:1").Since(first)
	require.True(t, ok)
	assert.Equal(t, uint64(5), delta.IOs())
}
