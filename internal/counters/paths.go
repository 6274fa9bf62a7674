package counters

import (
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/sysfs"
)

// withPaths returns what a disk did. The head of a native multipath namespace of NVMe,
// nvme0n1, counts nothing before Linux 6.4, nor when its iostats are switched off: then
// it is what its hidden paths did, nvme0c0n1 and so on, added up. Paths that are
// busy at the same time count twice in the times. It reports whether there are any.
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

// plus adds up what two disks did, under the name of the first.
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
