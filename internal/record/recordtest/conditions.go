package recordtest

import (
	"time"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// Conditions returns conditions that are all known, each with a different text.
func Conditions() record.Conditions {
	return record.Conditions{
		Model: "M", Firmware: "F", Transport: "pcie",
		Format:   record.BlockFormat{LogicalBytes: 4096, PhysicalBytes: 8192, MetadataBytes: 8, Protection: "T10-DIF-TYPE1-CRC"},
		PCIeLink: record.LinkRate{GTs: 2.5, Lanes: 4}, ASPM: record.ASPM{States: "L0s L1", Policy: "default"},
		NUMANode: record.NumberOf(0), Scheduler: "none", NrRequests: record.NumberOf(1023), WriteCache: "write back",
		DriveCache: record.EachOf(record.On), Coalescing: record.EachOf(record.Coalescing{Threshold: 11, Time: 200 * time.Microsecond}),
		PowerState: record.EachOf(record.PowerState{State: record.NumberOf(0)}),
		Polling:    record.Polling{Mode: record.On, Queues: record.NumberOf(4)},
		Governor:   "powersave", Kernel: "6.1", Stack: "crypt on eui.1", Filesystem: "ext4", MountOptions: "rw", Engine: "ssdprobe-1",
	}
}
