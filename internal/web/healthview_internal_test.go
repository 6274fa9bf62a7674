package web

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

func now() time.Time { return time.Date(2026, 5, 4, 13, 2, 11, 0, time.UTC) }

func facts(v healthView) map[string]string {
	all := map[string]string{}
	for _, f := range v.Facts {
		all[f.Name] = f.Value
	}
	return all
}

func TestHealthOnThePage(t *testing.T) {
	perIO, remote, none := 0.25, uint64(1234), uint64(0)
	interrupts := &record.Interrupts{PerIO: &perIO, Remote: &remote, Span: time.Minute}
	three, twelve, sixteen := uint64(3), uint64(12), uint64(16)
	written, queues, passed, temperature, hours, sectors, used := uint64(96_123_456_512_000), 16, false, 31, int64(48), int64(6), 0.5
	health := &record.Health{
		Temperatures:   []record.Temperature{{Sensor: "1", Celsius: 99}, {Sensor: record.CompositeSensor, Celsius: 38}},
		AvailableSpare: new(1.0), PercentageUsed: new(0.02), DataWrittenBytes: &written, HostWriteCommands: &sixteen,
		PowerOn: new(11034 * time.Hour), MediaErrors: &three, UnsafeShutdowns: &twelve,
		Features: record.Features{IOQueues: &queues},
	}
	views := newHealthViews([]record.Controller{
		{Name: "nvme0", Kind: record.ControllerNVMe, LastRead: now().Add(-20 * time.Second), Health: health, Interrupts: interrupts},
		{Name: "nvme1", Kind: record.ControllerNVMe, LastRead: now().Add(-5 * time.Minute), Interrupts: &record.Interrupts{Remote: &none}},
		{Name: "sda", Kind: record.ControllerDrive, Disk: &record.DiskHealth{
			Passed: &passed, TemperatureCelsius: &temperature, PowerOnHours: &hours, PercentageUsed: &used,
			ReallocatedSectors: &sectors, PendingSectors: &sectors, UncorrectableSectors: &sectors,
		}},
		{Name: "sdb", Kind: record.ControllerDrive, Disk: &record.DiskHealth{Asleep: true}},
		{Name: "sdc", Kind: record.ControllerDrive},
		{Name: "virtio1", Kind: record.ControllerVirtio, Interrupts: interrupts},
		{Name: "virtio2", Kind: record.ControllerVirtio},
	}, now())
	if !assert.Len(t, views, 6, "of virtio2 there is nothing to say") {
		return
	}
	assert.Equal(t, "20\u00a0s\u00a0ago", views[0].Read.Ago)
	assert.Equal(t, map[string]string{
		"temperature": "38 °C", "life used": "2.0 %", "spare blocks": "100 % left", "written": "96.1 TB", "power on": "459 d 18 h",
		"media errors": "3", "unsafe shutdowns": "12", "I/O queues": "16 used",
		"interrupts per I/O": "0.250 in the last 1 min", "remote interrupts": "1 234",
	}, facts(views[0]))
	assert.Equal(t, map[string]string{"state": "not known: the last reading failed"}, facts(views[1]))
	assert.NotNil(t, views[1].Read, "when it was last read is told all the same")
	assert.Equal(t, map[string]string{
		"SMART status": "failing", "temperature": "31 °C", "life used": "50 %", "power on": "2 d",
		"reallocated sectors": "6", "pending sectors": "6", "uncorrectable sectors": "6",
	}, facts(views[2]))
	assert.Equal(t, map[string]string{"state": "asleep"}, facts(views[3]))
	assert.Equal(t, map[string]string{"state": "not known: the last reading failed"}, facts(views[4]))
	assert.Len(t, views[5].Facts, 2)
}
