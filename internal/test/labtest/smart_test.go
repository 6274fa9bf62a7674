package labtest_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/test/lab"
)

// freezing is 0 °C in kelvin, rounded as NVMe drives do.
const freezing = 273

// smart returns what ssdprobe reports about a controller, or about the controllers of a device.
func smart(t *testing.T, m *lab.Machine, name string) []report.SmartRow {
	t.Helper()
	var rows []report.SmartRow
	result := ssdprobe(t, m, &rows, "smart", name, "--output", "json")
	require.NotEqual(t, 1, result.ExitCode, result.Stderr)
	return rows
}

// testSmart compares each field of the health with nvme-cli, on controllers that are idle
// meanwhile: a value that nvme-cli reads twice without a change is stable.
func testSmart(t *testing.T, m *lab.Machine) {
	ids := map[string]string{}
	for _, drive := range []string{plain, dual, remote} {
		ids[drive] = identity(t, m, drive)
	}
	d := startDaemon(t, m, configuration(t, m, 0, noProbes+watching(ids[plain], ids[dual], ids[remote])))
	for drive, id := range ids {
		rows := smart(t, m, disk(t, m, drive).Node())
		require.Len(t, rows, len(disk(t, m, drive).Controllers), drive)
		for i, name := range disk(t, m, drive).Controllers {
			before := nvme(t, m, "smart-log", "/dev/"+name)
			shown := smart(t, m, name)
			exported := d.awaitReading(t, name)
			require.Equal(t, before, nvme(t, m, "smart-log", "/dev/"+name), "the drive is at rest")

			identify := nvme(t, m, "id-ctrl", "/dev/"+name)
			require.Len(t, shown, 1)
			c := shown[0].Controller
			require.NotNil(t, c.Health)
			compareHealth(t, before, identify, *c.Health)
			assert.Equal(t, name, c.Name)
			assert.Equal(t, []string{id}, c.Devices)
			c.Health.Time = rows[i].Controller.Health.Time
			assert.Equal(t, rows[i].Controller.Health, c.Health, "the same by way of the device")
			compareSeries(t, exported, labels{"controller": name, "id": id}, before)
		}
	}
	d.stop(t)
}

// compareHealth compares what ssdprobe decoded with the fields of nvme-cli.
func compareHealth(t *testing.T, log, identify fields, got record.Health) {
	t.Helper()
	ratio := func(name string) float64 { return float64(log.number(t, name)) / 100 }
	bytes := func(name string) *uint64 { return new(log.number(t, name) * 512_000) }
	minutes := func(name string) *time.Duration { return new(time.Duration(log.number(t, name)) * time.Minute) }
	known := func(name string) *uint64 {
		if !reported(t, log, name) {
			return nil
		}
		return new(log.number(t, name))
	}
	warning := int(identify.number(t, "wctemp")) - freezing
	critical := int(identify.number(t, "cctemp")) - freezing
	version := identify.number(t, "ver")
	want := record.Health{
		Time: got.Time,
		Identity: record.ControllerIdentity{
			Model: identify.text(t, "mn"), Serial: identify.text(t, "sn"), Firmware: identify.text(t, "fr"),
			VendorID: uint16(identify.number(t, "vid")), ControllerID: uint16(identify.number(t, "cntlid")),
			Revision:           strconv.FormatUint(version>>16, 10) + "." + strconv.FormatUint(version>>8&0xff, 10),
			WarningTemperature: &warning, CriticalTemperature: &critical,
		},
		CriticalWarnings: warningsOf(log.number(t, "critical_warning")),
		Temperatures:     []record.Temperature{{Sensor: record.CompositeSensor, Celsius: int(log.number(t, "temperature")) - freezing}},
		DataReadBytes:    bytes("data_units_read"), DataWrittenBytes: bytes("data_units_written"),
		HostReadCommands: known("host_read_commands"), HostWriteCommands: known("host_write_commands"),
		ControllerBusy: minutes("controller_busy_time"), ErrorLogEntries: new(log.number(t, "num_err_log_entries")),
		PowerCycles: known("power_cycles"), UnsafeShutdowns: known("unsafe_shutdowns"), MediaErrors: known("media_errors"),
		WarningTemperatureTime: minutes("warning_temp_time"), CriticalTemperatureTime: minutes("critical_comp_time"),
		Features: got.Features, Namespaces: got.Namespaces, // compared elsewhere
	}
	if known("percent_used") != nil {
		want.PercentageUsed = new(ratio("percent_used"))
	}
	if hours := known("power_on_hours"); hours != nil {
		want.PowerOn = new(time.Duration(*hours) * time.Hour)
	}
	if left, threshold := ratio("avail_spare"), ratio("spare_thresh"); left > 0 || threshold > 0 {
		want.AvailableSpare, want.AvailableSpareThreshold = &left, &threshold
	}
	if identify.number(t, "hctma")&1 != 0 {
		for i, level := range []string{"light", "heavy"} {
			name := fmt.Sprintf("thm_temp%d_", i+1)
			want.Throttling = append(want.Throttling, record.Throttling{
				Level: level, Transitions: log.number(t, name+"trans_count"), Time: time.Duration(log.number(t, name+"total_time")) * time.Second,
			})
		}
	}
	assert.Equal(t, want, got)
}

// reported reports whether a drive that was used tells the field: QEMU leaves some at 0 that are above 0 for a real drive.
func reported(t *testing.T, log fields, name string) bool {
	t.Helper()
	media, switched := log.number(t, "avail_spare")+log.number(t, "spare_thresh") > 0, log.number(t, "power_cycles") > 0
	unless, some := map[string]bool{
		"percent_used": media, "media_errors": media || switched,
		"power_cycles": false, "power_on_hours": switched, "unsafe_shutdowns": switched,
	}[name]
	return log.number(t, name) > 0 || unless || !some
}

// warningsOf returns the names of the bits of the critical warning, NVM Express Base Specification 2.0, figure 207.
func warningsOf(bits uint64) []record.CriticalWarning {
	list := []record.CriticalWarning{}
	for i, w := range record.CriticalWarnings() {
		if bits&(1<<i) != 0 {
			list = append(list, w)
		}
	}
	return list
}

// compareSeries compares each series of a controller's health with nvme-cli.
func compareSeries(t *testing.T, now metrics, of labels, log fields) {
	t.Helper()
	for family, want := range map[string]float64{
		"ssdprobe_nvme_data_read_bytes_total":              float64(log.number(t, "data_units_read") * 512_000),
		"ssdprobe_nvme_data_written_bytes_total":           float64(log.number(t, "data_units_written") * 512_000),
		"ssdprobe_nvme_host_read_commands_total":           float64(log.number(t, "host_read_commands")),
		"ssdprobe_nvme_host_write_commands_total":          float64(log.number(t, "host_write_commands")),
		"ssdprobe_nvme_controller_busy_seconds_total":      float64(log.number(t, "controller_busy_time") * 60),
		"ssdprobe_nvme_error_log_entries_total":            float64(log.number(t, "num_err_log_entries")),
		"ssdprobe_nvme_warning_temperature_seconds_total":  float64(log.number(t, "warning_temp_time") * 60),
		"ssdprobe_nvme_critical_temperature_seconds_total": float64(log.number(t, "critical_comp_time") * 60),
	} {
		assert.Equal(t, want, now.must(t, family, of), family)
	}
	for family, field := range map[string]struct {
		name   string
		factor float64
	}{
		"ssdprobe_nvme_percentage_used_ratio":  {"percent_used", 0.01},
		"ssdprobe_nvme_power_cycles_total":     {"power_cycles", 1},
		"ssdprobe_nvme_power_on_seconds_total": {"power_on_hours", 3600},
		"ssdprobe_nvme_unsafe_shutdowns_total": {"unsafe_shutdowns", 1},
		"ssdprobe_nvme_media_errors_total":     {"media_errors", 1},
	} {
		got, shown := now.value(t, family, of)
		assert.Equal(t, reported(t, log, field.name), shown, family)
		assert.InDelta(t, float64(log.number(t, field.name))*field.factor, got, 1e-9, family)
	}
	for name, family := range map[string]string{
		"avail_spare": "ssdprobe_nvme_available_spare_ratio", "spare_thresh": "ssdprobe_nvme_available_spare_threshold_ratio",
	} {
		got, shown := now.value(t, family, of)
		assert.Equal(t, log.number(t, "avail_spare")+log.number(t, "spare_thresh") > 0, shown, family)
		assert.Equal(t, float64(log.number(t, name))/100, got, family)
	}
	assert.Equal(t, float64(log.number(t, "temperature"))-freezing,
		now.must(t, "ssdprobe_nvme_temperature_celsius", of.with("sensor", "composite")))
	for i, w := range record.CriticalWarnings() {
		assert.Equal(t, float64(log.number(t, "critical_warning")>>i&1),
			now.must(t, "ssdprobe_nvme_critical_warning", of.with("condition", string(w))), w)
	}
}

// testFeatures compares the settings of a controller with nvme-cli and sysfs, and changes those that can be changed.
func testFeatures(t *testing.T, m *lab.Machine) {
	id, name := identity(t, m, plain), disk(t, m, plain).Controllers[0]
	d := startDaemon(t, m, configuration(t, m, 0, noProbes+watching(id)))
	compare := func() record.Features {
		t.Helper()
		shown := smart(t, m, name)[0].Controller.Health
		require.NotNil(t, shown)
		want := features(t, m, name)
		assert.Equal(t, want, shown.Features)
		now, of := d.awaitReading(t, name), labels{"controller": name}
		assert.Equal(t, want.Coalescing.Time.Seconds(), now.must(t, "ssdprobe_nvme_interrupt_coalescing_time_seconds", of))
		assert.Equal(t, float64(want.Coalescing.Threshold), now.must(t, "ssdprobe_nvme_interrupt_coalescing_threshold", of))
		assert.Equal(t, float64(*want.IOQueues), now.must(t, "ssdprobe_nvme_io_queues", of))
		assert.Equal(t, float64(*want.PollQueues), now.must(t, "ssdprobe_nvme_poll_queues", of))

		blocks, blockBytes := namespaceSize(t, m, disk(t, m, plain).Node())
		used := nvme(t, m, "id-ns", disk(t, m, plain).Node()).number(t, "nuse")
		assert.Equal(t, []record.NamespaceHealth{{
			ID: 1, SizeBytes: blocks * blockBytes, AllocatedBytes: new(used * blockBytes), BlockBytes: blockBytes,
		}}, shown.Namespaces)
		return want
	}
	before := compare()
	require.NotNil(t, before.WriteCache)
	require.True(t, *before.WriteCache)
	assert.Equal(t, 1, *before.PollQueues, "as the kernel was told")
	setWriteCache := func(ctx context.Context, value string) {
		_, err := m.Output(ctx, "nvme", "set-feature", "/dev/"+name, "--feature-id=6", "--value="+value)
		assert.NoError(t, err)
	}
	t.Cleanup(func() { setWriteCache(afterwards(t), "1") })
	setWriteCache(bounded(t), "0")
	after := compare()
	assert.False(t, *after.WriteCache)
	eventually(t, "the write cache is seen to change", func() bool {
		_, ok := d.scrape(t).value(t, "ssdprobe_conditions_changed_timestamp_seconds", labels{"id": id, "condition": "drive_cache"})
		return ok
	})
	d.awaitLog(t, "condition=drive_cache from=on to=off")
	d.stop(t)
}

// features returns the features from nvme-cli, with the queues from sysfs and /proc/interrupts.
func features(t *testing.T, m *lab.Machine, controller string) record.Features {
	t.Helper()
	var f record.Features
	if v, ok := feature(t, m, controller, 0x08); ok {
		f.Coalescing = &record.Coalescing{Threshold: int(v&0xff) + 1, Time: time.Duration(v>>8&0xff) * 100 * time.Microsecond}
	}
	if v, ok := feature(t, m, controller, 0x06); ok {
		f.WriteCache = new(v&1 != 0)
	}
	if v, ok := feature(t, m, controller, 0x07); ok {
		f.AllocatedQueues = new(int(min(v&0xffff, v>>16)) + 1)
	}
	if v, ok := feature(t, m, controller, 0x02); ok {
		f.PowerState = new(int(v & 0x1f))
	}
	if nvme(t, m, "id-ctrl", "/dev/"+controller).number(t, "apsta") != 0 {
		require.Fail(t, "this QEMU changes power states by itself: compare that too")
	}
	queues := number(t, m, "/sys/class/nvme", controller, "queue_count") - 1
	f.IOQueues = &queues
	f.PollQueues = new(queues - (len(interrupts(t, m, controller)) - 1))
	return f
}

// testCriticalWarning sets bits from outside.
func testCriticalWarning(t *testing.T, m *lab.Machine) {
	id, name := identity(t, m, plain), disk(t, m, plain).Controllers[0]
	d := startDaemon(t, m, configuration(t, m, 0, noProbes+watching(id)))
	rest := nvme(t, m, "smart-log", "/dev/"+name).number(t, "critical_warning")
	for _, bits := range []uint8{0x04, 0x08 | 0x01} {
		require.NoError(t, m.SetCriticalWarning(bounded(t), plain, bits))
		want := nvme(t, m, "smart-log", "/dev/"+name).number(t, "critical_warning")
		require.Equal(t, uint64(bits), want&uint64(bits), "nvme-cli sees it")
		require.NotEqual(t, want, rest, "another value than at rest")

		now := d.awaitReading(t, name)
		for i, w := range record.CriticalWarnings() {
			assert.Equal(t, float64(want>>i&1), now.must(t, "ssdprobe_nvme_critical_warning", labels{"id": id, "condition": string(w)}), w)
		}
		assert.Equal(t, 1.0, now.must(t, "ssdprobe_finding", labels{"id": id, "code": record.WarnDriveCritical}))
		var rows []report.SmartRow
		result := ssdprobe(t, m, &rows, "smart", name, "-o", "json")
		assert.Equal(t, 3, result.ExitCode, "the drive itself says that something is wrong")
		assert.Equal(t, warningsOf(want), rows[0].Controller.Health.CriticalWarnings)
		assert.NotEmpty(t, rows[0].Controller.Warnings)
	}
	d.stop(t)
}
