package export

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

// driveFamilies returns the families with series per SATA or SAS drive whose health smartctl reports. Their first
// labels are deviceLabels.
func driveFamilies() []family[record.Controller] {
	return []family[record.Controller]{
		ofDrive("ssdprobe_drive_asleep", gauge, "1 if the SATA or SAS drive was in standby at the last reading and was not woken. Else 0. Its other series are absent during standby.",
			func(d record.DiskHealth) (float64, bool) { return boolean(d.Asleep), true }),
		ofDrive("ssdprobe_drive_smart_passed", gauge, "Self-assessment of a SATA or SAS drive: 1 passed, 0 failing. Absent when not reported.",
			func(d record.DiskHealth) (float64, bool) { return flag(d.Passed) }),
		ofDrive("ssdprobe_drive_too_hot", gauge, "1 if a SAS drive fails its self-assessment because it is too hot. 0 if it passes, or gives another reason. "+
			"Absent when not reported, and if a SATA drive fails: it gives no reason.",
			func(d record.DiskHealth) (float64, bool) {
				return boolean(d.TooHot), d.Passed != nil && (*d.Passed || d.TooHot || d.Reason != "")
			}),
		ofDrive("ssdprobe_drive_temperature_celsius", gauge, "Temperature of a SATA or SAS drive, in degrees Celsius. Absent when not reported.",
			func(d record.DiskHealth) (float64, bool) { return given(d.TemperatureCelsius) }),
		ofDrive("ssdprobe_drive_percentage_used_ratio", gauge, "Share of the rated endurance of a SATA or SAS drive that is used. May exceed 1. Absent when not reported.",
			func(d record.DiskHealth) (float64, bool) { return given(d.PercentageUsed) }),
		ofDrive("ssdprobe_drive_power_on_seconds_total", counter, "Time that a SATA or SAS drive was powered on, in seconds. Counted in whole hours. Absent when not reported.",
			func(d record.DiskHealth) (float64, bool) {
				hours, ok := given(d.PowerOnHours)
				return 3600 * hours, ok
			}),
		ofDrive("ssdprobe_drive_power_cycles_total", counter, "Number of times that a SATA or SAS drive was powered on. Absent when not reported.",
			func(d record.DiskHealth) (float64, bool) { return given(d.PowerCycles) }),
		ofDrive("ssdprobe_drive_reallocated_sectors", gauge, "Sectors that a SATA drive replaced with spare ones, or grown defects of a SAS drive. Absent when not reported.",
			func(d record.DiskHealth) (float64, bool) { return given(d.ReallocatedSectors) }),
		ofDrive("ssdprobe_drive_pending_sectors", gauge, "Sectors of a SATA or SAS drive that could not be read and are waiting to be replaced. "+
			"A 1 from a Crucial MX500 or a related drive is exported as 0, because these drives report 1 at times without a cause. Absent when not reported.",
			func(d record.DiskHealth) (float64, bool) { return given(d.Pending()) }),
		ofDrive("ssdprobe_drive_uncorrectable_sectors", gauge, "Sectors that a SATA or SAS drive found unreadable in its own checks. Absent when not reported.",
			func(d record.DiskHealth) (float64, bool) { return given(d.UncorrectableSectors) }),
	}
}

// ofDrive returns a family with one value of a drive whose health was read.
func ofDrive(name string, kind prometheus.ValueType, help string, value func(record.DiskHealth) (float64, bool)) family[record.Controller] {
	return single(name, kind, help, func(c record.Controller) (float64, bool) {
		if c.Disk == nil {
			return 0, false
		}
		return value(*c.Disk)
	})
}
