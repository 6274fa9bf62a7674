package traffic

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// array is an array, 9:0, of two partitions, 8:1 and 8:17. It is one of md before Linux 5.14, which counts no times.
type array struct {
	fs                  sysfs.FS
	reads, first, other uint64 // completed reads of the array and of its members
	inFlight            int    // of each member
	gone                bool   // the second member has left
}

func newArray(t *testing.T) *array {
	t.Helper()
	return &array{fs: sysfstest.Make(t, map[string]string{
		"proc/sys/kernel/osrelease": "5.10.0-33-amd64\n",
		"sys/devices/sda/sda1/dev":  "8:1\n", "sys/devices/sdb/sdb1/dev": "8:17\n", "sys/devices/md0/dev": "9:0\n",
	}, map[string]string{
		"sys/dev/block/8:1": "../../devices/sda/sda1", "sys/dev/block/8:17": "../../devices/sdb/sdb1", "sys/dev/block/9:0": "../../devices/md0",
		"sys/devices/md0/slaves/sda1": "../../sda/sda1", "sys/devices/md0/slaves/sdb1": "../../sdb/sdb1",
	})}
}

// count writes the counters. Each read of a member takes a millisecond.
func (a *array) count(t *testing.T) {
	t.Helper()
	line := func(ios uint64) string {
		return fmt.Sprintf("%d 0 %d %d 0 0 0 0 %d %d %d 0 0 0 0 0 0\n", ios, 8*ios, ios, a.inFlight, ios, ios)
	}
	text := "8 1 sda1 " + line(a.first)
	if !a.gone {
		text += "8 17 sdb1 " + line(a.other)
	}
	text += fmt.Sprintf("9 0 md0 %d 0 %d 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", a.reads, 8*a.reads)
	sysfstest.Add(t, a.fs.Root(), map[string]string{"proc/diskstats": text}, nil)
}

// sampled returns a sampler of the array that has seen its first second.
func (a *array) sampled(t *testing.T) *Sampler {
	t.Helper()
	s, _ := samplerOf(Device{ID: "array", Number: "9:0"})
	s.options.FS = a.fs
	a.count(t)
	s.sample(t.Context(), false)
	return s
}

// A check or a resync of an array is I/O on its members alone. What is in flight then is not the array's.
func TestACheckOfAnArrayIsNoStall(t *testing.T) {
	a := newArray(t)
	a.reads = 1000
	s := a.sampled(t)
	a.inFlight = 2
	for range 20 {
		a.first, a.other = a.first+500, a.other+500
		a.count(t)
		s.sample(t.Context(), false)
		require.Empty(t, s.Status("9:0").Stalls)
	}
	s.sample(t.Context(), false)
	assert.Len(t, s.Status("9:0").Stalls, 1, "now its members complete nothing either")
}

func TestAMemberOfAnArrayLeaves(t *testing.T) {
	a := newArray(t)
	a.reads, a.first, a.other = 1000, 1e6, 1e9
	s := a.sampled(t)
	for range 3 {
		a.reads, a.first, a.other = a.reads+100, a.first+50, a.other+50
		a.count(t)
		s.sample(t.Context(), false)
	}
	a.gone = true
	for range 3 {
		a.reads, a.first = a.reads+100, a.first+100
		a.count(t)
		s.sample(t.Context(), false)
	}
	account := &s.devices["9:0"].account
	assert.Equal(t, byReset, account.unusable)
	assert.Less(t, account.others.weighted, time.Second)
}
