package export

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// driveFamilies have series per SATA or SAS drive whose health smartctl tells, led by
// deviceLabels.
func driveFamilies() []family[record.Controller] {
	return []family[record.Controller]{
		{
			name: "ssdprobe_drive_asleep", kind: gauge,
			help: "Whether the SATA or SAS drive was in standby and left alone at the last reading (1); its other series end meanwhile.",
			series: func(c record.Controller, emit emit) {
				if c.Disk != nil {
					emit(boolean(c.Disk.Asleep))
				}
			},
		},
		{
			name: "ssdprobe_drive_smart_passed", kind: gauge,
			help: "The verdict of a SATA or SAS drive on itself: 1 passed, 0 failing.",
			series: func(c record.Controller, emit emit) {
				if c.Disk != nil && c.Disk.Passed != nil {
					emit(boolean(*c.Disk.Passed))
				}
			},
		},
		reading("ssdprobe_drive_temperature_celsius", gauge, "Temperature of a SATA or SAS drive.", 1,
			func(d record.DiskHealth) *int { return d.TemperatureCelsius }),
		reading("ssdprobe_drive_percentage_used_ratio", gauge, "Share of the life that the vendor foresaw which is used. It may exceed 1.", 1,
			func(d record.DiskHealth) *float64 { return d.PercentageUsed }),
		reading("ssdprobe_drive_power_on_seconds_total", counter, "Time that a SATA or SAS drive was on, in whole hours.", 3600,
			func(d record.DiskHealth) *int64 { return d.PowerOnHours }),
		reading("ssdprobe_drive_power_cycles_total", counter, "How often a SATA or SAS drive was switched on.", 1,
			func(d record.DiskHealth) *int64 { return d.PowerCycles }),
		reading("ssdprobe_drive_reallocated_sectors", gauge, "Sectors that the drive has replaced by spare ones; the grown defects of SAS drives.", 1,
			func(d record.DiskHealth) *int64 { return d.ReallocatedSectors }),
		reading("ssdprobe_drive_pending_sectors", gauge, "Sectors that could not be read and wait to be replaced.", 1,
			func(d record.DiskHealth) *int64 { return d.PendingSectors }),
		reading("ssdprobe_drive_uncorrectable_sectors", gauge, "Sectors that the drive's own check found unreadable.", 1,
			func(d record.DiskHealth) *int64 { return d.UncorrectableSectors }),
	}
}

// reading is a family of one number that a drive may tell, in units of a scale.
func reading[N int | int64 | float64](
	name string, kind prometheus.ValueType, help string, scale float64, of func(record.DiskHealth) *N,
) family[record.Controller] {
	return family[record.Controller]{name: name, kind: kind, help: help + " Absent when not reported.", series: func(c record.Controller, emit emit) {
		if c.Disk == nil {
			return
		}
		if n := of(*c.Disk); n != nil {
			emit(float64(*n) * scale)
		}
	}}
}
