package traffic

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/counters"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Of converts what a device counted in a span to a record.Traffic. The counts may include our own I/O.
func Of(end time.Time, span time.Duration, counted counters.Disk, timing counters.Timing) record.Traffic {
	t := record.Traffic{Time: end, Length: span}
	totalsOf(span, counted, timing).say(&t, timing)
	return t
}

// totals is what a device did in a span of time.
type totals struct {
	span           time.Duration
	busy, weighted time.Duration
	readBytes      uint64
	writtenBytes   uint64
	served         [operations]served
}

// served is the number of completed I/Os of one operation, and the total time that they took.
type served struct {
	ios  uint64
	time time.Duration
}

// The indexes of the operations in totals.served, in the order of record.Operations.
const (
	read = iota
	write
	discard
	flush
	operations
)

// totalsOf converts what a device counted in a span.
func totalsOf(span time.Duration, d counters.Disk, timing counters.Timing) totals {
	t := totals{
		span: span, busy: min(span, busyTime(d, timing)), weighted: d.WeightedTime,
		readBytes: d.ReadSectors.Bytes(), writtenBytes: d.WriteSectors.Bytes(),
	}
	t.served[read] = served{d.ReadIOs, d.ReadTime}
	t.served[write] = served{d.WriteIOs, d.WriteTime}
	if d.Discards != nil {
		t.served[discard] = served{d.Discards.IOs, d.Discards.Time}
	}
	if d.Flushes != nil {
		t.served[flush] = served{d.Flushes.IOs, d.Flushes.Time}
	}
	return t
}

func (t *totals) add(o totals) {
	t.span += o.span
	t.busy += o.busy
	t.weighted += o.weighted
	t.readBytes += o.readBytes
	t.writtenBytes += o.writtenBytes
	for i, s := range o.served {
		t.served[i].ios += s.ios
		t.served[i].time += s.time
	}
}

// since returns what was added to the totals after before.
func (t totals) since(before totals) totals {
	t.span -= before.span
	t.busy -= before.busy
	t.weighted -= before.weighted
	t.readBytes -= before.readBytes
	t.writtenBytes -= before.writtenBytes
	for i, s := range before.served {
		t.served[i].ios -= s.ios
		t.served[i].time -= s.time
	}
	return t
}

func (s served) mean() time.Duration {
	if s.ios == 0 {
		return 0
	}
	return s.time / time.Duration(s.ios)
}

// least returns what the mean is at least. The kernel counts time in whole milliseconds, so what is counted in a
// second may be a millisecond too long. Of the few I/Os of a second, that may be ten times what they took.
func (s served) least() time.Duration {
	s.time = max(0, s.time-time.Millisecond)
	return s.mean()
}

// work returns the totals per second.
func (t totals) work() record.Work {
	rate := func(n uint64) float64 { return float64(n) / t.span.Seconds() }
	return record.Work{
		Reads: rate(t.served[read].ios), Writes: rate(t.served[write].ios),
		ReadBytes: rate(t.readBytes), WrittenBytes: rate(t.writtenBytes),
		Discards: rate(t.served[discard].ios), Flushes: rate(t.served[flush].ios),
	}
}

// say fills in the fields of to.
func (t totals) say(to *record.Traffic, timing counters.Timing) {
	of := func(operation int) record.Served {
		s := t.served[operation]
		return record.Served{IOs: int64(s.ios), MeanLatency: s.mean()}
	}
	to.Span, to.Work = t.span, t.work()
	to.Read, to.Write, to.Discard, to.Flush = of(read), of(write), of(discard), of(flush)
	to.Utilisation = t.busy.Seconds() / t.span.Seconds()
	to.InFlight = t.weighted.Seconds() / t.span.Seconds()
	to.CoarseTimes = timing != counters.ExactTimes
}

// busyTime returns the time with I/O in flight. Before Linux 6.10, an I/O that is alone in flight counts as a whole
// clock tick, 1 to 10 ms, so the time is at most what the I/Os took. That is known only of those that have completed.
func busyTime(d counters.Disk, timing counters.Timing) time.Duration {
	if timing == counters.NoTimes || d.IOs() == 0 {
		return d.BusyTime
	}
	return min(d.BusyTime, d.ServedTime())
}
