package counters

import (
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// withPaths returns the counts of a disk, and whether they are those of its paths. The
// head of a native multipath NVMe namespace, nvme0n1, counts nothing before Linux 6.4, or
// if its iostats are switched off. Then the counts of its hidden paths, nvme0c0n1 and so
// on, are added up. Paths that are busy at the same time count twice in the times.
func (d Disks) withPaths(head Disk) (Disk, bool) {
	if head.IOs() != 0 || head.InFlight != 0 || !strings.HasPrefix(head.Name, "nvme") {
		return head, false
	}
	found := false
	for _, path := range d {
		if sysfs.HeadOf(path.Name) == head.Name {
			head, found = head.plus(path), true
		}
	}
	return head, found
}

// plus adds up the counts of two disks, under the name of the first.
func (d Disk) plus(o Disk) Disk {
	d.ReadIOs += o.ReadIOs
	d.ReadMerges += o.ReadMerges
	d.ReadSectors += o.ReadSectors
	d.ReadTime += o.ReadTime
	d.WriteIOs += o.WriteIOs
	d.WriteMerges += o.WriteMerges
	d.WriteSectors += o.WriteSectors
	d.WriteTime += o.WriteTime
	d.InFlight += o.InFlight
	d.BusyTime += o.BusyTime
	d.WeightedTime += o.WeightedTime
	if d.Discards != nil && o.Discards != nil {
		d.Discards = &Discards{
			IOs:     d.Discards.IOs + o.Discards.IOs,
			Merges:  d.Discards.Merges + o.Discards.Merges,
			Sectors: d.Discards.Sectors + o.Discards.Sectors,
			Time:    d.Discards.Time + o.Discards.Time,
		}
	}
	if d.Flushes != nil && o.Flushes != nil {
		d.Flushes = &Flushes{IOs: d.Flushes.IOs + o.Flushes.IOs, Time: d.Flushes.Time + o.Flushes.Time}
	}
	return d
}
