package nvme

import (
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// seenByNVMeCLI returns what nvme-cli decoded from a captured page, as an independent reference.
func seenByNVMeCLI[T any](t *testing.T, name string) T {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "captured", name+".json"))
	require.NoError(t, err)
	var v T
	require.NoError(t, json.Unmarshal(b, &v))
	return v
}

func TestControllerAgreesWithNVMeCLI(t *testing.T) {
	type direct struct {
		VID, SSVID, CNTLID, ENDGIDMAX uint16
		IEEE, NN                      uint32
		VER                           Version
		SN, MN, FR, SUBNQN            string
		CTRATT                        ControllerAttributes
		OACS                          AdminCommands
		LPA                           LogPageAttributes
		ONCS                          OptionalCommands
		CNTRLTYPE                     ControllerType
	}
	type derived struct {
		MDTS, FRMW, CMIC, VWC, APSTA, HCTMA uint8
		ELPE, WCTEMP, CCTEMP, IOCCSZ, EDSTT int
		TNVMCAP                             string
		PSDs                                []struct {
			MaxPower uint16 `json:"max_power"`
			EntryLat int64  `json:"entry_lat"`
			ExitLat  int64  `json:"exit_lat"`
		}
	}
	got, err := DecodeController(captured(t, "identify-controller"))
	require.NoError(t, err)

	same := seenByNVMeCLI[direct](t, "identify-controller")
	for _, padded := range []*string{&same.SN, &same.MN, &same.FR} {
		*padded = strings.TrimSpace(*padded)
	}
	decoded := direct{
		VID: got.VendorID, SSVID: got.SubsystemVendorID, IEEE: got.OUI, CNTLID: got.ControllerID, VER: got.Version,
		SN: got.SerialNumber, MN: got.ModelNumber, FR: got.FirmwareRevision, SUBNQN: got.SubsystemNQN,
		CTRATT: got.Attributes, OACS: got.AdminCommands, LPA: got.LogPages, ONCS: got.Commands, CNTRLTYPE: got.Type,
		NN: got.NamespaceLimit, ENDGIDMAX: got.EnduranceGroupLimit,
	}
	assert.Equal(t, same, decoded)
	assert.Equal(t, "QEMU NVMe Ctrl", got.ModelNumber)
	assert.Equal(t, "1.4", got.Version.String())

	want := seenByNVMeCLI[derived](t, "identify-controller")
	assert.Equal(t, new(uint64(4096)<<want.MDTS), got.MaximumTransferBytes)
	assert.Equal(t, FirmwareSupport{Slots: want.FRMW >> 1 & 7, FirstSlotReadOnly: want.FRMW&1 != 0}, got.Firmware)
	assert.Equal(t, want.CMIC&2 != 0, got.MultipleControllers)
	assert.Equal(t, want.CMIC&8 != 0, got.AsymmetricAccess)
	assert.Equal(t, want.VWC&1 != 0, got.VolatileWriteCache)
	assert.Equal(t, want.APSTA&1 != 0, got.AutonomousPowerStates)
	assert.Equal(t, want.HCTMA&1 != 0, got.HostThermalManagement)
	assert.Equal(t, want.IOCCSZ != 0, got.MessageBased)
	assert.Equal(t, want.ELPE+1, got.ErrorLogEntries)
	assert.Equal(t, new(Celsius(want.WCTEMP-273)), got.WarningTemperature)
	assert.Equal(t, new(Celsius(want.CCTEMP-273)), got.CriticalTemperature)
	require.Zero(t, want.EDSTT)
	assert.Nil(t, got.ExtendedSelfTest)
	require.Equal(t, "0", want.TNVMCAP)
	assert.Nil(t, got.TotalCapacityBytes)
	require.Len(t, got.PowerStates, len(want.PSDs))
	assert.InDelta(t, float64(want.PSDs[0].MaxPower)/100, *got.PowerStates[0].MaximumWatts, 1e-9)
	assert.Equal(t, want.PSDs[0].EntryLat, got.PowerStates[0].EntryLatency.Microseconds())
	assert.Equal(t, want.PSDs[0].ExitLat, got.PowerStates[0].ExitLatency.Microseconds())
	assert.Nil(t, got.PowerStates[0].IdleWatts)
}

func TestNamespaceAgreesWithNVMeCLI(t *testing.T) {
	type seen struct {
		NSZE, NCAP, NUSE                                 uint64
		NSFEAT, NLBAF, FLBAS, DPS, NMIC, NSATTR, DLFEAT  uint8
		NPWG, NPWA, NPDG, NPDA, NOWS, NOIOB, ENDGID, NVM uint16
		EUI64, NGUID                                     string
		LBAFs                                            []struct {
			MS     uint16
			DS, RP uint8
		}
	}
	want := seenByNVMeCLI[seen](t, "identify-namespace")
	got, err := DecodeNamespace(captured(t, "identify-namespace"))
	require.NoError(t, err)

	formats := make([]LBAFormat, 0, len(want.LBAFs))
	for _, f := range want.LBAFs {
		formats = append(formats, LBAFormat{DataBytes: 1 << f.DS, MetadataBytes: f.MS, RelativePerformance: f.RP})
	}
	assert.Equal(t, Namespace{
		SizeBlocks:        want.NSZE,
		CapacityBlocks:    want.NCAP,
		UtilizationBlocks: want.NUSE,
		ThinProvisioning:  want.NSFEAT&1 != 0,
		Shared:            want.NMIC&1 != 0,
		WriteProtected:    want.NSATTR&1 != 0,
		Formats:           formats,
		Format:            LBAFormat{DataBytes: 512},
		Deallocated:       DeallocatedZeros,
		Preferred: &PreferredIO{
			WriteGranularityBlocks:      uint32(want.NPWG) + 1,
			WriteAlignmentBlocks:        uint32(want.NPWA) + 1,
			DeallocateGranularityBlocks: new(uint32(want.NPDG) + 1),
			DeallocateAlignmentBlocks:   new(uint32(want.NPDA) + 1),
			OptimalWriteBlocks:          uint32(want.NOWS) + 1,
		},
		EUI64: got.EUI64,
	}, got)
	assert.Equal(t, want.EUI64, got.EUI64.String())
	assert.Empty(t, strings.Trim(want.NGUID, "0"), "which is why NGUID is nil")
	assert.Equal(t, "67108864", got.SizeBytes().String())
	assert.Equal(t, "67108864", got.UtilizationBytes().String())
}

func TestNamespaceListAgreesWithNVMeCLI(t *testing.T) {
	type seen struct {
		List []struct{ NSID uint32 } `json:"nsid_list"`
	}
	var want []uint32
	for _, n := range seenByNVMeCLI[seen](t, "active-namespaces").List {
		want = append(want, n.NSID)
	}
	got, err := DecodeNamespaceList(captured(t, "active-namespaces"), 0)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestNamespaceIdentifiersAgreeWithNVMeCLI(t *testing.T) {
	type seen struct {
		List []struct{ Type, EUI64, CSI string } `json:"ns-descs"`
	}
	want := seenByNVMeCLI[seen](t, "namespace-identifiers").List
	require.Len(t, want, 2)
	got, err := DecodeNamespaceIdentifiers(captured(t, "namespace-identifiers"))
	require.NoError(t, err)
	require.NotNil(t, got.EUI64)
	assert.Equal(t, NamespaceIdentifiers{EUI64: got.EUI64, CommandSet: new(CommandSetNVM)}, got)
	assert.Equal(t, want[0].EUI64, got.EUI64.String())
	assert.Equal(t, want[1].CSI, strconv.Itoa(int(*got.CommandSet)))
}

func TestSMARTAgreesWithNVMeCLI(t *testing.T) {
	type seen struct {
		CriticalWarning uint8  `json:"critical_warning"`
		Temperature     int    `json:"temperature"`
		Spare           uint8  `json:"avail_spare"`
		Threshold       uint8  `json:"spare_thresh"`
		Used            uint8  `json:"percent_used"`
		UnitsRead       string `json:"data_units_read"`
		UnitsWritten    string `json:"data_units_written"`
		Reads           string `json:"host_read_commands"`
		Writes          string `json:"host_write_commands"`
		Busy            string `json:"controller_busy_time"`
		PowerCycles     string `json:"power_cycles"`
		PowerOnHours    string `json:"power_on_hours"`
		UnsafeShutdowns string `json:"unsafe_shutdowns"`
		MediaErrors     string `json:"media_errors"`
		ErrorLogEntries string `json:"num_err_log_entries"`
		WarningTime     int    `json:"warning_temp_time"`
		CriticalTime    int    `json:"critical_comp_time"`
	}
	want := seenByNVMeCLI[seen](t, "smart")
	got, err := DecodeSMART(captured(t, "smart"))
	require.NoError(t, err)
	units := func(bytes Uint128) string { return new(big.Int).Div(bytes.Big(), big.NewInt(512_000)).String() }
	assert.Equal(t, want, seen{
		CriticalWarning: uint8(got.CriticalWarnings),
		Temperature:     int(*got.Temperature) + 273,
		Spare:           uint8(got.AvailableSpare),
		Threshold:       uint8(got.AvailableSpareThreshold),
		Used:            uint8(got.PercentageUsed),
		UnitsRead:       units(*got.DataReadBytes),
		UnitsWritten:    units(*got.DataWrittenBytes),
		Reads:           got.HostReadCommands.String(),
		Writes:          got.HostWriteCommands.String(),
		Busy:            got.ControllerBusyMinutes.String(),
		PowerCycles:     got.PowerCycles.String(),
		PowerOnHours:    got.PowerOnHours.String(),
		UnsafeShutdowns: got.UnsafeShutdowns.String(),
		MediaErrors:     got.MediaErrors.String(),
		ErrorLogEntries: got.ErrorLogEntries.String(),
		WarningTime:     int(got.WarningTemperatureTime.Minutes()),
		CriticalTime:    int(got.CriticalTemperatureTime.Minutes()),
	})
	assert.NotZero(t, got.DataWrittenBytes, "a page of zeros would prove nothing")
	assert.Equal(t, WarningTemperature|WarningBackup, got.CriticalWarnings)
	assert.Equal(t, [8]*Celsius{}, got.TemperatureSensors)
}

func TestErrorLogAgreesWithNVMeCLI(t *testing.T) {
	type seen struct {
		Errors []struct {
			Count uint64 `json:"error_count"`
		}
	}
	want := seenByNVMeCLI[seen](t, "error-information").Errors
	require.Len(t, want, 1)
	require.Zero(t, want[0].Count)
	got, err := DecodeErrorLog(captured(t, "error-information"))
	require.NoError(t, err)
	assert.Empty(t, got, "an entry that counts no error is none")
}

func TestFirmwareSlotsAgreeWithNVMeCLI(t *testing.T) {
	type seen struct {
		NVMe0 struct {
			Active uint8  `json:"Active Firmware Slot (afi)"`
			Slot1  string `json:"Firmware Rev Slot 1"`
		}
	}
	want := seenByNVMeCLI[seen](t, "firmware-slot").NVMe0
	got, err := DecodeFirmwareSlots(captured(t, "firmware-slot"))
	require.NoError(t, err)
	assert.Equal(t, FirmwareSlots{Active: want.Active, Revisions: [7]string{"1.0"}}, got)
	assert.Contains(t, want.Slot1, "(1.0", "nvme-cli shows the text behind the number")
}
