package nvme_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/pkg/nvme"
	"github.com/ssdprobe/ssdprobe/pkg/nvme/nvmetest"
)

// Offsets in the Identify Controller page that decide what a controller supports.
const (
	offsetSN        = 4
	offsetMN        = 24
	offsetFR        = 64
	offsetVER       = 80
	offsetCTRATT    = 96
	offsetCNTRLTYPE = 111
	offsetOACS      = 256
	offsetLPA       = 261
	offsetELPE      = 262
	offsetAPSTA     = 265
	offsetHCTMA     = 322
	offsetENDGIDMAX = 340
	offsetNN        = 516
	offsetONCS      = 520
	offsetVWC       = 525
	offsetIOCCSZ    = 1792
)

// Almost all tests send these commands.
var (
	identifyController = nvme.IdentifyCommand(nvme.IdentifyController, 0)
	smartLog           = logPage(nvme.LogSMART)
)

func logPage(page nvme.LogPage) nvme.Command {
	return nvme.LogPageCommand(nvme.LogPageRequest{Page: page, Bytes: 512})
}

func getFeature(f nvme.Feature, dword11 uint32) nvme.Command {
	return nvme.GetFeatureCommand(f, nvme.SelectCurrent, dword11)
}

// identifyPage returns the page of QEMU's controller, revision 1.4, with some bytes changed.
func identifyPage(t testing.TB, changes map[int][]byte) []byte {
	t.Helper()
	page, err := os.ReadFile("testdata/captured/identify-controller.bin")
	require.NoError(t, err)
	for offset, value := range changes {
		copy(page[offset:], value)
	}
	return page
}

// drive returns a scripted controller that only identifies itself so far.
func drive(t testing.TB, changes map[int][]byte) (*nvme.Device, *nvmetest.Script) {
	t.Helper()
	script := nvmetest.New(t)
	script.On(identifyController).Return(identifyPage(t, changes))
	return nvme.NewDevice(script), script
}

func TestControllerIsAskedOnceForWhatItSupports(t *testing.T) {
	d, script := drive(t, nil)
	script.On(smartLog).Return([]byte{0x02, 0x2C, 0x01})
	for range 2 {
		smart, err := d.SMART()
		require.NoError(t, err)
		assert.Equal(t, nvme.SMART{CriticalWarnings: nvme.WarningTemperature, Temperature: new(nvme.Celsius(27))}, smart)
	}
	assert.Equal(t, []nvme.Command{identifyController, smartLog, smartLog}, script.Sent(), "without RAE: some drives answer zeros then")
}

// TestTimeoutOfTheDevice: without one, that of the driver applies, which an administrator may have raised (admin_timeout of nvme_core).
func TestTimeoutOfTheDevice(t *testing.T) {
	d, script := drive(t, nil)
	for _, timeout := range []time.Duration{0, 5 * time.Minute} {
		if timeout != 0 {
			d.Timeout = timeout
		}
		_, err := d.Controller()
		require.NoError(t, err)
		sent := script.Sent()
		assert.Equal(t, timeout, sent[len(sent)-1].Timeout)
	}
}

func TestRefusedCommandsAreNotRepeated(t *testing.T) {
	for _, c := range []struct {
		name   string
		status nvme.Status
		sent   int // of 3 attempts
		is     error
	}{
		{"do not retry", 0x410A, 1, nil},
		{"do not retry, by the vendor", 0x4755, 1, nil},
		{"do not retry, denied", 0x4015, 1, fs.ErrPermission},
		{"internal error, whatever it says", 0x4006, 3, nil}, // of a drive until its reset; nvmet without memory
		{"until the controller is ready", 0x400C, 3, nil},    // nvmet_check_ctrl_status
		{"of reading the log from the media", 0x4281, 3, nil},
		{"not implemented, without saying do not retry", 0x0109, 1, errors.ErrUnsupported},
		{"passing", 0x0006, 3, nil},
		{"until a sanitize operation ends", 0x401D, 3, nil},
		{"until a failed sanitize operation is done again", 0x401C, 3, nil},
		{"until the media are ready", 0x4024, 3, nil},
		{"until the namespace is ready", 0x4082, 3, nil},
		{"until a format ends", 0x4084, 3, nil},
		{"until a self-test ends", 0x411D, 3, nil},
		{"of the path, which may come back", 0x4370, 3, nvme.ErrNotLive},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, script := drive(t, nil)
			script.On(smartLog).Refuse(c.status)
			for attempt := range 3 {
				_, err := d.SMART()
				var refusal *nvme.StatusError
				require.ErrorAs(t, err, &refusal)
				assert.Equal(t, c.status, refusal.Status)
				assert.Equal(t, attempt > 0 && c.sent == 1, refusal.Remembered)
				if c.is != nil {
					require.ErrorIs(t, err, c.is)
				}
			}
			assert.Len(t, script.Sent(), 1+c.sent)
		})
	}
}

// TestRefusedChangesAreTriedAgain: what forbids a change, such as a lock, may have ended.
func TestRefusedChangesAreTriedAgain(t *testing.T) {
	d, script := drive(t, map[int][]byte{offsetOACS: {2, 0}, offsetONCS: {0, 0}})
	script.On(nvme.SetFeatureCommand(nvme.FeatureVolatileWriteCache, 1, nvme.UntilReset)).Refuse(0x4002).Result(0)
	script.On(nvme.IdentifyCommand(nvme.IdentifyNamespace, 1)).Return(namespacePage(1, 0, 0))
	script.On(nvme.Command{Opcode: nvme.OpcodeFormatNVM, NamespaceID: 1, Dword10: 0x200}).Refuse(0x410A).Result(0)
	for name, change := range map[string]func() error{
		"a feature": func() error { return nvme.NewFeatureWriter(d).SetWriteCache(true, nvme.UntilReset) },
		"a format":  func() error { return nvme.NewFormatter(d).Format(1, time.Hour) },
	} {
		var refusal *nvme.StatusError
		require.ErrorAs(t, change(), &refusal, name)
		require.NoError(t, change(), name)
	}
}

// TestANamespaceMayChange: a namespace of another command set may be replaced by one that answers.
func TestANamespaceMayChange(t *testing.T) {
	d, script := drive(t, nil)
	script.On(nvme.IdentifyCommand(nvme.IdentifyNamespace, 1)).Refuse(0x412C).Return(namespacePage(1, 0, 0))
	_, err := d.Namespace(1)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = d.Namespace(1)
	require.NoError(t, err)
}

// TestANamespaceMayAppear: a Linux target refuses the identifiers of an id without a namespace for good
// (nvmet_execute_identify_desclist), also if there is one later.
func TestANamespaceMayAppear(t *testing.T) {
	d, script := drive(t, nil)
	script.On(nvme.IdentifyCommand(nvme.IdentifyNamespaceIdentifiers, 1)).Refuse(0x400B).Return([]byte{4, 1, 0, 0, 2})
	_, err := d.NamespaceIdentifiers(1)
	require.ErrorIs(t, err, fs.ErrNotExist)
	ids, err := d.NamespaceIdentifiers(1)
	require.NoError(t, err)
	assert.Equal(t, nvme.CommandSetZoned, *ids.CommandSet)
}

func TestRefusalHoldsForWhatWasAskedOnly(t *testing.T) {
	d, script := drive(t, map[int][]byte{offsetCTRATT: {0x10, 0}, offsetENDGIDMAX: {2}})
	group := func(id uint16) nvme.Command {
		return nvme.LogPageCommand(nvme.LogPageRequest{Page: nvme.LogEnduranceGroup, Bytes: 512, Identifier: id})
	}
	script.On(group(1)).Refuse(0x4002)
	script.On(group(2)).Return([]byte{0x01})
	_, err := d.EnduranceGroup(1)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	got, err := d.EnduranceGroup(2)
	require.NoError(t, err)
	assert.Equal(t, nvme.GroupWarningSpare, got.CriticalWarnings)
}

func TestNewFirmwareIsAskedAnew(t *testing.T) {
	d, script := drive(t, nil)
	script.On(identifyController).Return(identifyPage(t, map[int][]byte{offsetFR: []byte("2.0     ")}))
	script.On(smartLog).Refuse(0x4109).Return([]byte{0x01})
	_, err := d.SMART()
	require.ErrorIs(t, err, errors.ErrUnsupported)
	c, err := d.Controller()
	require.NoError(t, err)
	assert.Equal(t, "2.0", c.FirmwareRevision)
	_, err = d.SMART()
	require.NoError(t, err)
}

// A node that is opened again may lead to another controller, which has taken the name.
func TestFollow(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes map[int][]byte
		anew    bool
	}{
		{"the same controller", nil, false},
		{"another drive of the model", map[int][]byte{offsetSN: []byte("OTHER")}, true},
		{"another model", map[int][]byte{offsetMN: []byte("OTHER")}, true},
		{"other firmware", map[int][]byte{offsetFR: []byte("2.0     ")}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			first, script := drive(t, nil)
			script.On(smartLog).Refuse(0x4109)
			_, err := first.SMART()
			require.ErrorIs(t, err, errors.ErrUnsupported)

			// The next one does not learn who it is.
			script = nvmetest.New(t)
			script.On(identifyController).Fail(nvme.ErrCancelled)
			second := nvme.NewDevice(script)
			second.Follow(first)
			_, err = second.Controller()
			require.ErrorIs(t, err, nvme.ErrCancelled)

			third, script := drive(t, c.changes)
			script.On(smartLog).Return([]byte{0x01})
			third.Follow(second)
			_, err = third.SMART()
			if c.anew {
				require.NoError(t, err)
				assert.Len(t, script.Sent(), 2)
				return
			}
			var refusal *nvme.StatusError
			require.ErrorAs(t, err, &refusal)
			assert.True(t, refusal.Remembered)
			assert.Equal(t, []nvme.Command{identifyController}, script.Sent())
		})
	}
}

func TestDriverErrorsAreNotRemembered(t *testing.T) {
	d, script := drive(t, nil)
	script.On(smartLog).Fail(nvme.ErrCancelled).Return([]byte{0x01})
	_, err := d.SMART()
	require.ErrorIs(t, err, nvme.ErrCancelled)
	require.EqualError(t, err, "get log page 02h: given up by the driver")
	_, err = d.SMART()
	require.NoError(t, err)
}

// TestUnsupportedIsNotSent: the script fails the test for any command but Identify
// Controller.
func TestUnsupportedIsNotSent(t *testing.T) {
	discovery := map[int][]byte{offsetCNTRLTYPE: {byte(nvme.ControllerTypeDiscovery)}}
	for _, c := range []struct {
		name    string
		changes map[int][]byte
		call    func(*nvme.Device) error
	}{
		{"smart of a discovery controller", discovery, smart},
		{"firmware slots of a discovery controller", discovery, func(d *nvme.Device) error { return second(d.FirmwareSlots()) }},
		{"error log of a discovery controller", discovery, func(d *nvme.Device) error { return second(d.ErrorLog(1)) }},
		{"power management of a discovery controller", discovery, func(d *nvme.Device) error { return second(d.PowerManagement()) }},
		{"queues of an administrative controller", map[int][]byte{offsetCNTRLTYPE: {3}}, func(d *nvme.Device) error { return second(d.Queues()) }},
		{"supported log pages", nil, func(d *nvme.Device) error { return second(d.SupportedLogPages()) }},
		{"self-tests", map[int][]byte{offsetOACS: {0, 0}}, func(d *nvme.Device) error { return second(d.SelfTests()) }},
		{"host telemetry", nil, func(d *nvme.Device) error { return second(d.HostTelemetry()) }},
		{"controller telemetry", nil, func(d *nvme.Device) error { return second(d.ControllerTelemetry()) }},
		{"endurance group", nil, func(d *nvme.Device) error { return second(d.EnduranceGroup(1)) }},
		{"ocp smart", nil, func(d *nvme.Device) error { return second(d.OCPSMART()) }},
		{"write cache", map[int][]byte{offsetVWC: {0x06}}, func(d *nvme.Device) error { return second(d.WriteCache()) }},
		{"coalescing behind a fabric", map[int][]byte{offsetIOCCSZ: {4}}, func(d *nvme.Device) error { return second(d.InterruptCoalescing()) }},
		{"autonomous power", map[int][]byte{offsetAPSTA: {0}}, func(d *nvme.Device) error { return second(d.AutonomousPower()) }},
		{"thermal management", map[int][]byte{offsetHCTMA: {0}}, func(d *nvme.Device) error { return second(d.ThermalManagement()) }},
		{"under temperature of revision 1.1", map[int][]byte{offsetVER: {0, 1, 1, 0}}, func(d *nvme.Device) error {
			return second(d.UnderTemperature(nvme.CompositeSensor))
		}},
		{"namespaces of revision 1.1", map[int][]byte{offsetVER: {0, 1, 1, 0}}, func(d *nvme.Device) error { return second(d.Namespaces()) }},
		{"namespaces of an unknown revision", map[int][]byte{offsetVER: {0, 0, 0, 0}}, func(d *nvme.Device) error { return second(d.Namespaces()) }},
		{"namespace identifiers of revision 1.2", map[int][]byte{offsetVER: {1, 2, 1, 0}}, func(d *nvme.Device) error {
			return second(d.NamespaceIdentifiers(1))
		}},
		{"capabilities of features", map[int][]byte{offsetONCS: {0, 0}}, func(d *nvme.Device) error {
			return second(d.FeatureCapabilities(nvme.FeatureVolatileWriteCache))
		}},
		{"a feature of another package", nil, func(d *nvme.Device) error { return second(d.FeatureCapabilities(0x81)) }},
		{"to save without save bit", map[int][]byte{offsetONCS: {0, 0}}, func(d *nvme.Device) error {
			return nvme.NewFeatureWriter(d).SetWriteCache(true, nvme.Saved)
		}},
		{"to set a cache that is not there", map[int][]byte{offsetVWC: {0}}, func(d *nvme.Device) error {
			return nvme.NewFeatureWriter(d).SetWriteCache(true, nvme.UntilReset)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, script := drive(t, c.changes)
			require.ErrorIs(t, c.call(d), errors.ErrUnsupported)
			assert.Len(t, script.Sent(), 1, "identify controller")
		})
	}
}

func smart(d *nvme.Device) error { return second(d.SMART()) }

func second[T any](_ T, err error) error { return err }

func TestOutOfRangeIsNotSent(t *testing.T) {
	changes := map[int][]byte{offsetCTRATT: {0x10, 0}, offsetENDGIDMAX: {2, 0}}
	for name, call := range map[string]func(*nvme.Device) error{
		"endurance group 0":       func(d *nvme.Device) error { return second(d.EnduranceGroup(0)) },
		"endurance group 3":       func(d *nvme.Device) error { return second(d.EnduranceGroup(3)) },
		"namespace 0":             func(d *nvme.Device) error { return second(d.Namespace(0)) },
		"all namespaces":          func(d *nvme.Device) error { return second(d.Namespace(nvme.AllNamespaces)) },
		"identifiers of all":      func(d *nvme.Device) error { return second(d.NamespaceIdentifiers(nvme.AllNamespaces)) },
		"identifiers of the zero": func(d *nvme.Device) error { return second(d.NamespaceIdentifiers(0)) },
	} {
		t.Run(name, func(t *testing.T) {
			d, script := drive(t, changes)
			require.ErrorIs(t, call(d), fs.ErrNotExist)
			for _, cmd := range script.Sent() {
				assert.Equal(t, identifyController, cmd)
			}
		})
	}
	d, script := drive(t, nil)
	require.EqualError(t, second(d.ErrorLog(0)), "error information log: limit 0: want at least 1")
	assert.Empty(t, script.Sent())
}
