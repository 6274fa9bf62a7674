package counters

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// Sectors512 counts sectors of 512 bytes. The kernel uses this unit whatever the block
// size of the device is.
type Sectors512 uint64

// Bytes returns the same amount in bytes.
func (s Sectors512) Bytes() uint64 { return uint64(s) * 512 }

// Disk is one line of /proc/diskstats: what a block device or a partition did
// since it appeared (Documentation/admin-guide/iostats.rst).
//
// The kernel keeps times as 32-bit milliseconds, so they wrap around after 49.7 days'
// worth; Since takes that into account.
type Disk struct {
	Number string // device number, "259:0"
	Name   string // as in /dev; sysfs writes "!" where this has "/"

	ReadIOs     uint64
	ReadMerges  uint64
	ReadSectors Sectors512
	ReadTime    time.Duration // sum over all reads

	WriteIOs     uint64
	WriteMerges  uint64
	WriteSectors Sectors512
	WriteTime    time.Duration // sum over all writes

	// InFlight is the current number of I/Os that were given to the driver and have not
	// completed; it is not a sum.
	InFlight uint64
	// BusyTime is the time with at least one I/O in flight.
	BusyTime time.Duration
	// WeightedTime is the number of I/Os in flight, integrated over time.
	WeightedTime time.Duration

	Discards *Discards // nil before Linux 4.18
	Flushes  *Flushes  // nil before Linux 5.5

	// Members are the numbers of the devices that InFlight and the times come from, if the device counts none
	// itself; see NoTimes. MemberIOs is the number of I/Os that completed on them. IOs does not include these.
	Members   string
	MemberIOs uint64
}

// Discards are the discards of a Disk.
type Discards struct {
	IOs     uint64
	Merges  uint64
	Sectors Sectors512
	Time    time.Duration
}

// Flushes are the cache flushes of a Disk. The kernel does not count those of partitions.
type Flushes struct {
	IOs  uint64
	Time time.Duration
}

// IOs returns the number of reads, writes, discards and flushes that completed.
func (d Disk) IOs() uint64 {
	n := d.ReadIOs + d.WriteIOs
	if d.Discards != nil {
		n += d.Discards.IOs
	}
	if d.Flushes != nil {
		n += d.Flushes.IOs
	}
	return n
}

// ServedTime returns the total time that the I/Os counted by IOs took.
func (d Disk) ServedTime() time.Duration {
	t := d.ReadTime + d.WriteTime
	if d.Discards != nil {
		t += d.Discards.Time
	}
	if d.Flushes != nil {
		t += d.Flushes.Time
	}
	return t
}

// Since returns what happened between before and d, with InFlight as of d. It
// reports false when the two cannot be compared: they are of different devices or members,
// or a count went backwards because the device went away and came back.
func (d Disk) Since(before Disk) (Disk, bool) {
	if d.Number != before.Number || d.Name != before.Name || d.Members != before.Members ||
		(d.Discards == nil) != (before.Discards == nil) || (d.Flushes == nil) != (before.Flushes == nil) {
		return Disk{}, false
	}
	s := subtraction{ok: true}
	delta := Disk{
		Number: d.Number, Name: d.Name,
		ReadIOs:      s.count(d.ReadIOs, before.ReadIOs),
		ReadMerges:   s.count(d.ReadMerges, before.ReadMerges),
		ReadSectors:  Sectors512(s.count(uint64(d.ReadSectors), uint64(before.ReadSectors))),
		ReadTime:     s.time(d.ReadTime, before.ReadTime),
		WriteIOs:     s.count(d.WriteIOs, before.WriteIOs),
		WriteMerges:  s.count(d.WriteMerges, before.WriteMerges),
		WriteSectors: Sectors512(s.count(uint64(d.WriteSectors), uint64(before.WriteSectors))),
		WriteTime:    s.time(d.WriteTime, before.WriteTime),
		InFlight:     d.InFlight,
		BusyTime:     s.time(d.BusyTime, before.BusyTime),
		WeightedTime: s.time(d.WeightedTime, before.WeightedTime),
		Members:      d.Members,
		MemberIOs:    s.count(d.MemberIOs, before.MemberIOs),
	}
	if d.Discards != nil {
		delta.Discards = &Discards{
			IOs:     s.count(d.Discards.IOs, before.Discards.IOs),
			Merges:  s.count(d.Discards.Merges, before.Discards.Merges),
			Sectors: Sectors512(s.count(uint64(d.Discards.Sectors), uint64(before.Discards.Sectors))),
			Time:    s.time(d.Discards.Time, before.Discards.Time),
		}
	}
	if d.Flushes != nil {
		delta.Flushes = &Flushes{
			IOs:  s.count(d.Flushes.IOs, before.Flushes.IOs),
			Time: s.time(d.Flushes.Time, before.Flushes.Time),
		}
	}
	if !s.ok {
		return Disk{}, false
	}
	return delta, true
}

// subtraction subtracts counters and notices those that went backwards.
type subtraction struct{ ok bool }

func (s *subtraction) count(after, before uint64) uint64 {
	if after < before {
		s.ok = false
	}
	return after - before
}

func (s *subtraction) time(after, before time.Duration) time.Duration {
	return TimeSince(after, before)
}

// TimeWraps is where the times of a Disk begin again at 0.
const TimeWraps = (math.MaxUint32 + 1) * time.Millisecond

// TimeSince subtracts times of a Disk. The kernel keeps them as 32-bit milliseconds, so
// a later time that is smaller has wrapped around.
func TimeSince(after, before time.Duration) time.Duration {
	if after < before {
		after += TimeWraps
	}
	return after - before
}

// Disks are all lines of /proc/diskstats, in its order.
type Disks []Disk

// ByNumber finds a device by its number, "259:0". A multipath NVMe namespace that
// counts nothing itself has the sum of the counts of its paths.
func (d Disks) ByNumber(number string) (Disk, bool) {
	disk, _, ok := d.byNumber(number)
	return disk, ok
}

// byNumber is like ByNumber, and also reports whether the counts are those of paths.
func (d Disks) byNumber(number string) (disk Disk, paths, ok bool) {
	for _, disk := range d {
		if disk.Number == number {
			disk, paths = d.withPaths(disk)
			return disk, paths, true
		}
	}
	return Disk{}, false, false
}

// ByName finds a device by the kernel's name in the form of /dev or of sysfs.
func (d Disks) ByName(name string) (Disk, bool) {
	name = sysfs.DeviceName(name)
	for _, disk := range d {
		if disk.Name == name {
			return disk, true
		}
	}
	return Disk{}, false
}

// ReadDisks reads /proc/diskstats.
func ReadDisks(fs sysfs.FS) (Disks, error) {
	f, err := fs.Open("/proc/diskstats")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ParseDisks(f)
}

// ReadDisk reads the counts of the device with the given number, "259:0", from sysfs
// (Documentation/block/stat.rst). Name is empty. The counts are those of the device's
// line in /proc/diskstats. But to print that file, the kernel sums up what each CPU has
// counted for every device and partition of the host.
func ReadDisk(fs sysfs.FS, number string) (Disk, error) {
	file := "/sys/dev/block/" + number + "/stat"
	text, err := fs.Text(file)
	if err != nil {
		return Disk{}, err
	}
	major, minor, _ := strings.Cut(number, ":")
	disk, err := parseDisk(append([]string{major, minor, ""}, strings.Fields(text)...))
	if err != nil {
		return Disk{}, fmt.Errorf("parse %s: %q: %w", file, text, err)
	}
	return disk, nil
}

// ParseDisks parses the format of /proc/diskstats: lines of 14 columns, 18 since Linux
// 4.18, 20 since 5.5. Columns that later kernels append are ignored.
func ParseDisks(r io.Reader) (Disks, error) {
	var disks Disks
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		disk, err := parseDisk(fields)
		if err != nil {
			return nil, fmt.Errorf("parse diskstats: line %q: %w", lines.Text(), err)
		}
		disks = append(disks, disk)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read diskstats: %w", err)
	}
	return disks, nil
}

func parseDisk(fields []string) (Disk, error) {
	const columns, withDiscards, withFlushes = 14, 18, 20
	n := len(fields)
	if n < columns || n > columns && n < withDiscards || n > withDiscards && n < withFlushes {
		return Disk{}, fmt.Errorf("%d columns with number and name, want 14, 18 or 20", n)
	}
	for _, number := range fields[:2] {
		if _, err := strconv.ParseUint(number, 10, 32); err != nil {
			return Disk{}, err
		}
	}
	d := Disk{Number: fields[0] + ":" + fields[1], Name: fields[2]}
	c := columnReader{fields: fields[3:]}
	d.ReadIOs, d.ReadMerges, d.ReadSectors, d.ReadTime = c.count(), c.count(), c.sectors(), c.millis()
	d.WriteIOs, d.WriteMerges, d.WriteSectors, d.WriteTime = c.count(), c.count(), c.sectors(), c.millis()
	d.InFlight, d.BusyTime, d.WeightedTime = c.count(), c.millis(), c.millis()
	if n >= withDiscards {
		d.Discards = &Discards{IOs: c.count(), Merges: c.count(), Sectors: c.sectors(), Time: c.millis()}
	}
	if n >= withFlushes {
		d.Flushes = &Flushes{IOs: c.count(), Time: c.millis()}
	}
	return d, c.err
}

// columnReader takes columns from the left and keeps the first error.
type columnReader struct {
	fields []string
	err    error
}

func (c *columnReader) count() uint64 { return c.next(64) }

func (c *columnReader) sectors() Sectors512 { return Sectors512(c.next(64)) }

func (c *columnReader) millis() time.Duration { return time.Duration(c.next(32)) * time.Millisecond }

func (c *columnReader) next(bits int) uint64 {
	n, err := strconv.ParseUint(c.fields[0], 10, bits)
	c.fields = c.fields[1:]
	if err != nil && c.err == nil {
		c.err = err
	}
	return n
}
