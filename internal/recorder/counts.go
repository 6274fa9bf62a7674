package recorder

import (
	"math"
	"slices"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// The indexes of the operations, in the order of record.Operations.
const (
	read = iota
	write
	discard
	flush
	operations
)

// counts is what a device has counted since it appeared.
type counts struct {
	ios     [operations]uint64
	sectors [operations]uint64 // flushes have none
	spent   [operations]time.Duration
	busy    time.Duration
	timing  counters.Timing
	members string // that busy comes from
	// discards and flushes say whether the kernel counts them.
	discards, flushes bool
}

func countsOf(d counters.Disk, timing counters.Timing) counts {
	c := counts{busy: d.BusyTime, timing: timing, members: d.Members, discards: d.Discards != nil, flushes: d.Flushes != nil}
	c.ios[read], c.sectors[read], c.spent[read] = d.ReadIOs, uint64(d.ReadSectors), d.ReadTime
	c.ios[write], c.sectors[write], c.spent[write] = d.WriteIOs, uint64(d.WriteSectors), d.WriteTime
	if d.Discards != nil {
		c.ios[discard], c.sectors[discard], c.spent[discard] = d.Discards.IOs, uint64(d.Discards.Sectors), d.Discards.Time
	}
	if d.Flushes != nil {
		c.ios[flush], c.spent[flush] = d.Flushes.IOs, d.Flushes.Time
	}
	return c
}

// since returns what was counted after before; false when the two cannot be compared. It does what
// counters.Disk.Since does, without an allocation.
func (c counts) since(before counts) (counts, bool) {
	if c.timing != before.timing || c.members != before.members || c.discards != before.discards || c.flushes != before.flushes {
		return counts{}, false
	}
	for o := range operations {
		if c.ios[o] < before.ios[o] || c.sectors[o] < before.sectors[o] {
			return counts{}, false
		}
		c.ios[o] -= before.ios[o]
		c.sectors[o] -= before.sectors[o]
		c.spent[o] = counters.TimeSince(c.spent[o], before.spent[o])
	}
	c.busy = counters.TimeSince(c.busy, before.busy)
	return c, true
}

// small returns a count in 32 bits. No real count of a second is larger.
func small(n uint64) uint32 { return uint32(min(n, math.MaxUint32)) }

// millis returns a time in milliseconds, as the kernel counts it.
func millis(d time.Duration) uint32 { return small(uint64(max(0, d.Milliseconds()))) }

// The flags of a second of a device.
const (
	here   = 1 << iota // the device was present
	known              // the second can be compared with the one before
	ours               // a round or a run of ours used it
	coarse             // times are counted in ticks, or are those of members
)

// stallNumber returns the number by which a ring stores a cause, from 1 on; 0 for none.
func stallNumber(cause record.StallCause) uint8 {
	return uint8(slices.Index(record.StallCauses(), cause) + 1)
}

func stallCause(number uint8) record.StallCause {
	if number == 0 {
		return ""
	}
	return record.StallCauses()[number-1]
}
