package health

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/pkg/nvme"
)

// ofSMART must use every field of the SMART log: a field that changes nothing was forgotten.
func TestEveryFieldOfSMARTIsRead(t *testing.T) {
	one, warm := nvme.Uint128{Low: 1}, nvme.Celsius(40)
	fresh := func() nvme.SMART {
		return nvme.SMART{
			CriticalWarnings: nvme.WarningReadOnly, Temperature: &warm, TemperatureSensors: [8]*nvme.Celsius{&warm},
			AvailableSpare: 90, AvailableSpareThreshold: 10, PercentageUsed: 5, EnduranceGroupWarnings: 1,
			DataUnitsRead: nvme.DataUnits(one), DataUnitsWritten: nvme.DataUnits(one), HostReadCommands: one, HostWriteCommands: one,
			ControllerBusy: nvme.Minutes(one), PowerCycles: one, PowerOn: nvme.Hours(one), UnsafeShutdowns: one, MediaErrors: one,
			ErrorLogEntries: one, WarningTemperatureTime: time.Minute, CriticalTemperatureTime: time.Minute,
			ThermalTransitions: [2]uint32{1, 1}, ThermalTime: [2]time.Duration{time.Second, time.Second},
		}
	}
	recordtest.EachField(t, fresh, func(field string, without nvme.SMART) {
		if field != "EnduranceGroupWarnings" { // single endurance groups are not shown
			assert.NotEqual(t, ofSMART(fresh(), nvme.Controller{}), ofSMART(without, nvme.Controller{}), "%s is not read", field)
		}
	})
}
