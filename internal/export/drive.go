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
			help: "1 if the SATA or SAS drive was in standby at the last reading and was not woken. Else 0. Its other series are absent during standby.",
			series: func(c record.Controller, emit emit) {
				if c.Disk != nil {
					emit(boolean(c.Disk.Asleep))
				}
			},
		},
		{
			name: "ssdprobe_drive_smart_passed", kind: gauge,
			help: "Self-assessment of a SATA or SAS drive: 1 passed, 0 failing. Absent when not reported.",
			series: func(c record.Controller, emit emit) {
				if c.Disk != nil && c.Disk.Passed != nil {
					emit(boolean(*c.Disk.Passed))
				}
			},
		},
		reading("ssdprobe_drive_temperature_celsius", gauge, "Temperature of a SATA or SAS drive, in degrees Celsius.", 1,
			func(d record.DiskHealth) *int { return d.TemperatureCelsius }),
		reading("ssdprobe_drive_percentage_used_ratio", gauge, "Share of the rated endurance of a SATA or SAS drive that is used. May exceed 1.", 1,
			func(d record.DiskHealth) *float64 { return d.PercentageUsed }),
		reading("ssdprobe_drive_power_on_seconds_total", counter, "Time that a SATA or SAS drive was powered on, in seconds. Counted in whole hours.", 3600,
			func(d record.DiskHealth) *int64 { return d.PowerOnHours }),
		reading("ssdprobe_drive_power_cycles_total", counter, "Number of times that a SATA or SAS drive was powered on.", 1,
			func(d record.DiskHealth) *int64 { return d.PowerCycles }),
		reading("ssdprobe_drive_reallocated_sectors", gauge, "Sectors that a SATA drive replaced with spare ones, or grown defects of a SAS drive.", 1,
			func(d record.DiskHealth) *int64 { return d.ReallocatedSectors }),
		reading("ssdprobe_drive_pending_sectors", gauge, "Sectors of a SATA or SAS drive that could not be read and are waiting to be replaced.", 1,
			func(d record.DiskHealth) *int64 { return d.PendingSectors }),
		reading("ssdprobe_drive_uncorrectable_sectors", gauge, "Sectors that a SATA or SAS drive found unreadable in its own checks.", 1,
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
