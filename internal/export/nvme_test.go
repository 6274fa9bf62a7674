package export_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/export"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

// ofController returns a movement of a fact about the first controller.
func ofController(name string, change func(*record.Controller), families ...string) movement {
	return moves(name, func(s *record.Snapshot) { change(&s.Controllers[0]) }, families...)
}

func ofHealth(name string, change func(*record.Health), families ...string) movement {
	return ofController(name, func(c *record.Controller) { change(c.Health) }, families...)
}

func controllerMovements(later time.Time) []movement {
	return []movement{
		ofController("read later", func(c *record.Controller) { c.LastRead = later }, "ssdprobe_nvme_health_timestamp_seconds"),
		ofHealth("it is too hot", func(h *record.Health) {
			h.CriticalWarnings = []record.CriticalWarning{record.CriticalTemperature}
		}, "ssdprobe_nvme_critical_warning"),
		ofHealth("an endurance group is read-only", func(h *record.Health) {
			h.GroupWarnings = []record.CriticalWarning{record.CriticalReadOnly}
		}, "ssdprobe_nvme_critical_warning"),
		ofHealth("its endurance is used", func(h *record.Health) {
			h.CriticalWarnings = []record.CriticalWarning{record.CriticalEndurance}
		}, "ssdprobe_nvme_critical_warning"),
		ofHealth("its health log is blank", func(h *record.Health) { h.CriticalWarnings = nil }, "ssdprobe_nvme_critical_warning"),
		ofHealth("warmer", func(h *record.Health) { h.Temperatures[2].Celsius++ }, "ssdprobe_nvme_temperature_celsius"),
		ofHealth("fewer spares", func(h *record.Health) { h.AvailableSpare = new(0.5) }, "ssdprobe_nvme_available_spare_ratio"),
		ofHealth("another threshold", func(h *record.Health) { h.AvailableSpareThreshold = new(0.05) }, "ssdprobe_nvme_available_spare_threshold_ratio"),
		ofHealth("older", func(h *record.Health) { h.PercentageUsed = new(1.05) }, "ssdprobe_nvme_percentage_used_ratio"),
		ofHealth("fails its own test", func(h *record.Health) {
			h.SelfTests[0].Outcome, h.SelfTests[0].Failed = "failed", true
		}, "ssdprobe_nvme_self_test_failed", "ssdprobe_nvme_self_test_failed_power_on_seconds"),
		ofHealth("is tested again", func(h *record.Health) {
			h.SelfTests = append([]record.SelfTest{{Kind: "short", Outcome: record.SelfTestPassed, PowerOn: *h.PowerOn}}, h.SelfTests...)
		}),
		ofHealth("may lose a die more", func(h *record.Health) { h.MediaDies.Tolerated++ }, "ssdprobe_nvme_media_dies_tolerated"),
		ofHealth("loses a die", func(h *record.Health) { h.MediaDies.Offline++ }, "ssdprobe_nvme_media_dies_offline"),
		ofHealth("read", func(h *record.Health) { *h.DataReadBytes += 512_000 }, "ssdprobe_nvme_data_read_bytes_total"),
		ofHealth("written", func(h *record.Health) { *h.DataWrittenBytes += 512_000 }, "ssdprobe_nvme_data_written_bytes_total"),
		ofHealth("a read", func(h *record.Health) { *h.HostReadCommands++ }, "ssdprobe_nvme_host_read_commands_total"),
		ofHealth("a write", func(h *record.Health) { *h.HostWriteCommands++ }, "ssdprobe_nvme_host_write_commands_total"),
		ofHealth("busy", func(h *record.Health) { *h.ControllerBusy += time.Minute }, "ssdprobe_nvme_controller_busy_seconds_total"),
		ofHealth("switched on", func(h *record.Health) { *h.PowerCycles++ }, "ssdprobe_nvme_power_cycles_total"),
		ofHealth("an hour on", func(h *record.Health) { *h.PowerOn += time.Hour }, "ssdprobe_nvme_power_on_seconds_total"),
		ofHealth("power lost", func(h *record.Health) { *h.UnsafeShutdowns++ }, "ssdprobe_nvme_unsafe_shutdowns_total"),
		ofHealth("damaged", func(h *record.Health) { *h.MediaErrors++ }, "ssdprobe_nvme_media_errors_total"),
		ofHealth("refused", func(h *record.Health) { *h.ErrorLogEntries++ }, "ssdprobe_nvme_error_log_entries_total"),
		ofHealth("warm for long", func(h *record.Health) { *h.WarningTemperatureTime += time.Minute }, "ssdprobe_nvme_warning_temperature_seconds_total"),
		ofHealth("hot for long", func(h *record.Health) { *h.CriticalTemperatureTime += time.Minute }, "ssdprobe_nvme_critical_temperature_seconds_total"),
		ofHealth("throttles", func(h *record.Health) { h.Throttling[0].Transitions++ }, "ssdprobe_nvme_thermal_transitions_total"),
		ofHealth("throttles on", func(h *record.Health) { h.Throttling[1].Time += time.Second }, "ssdprobe_nvme_thermal_seconds_total"),
		ofHealth("longer gathering", func(h *record.Health) { h.Features.Coalescing.Time = 200 * time.Microsecond }, "ssdprobe_nvme_interrupt_coalescing_time_seconds"),
		ofHealth("more gathering", func(h *record.Health) { h.Features.Coalescing.Threshold = 11 }, "ssdprobe_nvme_interrupt_coalescing_threshold"),
		ofHealth("fewer queues", func(h *record.Health) { *h.Features.IOQueues = 8 }, "ssdprobe_nvme_io_queues"),
		ofHealth("polling", func(h *record.Health) { *h.Features.PollQueues = 2 }, "ssdprobe_nvme_poll_queues"),
		ofController("an interrupt", func(c *record.Controller) { c.Interrupts.Count++ }, "ssdprobe_nvme_interrupts_total"),
		ofController("an interrupt far away", func(c *record.Controller) { *c.Interrupts.Remote++ }, "ssdprobe_nvme_remote_interrupts_total"),
		ofController("every queue", func(c *record.Controller) { everyQueue(c.Interrupts) }, "ssdprobe_nvme_queue_interrupts_total"),
		moves("a SATA drive", func(s *record.Snapshot) { s.Controllers = append(s.Controllers, sataDrive()) },
			"ssdprobe_drive_asleep", "ssdprobe_drive_smart_passed", "ssdprobe_drive_too_hot", "ssdprobe_drive_temperature_celsius", "ssdprobe_drive_percentage_used_ratio",
			"ssdprobe_drive_power_on_seconds_total", "ssdprobe_drive_power_cycles_total", "ssdprobe_drive_reallocated_sectors",
			"ssdprobe_drive_pending_sectors", "ssdprobe_drive_uncorrectable_sectors"),
	}
}

// everyQueue makes all interrupts local and enables the series of each queue.
func everyQueue(i *record.Interrupts) {
	i.EveryQueue = true
	for n, q := range i.Queues {
		i.Queues[n].Local, i.Queues[n].Remote = new(q.Count), new(uint64(0))
	}
}

// sataDrive returns a SATA drive below the second target.
func sataDrive() record.Controller {
	passed, temperature, hours, cycles, used, sectors, none := true, 31, int64(12001), int64(37), 0.04, int64(6), int64(0)
	return record.Controller{
		Name: "sda", Kind: record.ControllerDrive, Devices: []string{recordtest.RegressedID}, LastRead: recordtest.Now(),
		Disk: &record.DiskHealth{
			Time: recordtest.Now(), Passed: &passed, TemperatureCelsius: &temperature, PowerOnHours: &hours, PowerCycles: &cycles,
			PercentageUsed: &used, ReallocatedSectors: &sectors, PendingSectors: &none, UncorrectableSectors: &none,
		},
	}
}

// valuesOf returns the series of a controller in a family, by the value of one label.
func valuesOf(t *testing.T, s record.Snapshot, family, controller, label string) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for _, f := range gather(t, s, export.NewLatencies()) {
		if f.GetName() != family {
			continue
		}
		for _, m := range f.GetMetric() {
			key := ""
			for _, l := range m.GetLabel() {
				if l.GetName() == label {
					key = l.GetValue()
				}
			}
			if labelled(m, "controller", controller) {
				values[key] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	return values
}

// Numbers are in base units, and a reading of 0 is exported as 0.
func TestHealthInBaseUnits(t *testing.T) {
	s := recordtest.Snapshot()
	h := s.Controllers[0].Health
	h.Features.Coalescing = &record.Coalescing{Time: 200 * time.Microsecond, Threshold: 11}
	h.Throttling[0] = record.Throttling{Level: "light", Transitions: 3, Time: 90 * time.Second}
	h.CriticalWarnings = []record.CriticalWarning{record.CriticalReadOnly}
	h.SelfTests[0].Outcome, h.SelfTests[0].Failed = "failed", true
	one := func(v float64) map[string]float64 { return map[string]float64{"": v} }
	for _, test := range []struct {
		family, label string
		want          map[string]float64
	}{
		{"data_read_bytes_total", "", one(812_345_678_848_000)},
		{"controller_busy_seconds_total", "", one(34_567 * 60)},
		{"power_on_seconds_total", "", one(11034 * 3600)},
		{"media_errors_total", "", one(0)},
		{"warning_temperature_seconds_total", "", one(0)},
		{"available_spare_threshold_ratio", "", one(0.1)},
		{"percentage_used_ratio", "", one(0.02)},
		{"self_test_failed", "", one(1)},
		{"self_test_failed_power_on_seconds", "", one(10800 * 3600)},
		{"media_dies_tolerated", "", one(2)},
		{"media_dies_offline", "", one(0)},
		{"interrupt_coalescing_time_seconds", "", one(0.0002)},
		{"interrupt_coalescing_threshold", "", one(11)},
		{"remote_interrupts_total", "", one(0)},
		{"io_queues", "", one(16)},
		{"poll_queues", "", one(0)},
		{"health_timestamp_seconds", "", one(float64(recordtest.Now().Add(-21*time.Second).UnixMilli()) / 1e3)},
		{"temperature_celsius", "sensor", map[string]float64{"composite": 38, "1": 38, "2": 46}},
		{"critical_warning", "condition", map[string]float64{
			"available_spare": 0, "temperature": 0, "reliability": 0, "read_only": 1, "volatile_memory_backup": 0, "persistent_memory": 0,
		}},
		{"thermal_transitions_total", "level", map[string]float64{"light": 3, "heavy": 0}},
		{"thermal_seconds_total", "level", map[string]float64{"light": 90, "heavy": 0}},
		{"interrupts_total", "", one(6187 + 16*1_830_000 + 1000*(1+16)*16/2)},
	} {
		assert.Equal(t, test.want, valuesOf(t, s, "ssdprobe_nvme_"+test.family, "nvme0", test.label), test.family)
	}
}

// When the user requests every queue, each has its series, however many there are.
func TestInterruptsOfEveryQueue(t *testing.T) {
	const family = "ssdprobe_nvme_queue_interrupts_total"
	s := recordtest.Snapshot()
	i := s.Controllers[0].Interrupts
	assert.Empty(t, valuesOf(t, s, family, "nvme0", "queue"), "nobody asked")

	everyQueue(i)
	*i.Queues[16].Local, *i.Queues[16].Remote = 7, 5
	found := map[string]float64{}
	for _, f := range gather(t, s, export.NewLatencies()) {
		for _, m := range f.GetMetric() {
			if f.GetName() == family && labelled(m, "queue", "16") {
				assert.True(t, labelled(m, "device", "nvme0n1") && labelled(m, "id", recordtest.HealthyID) && labelled(m, "controller", "nvme0"))
				found[m.GetLabel()[3].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	assert.Equal(t, map[string]float64{"local": 7, "remote": 5}, found)

	i.Queues = nil
	for n := range 1024 {
		i.Queues = append(i.Queues, record.QueueInterrupts{Queue: strconv.Itoa(n), Count: uint64(n), Local: new(uint64(n)), Remote: new(uint64(0))})
	}
	assert.Len(t, valuesOf(t, s, family, "nvme0", "queue"), 1024)

	i.Queues[1023].Local, i.Queues[1023].Remote = nil, nil
	assert.Equal(t, 1023.0, valuesOf(t, s, family, "nvme0", "locality")["unknown"], "its NUMA node is not known")
}

// Values that were not read or are not supported have no series. The time of the last reading remains, to show when
// readings stopped.
func TestHealthThatIsMissing(t *testing.T) {
	only := func(s record.Snapshot) map[string]int {
		s.Controllers = s.Controllers[:1]
		count := map[string]int{}
		for _, f := range gather(t, s, export.NewLatencies()) {
			if strings.HasPrefix(f.GetName(), "ssdprobe_nvme_") {
				count[strings.TrimPrefix(f.GetName(), "ssdprobe_nvme_")] = len(f.GetMetric())
			}
		}
		return count
	}
	s := recordtest.Snapshot()
	all := only(s)
	require.Equal(t, 1, all["interrupts_total"])

	s.Controllers[0].Health = nil
	assert.Equal(t, map[string]int{"health_timestamp_seconds": 1, "interrupts_total": 1, "remote_interrupts_total": 1}, only(s))

	s = recordtest.Snapshot()
	s.Controllers[0].Interrupts = nil
	h := s.Controllers[0].Health
	h.DataReadBytes, h.DataWrittenBytes, h.WarningTemperatureTime, h.CriticalTemperatureTime = nil, nil, nil, nil
	h.Throttling, h.Temperatures, h.Features = nil, nil, record.Features{}
	h.SelfTests, h.MediaDies = nil, nil
	left := only(s)
	for name := range all {
		if _, ok := left[name]; ok {
			delete(all, name)
		}
	}
	assert.Equal(t, map[string]int{
		"data_read_bytes_total": 1, "data_written_bytes_total": 1, "warning_temperature_seconds_total": 1, "critical_temperature_seconds_total": 1,
		"thermal_transitions_total": 2, "thermal_seconds_total": 2, "temperature_celsius": 3, "interrupt_coalescing_time_seconds": 1,
		"self_test_failed": 1, "media_dies_tolerated": 1, "media_dies_offline": 1,
		"interrupt_coalescing_threshold": 1, "io_queues": 1, "poll_queues": 1, "interrupts_total": 1, "remote_interrupts_total": 1,
	}, all)

	s = recordtest.Snapshot()
	s.Controllers[0].Interrupts.Remote = nil
	assert.NotContains(t, only(s), "remote_interrupts_total")
}

func TestADriveThatSleepsHasNoFigures(t *testing.T) {
	s := recordtest.Snapshot()
	s.Controllers = []record.Controller{sataDrive()}
	count := func() map[string]int {
		found := map[string]int{}
		for _, f := range gather(t, s, export.NewLatencies()) {
			if strings.HasPrefix(f.GetName(), "ssdprobe_drive_") && !strings.HasPrefix(f.GetName(), "ssdprobe_drive_health") {
				found[f.GetName()] = len(f.GetMetric())
			}
		}
		return found
	}
	require.Len(t, count(), 10)
	s.Controllers[0].Disk = &record.DiskHealth{Asleep: true}
	assert.Equal(t, map[string]int{"ssdprobe_drive_asleep": 1}, count())
	s.Controllers[0].Disk = nil
	assert.Empty(t, count())
}

// The alert about a failed self-assessment is critical, unless the reason is heat.
func TestWhetherOnlyHeatFailsADrive(t *testing.T) {
	hot := func(disk record.DiskHealth) string {
		s := recordtest.Snapshot()
		s.Controllers = []record.Controller{sataDrive()}
		s.Controllers[0].Disk = &disk
		_, text := exposition(t, gather(t, s, export.NewLatencies()))
		found := regexp.MustCompile(`(?m)^ssdprobe_drive_too_hot{.*} (\d+)$`).FindStringSubmatch(text)
		if found == nil {
			return "absent"
		}
		return found[1]
	}
	assert.Equal(t, "0", hot(record.DiskHealth{Passed: new(true)}))
	assert.Equal(t, "1", hot(record.DiskHealth{Passed: new(false), Reason: "warning - specified temperature exceeded", TooHot: true}))
	assert.Equal(t, "0", hot(record.DiskHealth{Passed: new(false), Reason: "FAILURE PREDICTION THRESHOLD EXCEEDED"}))
	assert.Equal(t, "absent", hot(record.DiskHealth{Passed: new(false)}), "a SATA drive does not say why")
	assert.Equal(t, "absent", hot(record.DiskHealth{PowerCycles: new(int64)}), "a drive without a self-assessment")
}

// The alert about growing errors would fire each time that the drive's firmware counts a sector which is none.
func TestAPendingSectorThatComesAndGoesByItself(t *testing.T) {
	pending := func(sectors int64, flips bool) string {
		s := recordtest.Snapshot()
		s.Controllers = []record.Controller{sataDrive()}
		s.Controllers[0].Disk.PendingSectors, s.Controllers[0].Disk.PendingFlips = &sectors, flips
		_, text := exposition(t, gather(t, s, export.NewLatencies()))
		return regexp.MustCompile(`(?m)^ssdprobe_drive_pending_sectors{.*} (\d+)$`).FindStringSubmatch(text)[1]
	}
	assert.Equal(t, "0", pending(1, true))
	assert.Equal(t, "1", pending(1, false), "of a drive that counts well")
	assert.Equal(t, "2", pending(2, true), "more than it invents")
}

// owned returns which controllers have series, and for which target.
func owned(t *testing.T, s record.Snapshot) []string {
	t.Helper()
	var owners []string
	for _, f := range gather(t, s, export.NewLatencies()) { // fails when two series are the same
		if f.GetName() != "ssdprobe_nvme_media_errors_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			owners = append(owners, strings.Join(labels, " "))
		}
	}
	return owners
}

func TestAControllerHasItsSeriesOnce(t *testing.T) {
	s := recordtest.Snapshot()
	assert.Equal(t, []string{"nvme0 nvme0n1 " + recordtest.HealthyID, "nvme1 nvme1n1 " + recordtest.RegressedID}, owned(t, s),
		"the file on nvme0n1 does not have them again")

	t.Run("of two namespaces the first has them", func(t *testing.T) {
		s := recordtest.Snapshot()
		s.Controllers[0].Devices = append(s.Controllers[0].Devices, recordtest.RegressedID)
		s.Controllers = s.Controllers[:1]
		assert.Equal(t, []string{"nvme0 nvme0n1 " + recordtest.HealthyID}, owned(t, s))
		s.Targets = s.Targets[1:]
		assert.Equal(t, []string{"nvme0 nvme1n1 " + recordtest.RegressedID}, owned(t, s), "and the next one when that is not watched")
	})
	t.Run("a drive with two ports has those of both", func(t *testing.T) {
		s := recordtest.Snapshot()
		s.Controllers[1].Devices = s.Controllers[0].Devices
		assert.Equal(t, []string{"nvme0 nvme0n1 " + recordtest.HealthyID, "nvme1 nvme0n1 " + recordtest.HealthyID}, owned(t, s))
	})
	t.Run("a file has them when its device is not watched", func(t *testing.T) {
		s := recordtest.Snapshot()
		s.Targets = s.Targets[2:]
		assert.Equal(t, []string{"nvme0 nvme0n1 " + recordtest.FileID}, owned(t, s))
	})
	t.Run("listed twice it still has them once", func(t *testing.T) {
		s := recordtest.Snapshot()
		s.Controllers[1].Name = "nvme0"
		assert.Equal(t, []string{"nvme0 nvme0n1 " + recordtest.HealthyID}, owned(t, s))
	})
	t.Run("a virtio device has none", func(t *testing.T) {
		s := recordtest.Snapshot()
		s.Controllers[0].Kind = record.ControllerVirtio
		assert.Len(t, owned(t, s), 1)
	})
	t.Run("one of nothing watched has none", func(t *testing.T) {
		s := recordtest.Snapshot()
		s.Targets = nil
		assert.Empty(t, owned(t, s))
	})
}
