package report_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/report"
)

func smart(t *testing.T, rows ...report.SmartRow) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, report.Smart(&b, rows))
	return b.String()
}

func TestSmart(t *testing.T) {
	s := recordtest.Snapshot()
	well := s.Controllers[0]
	well.Interrupts.Queues = well.Interrupts.Queues[:3]
	golden(t, "smart.txt", smart(t, report.SmartRow{Controller: well, Devices: []record.Device{s.Targets[0].Device}}))
}

// A drive in trouble, with every possible figure.
func TestSmartOfADriveInTrouble(t *testing.T) {
	s := recordtest.Snapshot()
	c := s.Controllers[1]
	c.Warnings = []record.Warning{
		{Code: record.WarnDriveCritical, Text: "the spare blocks (5 %) are below the drive's threshold (10 %): it may become read-only; replace it soon"},
		{Code: record.WarnWorn, Text: "104 % of the rated endurance is used"},
	}
	h := c.Health
	h.AvailableSpare, h.PercentageUsed, h.MediaErrors, h.ErrorLogEntries = new(0.05), new(1.04), new(uint64(1)), new(uint64(math.MaxUint64))
	h.DataReadBytes, h.UnsafeShutdowns = nil, new(uint64(1))
	h.SelfTests = []record.SelfTest{{
		Kind: record.SelfTestExtended, Outcome: "failed in one segment", Failed: true, PowerOn: 11020 * time.Hour,
		Segment: new(uint8(4)), FailingLBA: new(uint64(5120000)), NamespaceID: new(uint32(1)),
	}}
	h.MediaDies.Offline = 3
	h.WarningTemperatureTime, h.CriticalTemperatureTime = new(90*time.Minute), new(2*time.Minute)
	h.Throttling = []record.Throttling{{Level: "light", Transitions: 11, Time: time.Hour}, {Level: "heavy", Transitions: 1, Time: time.Minute}}
	h.Features.Coalescing = &record.Coalescing{Threshold: 11, Time: 200 * time.Microsecond}
	h.Features.AutonomousPower, h.Features.PowerState, h.Features.WriteCache = new(true), new(3), new(true)
	h.Namespaces = []record.NamespaceHealth{
		{ID: 1, SizeBytes: 1e12, AllocatedBytes: new(uint64(1e10)), BlockBytes: 4096, MetadataBytes: 8, Protection: 1}, {ID: 7},
	}
	c.Interrupts.Queues = c.Interrupts.Queues[:2]
	c.Interrupts.Queues[1].CPUs = ""
	text := smart(t,
		report.SmartRow{Controller: c, Devices: []record.Device{s.Targets[1].Device}},
		report.SmartRow{Controller: record.Controller{Name: "nvme2", Kind: record.ControllerNVMe, Health: &record.Health{SelfTests: []record.SelfTest{}}}},
	)
	golden(t, "smart_trouble.txt", text)
	assert.LessOrEqual(t, widest(text), 118)
}

func TestSmartOfDisks(t *testing.T) {
	drive := record.Device{Name: "sda", Model: "Samsung SSD 870 EVO 500GB", Serial: "S62ANJ0R412345", Firmware: "SVT02B6Q", SizeBytes: 500107862016}
	row := func(d record.DiskHealth) report.SmartRow {
		return report.SmartRow{Controller: record.Controller{Name: "sda", Kind: record.ControllerDrive, Disk: &d}, Devices: []record.Device{drive}}
	}
	failing := row(record.DiskHealth{Passed: new(false)})
	failing.Controller.Warnings = []record.Warning{{Code: record.WarnDriveCritical, Text: "the drive says that it is failing (SMART status): copy what is on it, and replace it"}}
	golden(t, "smart_disk.txt", smart(t,
		row(record.DiskHealth{
			Passed: new(true), TemperatureCelsius: new(31), PercentageUsed: new(0.04), PowerOnHours: new(int64(12001)), PowerCycles: new(int64(37)),
			ReallocatedSectors: new(int64(6)), PendingSectors: new(int64(0)), UncorrectableSectors: new(int64(0)),
		}),
		failing, row(record.DiskHealth{TemperatureCelsius: new(40)}), row(record.DiskHealth{Asleep: true}),
	))
}

// A drive that reports only its temperature is not said to report nothing wrong, and no time is too long to show.
func TestSmartOfADiskThatSaysLittle(t *testing.T) {
	text := smart(t, report.SmartRow{Controller: record.Controller{
		Name: "sda", Kind: record.ControllerDrive, Disk: &record.DiskHealth{TemperatureCelsius: new(40), PowerOnHours: new(int64(math.MaxUint32))},
	}})
	assert.Contains(t, text, "The drive does not say whether it is failing.")
	assert.NotContains(t, text, "nothing wrong")
	assert.Contains(t, text, "power on      106751 d", "the longest time that can be shown")
}
