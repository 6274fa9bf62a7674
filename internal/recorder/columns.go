package recorder

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/traffic"
)

// columns holds the seconds of one device, about 40 KB. Its rows have the same numbers as those of the ring.
type columns struct {
	last counts
	// fresh says that last is from the second before.
	fresh bool
	// seen is when the device was last present.
	seen time.Duration

	ios      [operations][seconds]uint32
	sectors  [operations][seconds]uint32 // of 512 bytes
	spent    [operations][seconds]uint32 // ms
	busy     [seconds]uint32             // ms
	inFlight [seconds]uint32
	flags    [seconds]uint8
	stall    [seconds]uint8

	readings readings
	slow     slowIOs
}

// take writes a row.
func (c *columns) take(row int, now time.Duration, d traffic.Counted) {
	counted := countsOf(d.Disk, d.Timing)
	delta, ok := counted.since(c.last)
	flags := uint8(here)
	if ok && c.fresh && d.Unusable == "" {
		flags |= known
	} else {
		delta = counts{}
	}
	if d.Ours {
		flags |= ours
	}
	if d.Timing != counters.ExactTimes {
		flags |= coarse
	}
	c.last, c.fresh, c.seen = counted, true, now
	for o := range operations {
		c.ios[o][row], c.sectors[o][row], c.spent[o][row] = small(delta.ios[o]), small(delta.sectors[o]), millis(delta.spent[o])
	}
	c.busy[row], c.inFlight[row] = millis(delta.busy), small(d.Disk.InFlight)
	c.flags[row], c.stall[row] = flags, stallNumber(d.Stall)
}

// miss writes a row for a second in which the device was absent.
func (c *columns) miss(row int) {
	c.fresh = false
	c.flags[row] = 0
}

// forget resets the columns for a device of which nothing is known.
func (c *columns) forget() {
	c.fresh, c.seen = false, 0
	c.flags = [seconds]uint8{}
	c.readings, c.slow = readings{}, slowIOs{}
}

// second returns a row; there is false when the device was absent in that second.
func (c *columns) second(row int, end time.Time) (s record.DeviceSecond, there bool) {
	flags := c.flags[row]
	if flags&here == 0 {
		return s, false
	}
	of := func(o int) record.ServedNow {
		n := record.ServedNow{IOs: int64(c.ios[o][row]), Bytes: int64(counters.Sectors512(c.sectors[o][row]).Bytes())}
		if n.IOs > 0 {
			n.MeanLatency = time.Duration(c.spent[o][row]) * time.Millisecond / time.Duration(n.IOs)
		}
		return n
	}
	return record.DeviceSecond{
		Time: end, Unknown: flags&known == 0,
		Read: of(read), Write: of(write), Discard: of(discard), Flush: of(flush),
		Busy: time.Duration(c.busy[row]) * time.Millisecond, InFlight: int64(c.inFlight[row]),
		Stall: stallCause(c.stall[row]), Ours: flags&ours != 0, CoarseTimes: flags&coarse != 0,
	}, true
}
