package report

import (
	"fmt"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

// conditionsList lists the known conditions: "firmware GDC5602Q", "scheduler none".
func conditionsList(c record.Conditions) []string {
	var known []string
	for _, condition := range c.List() {
		if condition.Value != "" {
			known = append(known, record.ConditionTitle(condition.Name)+" "+condition.Value)
		}
	}
	if len(known) == 0 {
		return []string{"none known"}
	}
	return known
}

// LinkText returns a PCIe link, and its maximum where that is higher: "16 GT/s x4", "8 of 16 GT/s
// x4", "16 GT/s x2 of x4".
func LinkText(l record.PCIeLink) string {
	speed := fmt.Sprintf("%g GT/s", l.CurrentGTs)
	if l.CurrentGTs < l.MaxGTs {
		speed = fmt.Sprintf("%g of %g GT/s", l.CurrentGTs, l.MaxGTs)
	}
	lanes := fmt.Sprintf("x%d", l.CurrentLanes)
	if l.CurrentLanes < l.MaxLanes {
		lanes = fmt.Sprintf("x%d of x%d", l.CurrentLanes, l.MaxLanes)
	}
	return speed + " " + lanes
}

// DeviceText describes a drive: "SAMSUNG MZQL23T8HCLS-00A07, serial S64H, firmware GDC5602Q, 3.84
// TB".
func DeviceText(d record.Device) string {
	about := named("", d.Model, "serial", d.Serial, "firmware", d.Firmware)
	if d.SizeBytes > 0 {
		about = append(about, units.DriveSize(d.SizeBytes))
	}
	if len(about) == 0 {
		return d.Name
	}
	return strings.Join(about, ", ")
}

// named puts its name before each value and leaves out unknown values: "serial S64H", "firmware
// GDC5602Q".
func named(namesAndValues ...string) []string {
	var known []string
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		if value := namesAndValues[i+1]; value != "" {
			known = append(known, strings.TrimSpace(namesAndValues[i]+" "+value))
		}
	}
	return known
}
