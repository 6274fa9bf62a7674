package health

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssdprobe/ssdprobe/internal/record"
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
			DataReadBytes: &one, DataWrittenBytes: &one, HostReadCommands: one, HostWriteCommands: one,
			ControllerBusyMinutes: one, PowerCycles: one, PowerOnHours: one, UnsafeShutdowns: one, MediaErrors: one,
			ErrorLogEntries: one, WarningTemperatureTime: time.Minute, CriticalTemperatureTime: time.Minute,
			ThermalTransitions: [2]uint32{1, 1}, ThermalTime: [2]time.Duration{time.Second, time.Second},
		}
	}
	recordtest.EachField(t, fresh, func(field string, without nvme.SMART) {
		assert.NotEqual(t, ofSMART(fresh(), nvme.Controller{}), ofSMART(without, nvme.Controller{}), "%s is not read", field)
	})
}

// A drive with endurance groups may say of a group alone what others say of the whole drive.
func TestWarningsOfEnduranceGroups(t *testing.T) {
	for group, want := range map[nvme.EnduranceGroupWarnings][]record.CriticalWarning{
		0:                            nil,
		nvme.GroupWarningSpare:       {record.CriticalSpare},
		nvme.GroupWarningReliability: {record.CriticalReliability},
		nvme.GroupWarningReadOnly:    {record.CriticalReadOnly},
		1<<1 | 1<<4 | 1<<5:           nil, // reserved bits
	} {
		h := ofSMART(nvme.SMART{CriticalWarnings: nvme.WarningBackup, EnduranceGroupWarnings: group}, nvme.Controller{})
		assert.Equal(t, []record.CriticalWarning{record.CriticalBackup}, h.CriticalWarnings)
		assert.Equal(t, want, h.GroupWarnings)
	}
	both := ofSMART(nvme.SMART{CriticalWarnings: nvme.WarningReadOnly, EnduranceGroupWarnings: nvme.GroupWarningReadOnly}, nvme.Controller{})
	assert.Equal(t, []record.CriticalWarning{record.CriticalReadOnly}, both.CriticalWarnings)
	assert.Empty(t, both.GroupWarnings, "said of the whole drive")
}

// The time above the warning temperature stays 0 for a drive that lacks either of the two temperatures.
func TestTimesThatADriveCannotCount(t *testing.T) {
	degrees := nvme.Celsius(70)
	zero, counted := new(time.Duration), new(time.Minute)
	for _, c := range []struct {
		warning, critical         *nvme.Celsius
		time                      time.Duration
		wantWarning, wantCritical *time.Duration
	}{
		{&degrees, &degrees, 0, zero, zero},
		{&degrees, nil, 0, nil, nil},
		{nil, &degrees, 0, nil, zero},
		{nil, nil, 0, nil, nil},
		{&degrees, nil, time.Minute, counted, counted}, // it does, whatever it says
	} {
		h := ofSMART(nvme.SMART{PowerCycles: nvme.Uint128{Low: 1}, WarningTemperatureTime: c.time, CriticalTemperatureTime: c.time},
			nvme.Controller{WarningTemperature: c.warning, CriticalTemperature: c.critical})
		assert.Equal(t, c.wantWarning, h.WarningTemperatureTime)
		assert.Equal(t, c.wantCritical, h.CriticalTemperatureTime)
	}
}

// Samsung and others set the bit of reliability when the rated endurance is used. That alone is no reason to replace a drive at once.
func TestADriveThatIsOnlyUsedUp(t *testing.T) {
	usedUp := nvme.SMART{CriticalWarnings: nvme.WarningReliability, AvailableSpare: 100, AvailableSpareThreshold: 10, PercentageUsed: 100}
	for name, c := range map[string]struct {
		change func(*nvme.SMART)
		want   []record.CriticalWarning
	}{
		"only that":                   {func(*nvme.SMART) {}, []record.CriticalWarning{record.CriticalEndurance}},
		"long ago":                    {func(s *nvme.SMART) { s.PercentageUsed = 255 }, []record.CriticalWarning{record.CriticalEndurance}},
		"as many spares as allowed":   {func(s *nvme.SMART) { s.AvailableSpare = 10 }, []record.CriticalWarning{record.CriticalEndurance}},
		"not quite":                   {func(s *nvme.SMART) { s.PercentageUsed = 99 }, []record.CriticalWarning{record.CriticalReliability}},
		"and with an error":           {func(s *nvme.SMART) { s.MediaErrors.Low = 1 }, []record.CriticalWarning{record.CriticalReliability}},
		"and with few spares":         {func(s *nvme.SMART) { s.AvailableSpare = 9 }, []record.CriticalWarning{record.CriticalReliability}},
		"and with few, as it says":    {func(s *nvme.SMART) { s.CriticalWarnings |= nvme.WarningSpare }, []record.CriticalWarning{record.CriticalSpare, record.CriticalReliability}},
		"and with few in a group":     {func(s *nvme.SMART) { s.EnduranceGroupWarnings = nvme.GroupWarningSpare }, []record.CriticalWarning{record.CriticalReliability}},
		"and it counts no errors":     {func(s *nvme.SMART) { s.AvailableSpare, s.AvailableSpareThreshold = 0, 0 }, []record.CriticalWarning{record.CriticalReliability}},
		"and it says nothing of that": {func(s *nvme.SMART) { s.CriticalWarnings = 0 }, []record.CriticalWarning{}},
	} {
		s := usedUp
		c.change(&s)
		assert.Equal(t, c.want, ofSMART(s, nvme.Controller{}).CriticalWarnings, name)
	}
}

// Volumes of Amazon, and drives that Linux exports, fill in little of the log or nothing. What they leave at 0 is not known:
// neither is a volume unworn, nor was it never switched on. A blank log does not say that all is well.
func TestALogThatIsNotFilledIn(t *testing.T) {
	h := ofSMART(nvme.SMART{}, nvme.Controller{})
	assert.Equal(t, record.Health{Temperatures: []record.Temperature{}}, h)
	warm := nvme.Celsius(80)
	h = ofSMART(nvme.SMART{}, nvme.Controller{WarningTemperature: &warm, CriticalTemperature: &warm, HostThermalManagement: true})
	assert.Equal(t, record.Health{Temperatures: []record.Temperature{}}, h)

	exported := ofSMART(nvme.SMART{HostReadCommands: nvme.Uint128{Low: 7}, DataReadBytes: &nvme.Uint128{Low: 512_000}}, nvme.Controller{})
	assert.Equal(t, record.Health{
		CriticalWarnings: []record.CriticalWarning{}, Temperatures: []record.Temperature{},
		ControllerBusy: new(time.Duration), ErrorLogEntries: new(uint64(0)),
		HostReadCommands: new(uint64(7)), HostWriteCommands: new(uint64(0)), DataReadBytes: new(uint64(512_000)), DataWrittenBytes: new(uint64(0)),
	}, exported)

	brandNew := ofSMART(nvme.SMART{AvailableSpare: 100, AvailableSpareThreshold: 10, PowerCycles: nvme.Uint128{Low: 1}}, nvme.Controller{})
	assert.Equal(t, new(0.0), brandNew.PercentageUsed)
	assert.Equal(t, new(time.Duration), brandNew.PowerOn)
	assert.Equal(t, new(uint64(0)), brandNew.UnsafeShutdowns)
	assert.Equal(t, new(uint64(0)), brandNew.MediaErrors)
}

// A path of a namespace that is inaccessible (ANA) reports no block in use. That is not a namespace without data.
func TestAllocationOverAPathWithoutAccess(t *testing.T) {
	namespace := func(used uint64) nvme.Namespace {
		return nvme.Namespace{SizeBlocks: 1000, CapacityBlocks: 1000, UtilizationBlocks: used, Format: nvme.LBAFormat{DataBytes: 512}}
	}
	paths := nvme.Controller{AsymmetricAccess: true}
	assert.Nil(t, allocated(namespace(0), paths))
	assert.Equal(t, new(uint64(512)), allocated(namespace(1), paths))
	assert.Equal(t, new(uint64(0)), allocated(namespace(0), nvme.Controller{}))
	assert.Equal(t, new(uint64(0)), allocated(nvme.Namespace{SizeBlocks: 1000}, paths), "nothing can be in use")
}

// Only errors of the driver make a controller be asked anew. That ssdprobe gave up waiting says nothing about the controller.
func TestErrorsAfterWhichAControllerIsAskedAnew(t *testing.T) {
	refused := func(status nvme.Status) error { return &nvme.StatusError{Status: status} }
	for err, want := range map[error]bool{
		nil: false, fs.ErrNotExist: true, syscall.EIO: true, nvme.ErrNotLive: true, nvme.ErrCancelled: true,
		fs.ErrPermission: false, errors.ErrUnsupported: false, context.DeadlineExceeded: false, context.Canceled: false,
		refused(0x0006): false, refused(0x0370): true, refused(0x0371): true,
		errors.Join(context.DeadlineExceeded, nvme.ErrCancelled): true,
	} {
		assert.Equal(t, want, gone(err), err)
	}
}
