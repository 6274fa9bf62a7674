package nvme

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecodeSMARTBuilt(t *testing.T) {
	got, err := DecodeSMART(built(t, "smart"))
	require.NoError(t, err)
	want := SMART{
		CriticalWarnings:        WarningTemperature | WarningReliability,
		Temperature:             new(Celsius(66)),
		TemperatureSensors:      [8]*Celsius{0: new(Celsius(66)), 1: new(Celsius(-1)), 7: new(Celsius(102))},
		AvailableSpare:          97,
		AvailableSpareThreshold: 10,
		PercentageUsed:          105,
		EnduranceGroupWarnings:  GroupWarningSpare | GroupWarningReliability,
		DataReadBytes:           &Uint128{High: 512_000, Low: 3 * 512_000},
		DataWrittenBytes:        &Uint128{Low: 51_200_000_000_000},
		HostReadCommands:        Uint128{Low: 31_574_523_925},
		HostWriteCommands:       Uint128{Low: 987_654_321},
		ControllerBusyMinutes:   Uint128{Low: 12_345},
		PowerCycles:             Uint128{Low: 42},
		PowerOnHours:            Uint128{Low: 10_846},
		UnsafeShutdowns:         Uint128{Low: 7},
		MediaErrors:             Uint128{Low: 3},
		ErrorLogEntries:         Uint128{High: math.MaxUint64, Low: math.MaxUint64},
		WarningTemperatureTime:  30 * time.Minute,
		CriticalTemperatureTime: 2 * time.Minute,
		ThermalTransitions:      [2]uint32{11, 2},
		ThermalTime:             [2]time.Duration{time.Hour, time.Minute},
	}
	assert.Equal(t, want, got)
	assert.True(t, got.CriticalWarnings.Has(WarningTemperature))
	assert.False(t, got.CriticalWarnings.Has(WarningTemperature|WarningSpare))
	assert.InDelta(t, 1.05, got.PercentageUsed.Ratio(), 1e-12)
}

func TestDecodeErrorLogBuilt(t *testing.T) {
	got, err := DecodeErrorLog(built(t, "error-information"))
	require.NoError(t, err)
	want := []ErrorEntry{
		{
			Count:           43,
			SubmissionQueue: new(uint16(0)),
			CommandID:       new(uint16(0x501D)),
			Status:          0x4002,
			Parameter:       &ParameterLocation{Byte: 40, Bit: 1},
			NamespaceID:     AllNamespaces,
		},
		{
			Count:           42,
			SubmissionQueue: new(uint16(3)),
			Status:          0x281,
			LBA:             16384,
			NamespaceID:     1,
			CommandSpecific: 0x1122334455667788,
		},
		{
			Count:           41,
			SubmissionQueue: new(uint16(3)),
			CommandID:       new(uint16(0x0102)),
			Opcode:          new(uint8(0x7D)),
			CommandSet:      new(CommandSetZoned),
			Status:          0x1BC,
			NamespaceID:     1,
		},
	}
	assert.Equal(t, want, got)
	assert.Equal(t, "invalid field in command (type 0h, code 02h, do not retry)", got[0].Status.String())
	assert.Equal(t, "unrecovered read error (type 2h, code 81h)", got[1].Status.String())
}

func TestDecodeSelfTestsBuilt(t *testing.T) {
	got, err := DecodeSelfTests(built(t, "self-tests"))
	require.NoError(t, err)
	want := SelfTests{
		Running: &RunningSelfTest{Kind: SelfTestExtended, Completed: 33},
		Results: []SelfTestResult{
			{Kind: SelfTestShort, Outcome: SelfTestPassed, PowerOnHours: 8603},
			{
				Kind:         SelfTestExtended,
				Outcome:      SelfTestFailedSegment,
				Segment:      new(uint8(4)),
				PowerOnHours: 8590,
				NamespaceID:  new(uint32(1)),
				FailingLBA:   new(uint64(5_120_000)),
				StatusType:   new(StatusMediaError),
				StatusCode:   new(uint8(0x81)),
			},
			{Kind: SelfTestVendorSpecific, Outcome: SelfTestAborted, PowerOnHours: 1, StatusCode: new(uint8(7))},
		},
	}
	assert.Equal(t, want, got)
	assert.False(t, got.Results[0].Outcome.Failed())
	assert.True(t, got.Results[1].Outcome.Failed())
	assert.False(t, got.Results[2].Outcome.Failed())
}

func TestDecodeEnduranceGroupBuilt(t *testing.T) {
	got, err := DecodeEnduranceGroup(built(t, "endurance-group"))
	require.NoError(t, err)
	want := EnduranceGroup{
		CriticalWarnings:         GroupWarningSpare | GroupWarningReadOnly,
		AvailableSpare:           90,
		AvailableSpareThreshold:  5,
		PercentageUsed:           12,
		EnduranceEstimateBytes:   &Uint128{Low: 2_000_000_000_000},
		DataReadBytes:            &Uint128{Low: 1_000_000_000_000},
		DataWrittenBytes:         &Uint128{Low: 500_000_000_000},
		MediaWrittenBytes:        &Uint128{Low: 750_000_000_000},
		HostReadCommands:         Uint128{High: 1, Low: 1},
		HostWriteCommands:        Uint128{Low: 2},
		MediaErrors:              Uint128{Low: 3},
		ErrorLogEntries:          Uint128{Low: 4},
		TotalCapacityBytes:       &Uint128{Low: 1_579_375_878_144},
		UnallocatedCapacityBytes: &Uint128{Low: 1 << 20},
	}
	assert.Equal(t, want, got)
}

func TestDecodeOCPSMARTBuilt(t *testing.T) {
	got, err := DecodeOCPSMART(built(t, "ocp-smart"))
	require.NoError(t, err)
	want := OCPSMART{
		PhysicalMediaWrittenBytes: Uint128{High: 1, Low: 4096},
		PhysicalMediaReadBytes:    Uint128{Low: 8192},
		BadUserBlocks:             BadBlocks{Count: 1<<47 + 1, Normalized: 98},
		BadSystemBlocks:           BadBlocks{Count: 2, Normalized: 100},
		XORRecoveries:             3,
		UncorrectableReadErrors:   4,
		SoftECCErrors:             5,
		EndToEndErrorsDetected:    6,
		EndToEndErrorsCorrected:   7,
		SystemAreaUsed:            8,
		Refreshes:                 1<<48 + 9,
		MaximumUserEraseCount:     10,
		MinimumUserEraseCount:     1,
		ThermalThrottlingEvents:   11,
		ThermalThrottlingLevel:    2,
		PCIeCorrectableErrors:     12,
		IncompleteShutdowns:       13,
		FreeBlocks:                75,
		CapacitorHealthPercent:    new(uint16(105)),
		UnalignedIOs:              14,
		SecurityVersion:           15,
		UtilizationBlocks:         16,
		PowerLossProtections:      Uint128{Low: 17},
		EnduranceEstimateBytes:    Uint128{Low: 18},
		LogPageVersion:            3,
		PCIeLinkRetrains:          new(uint64(19)),
		PowerStateChanges:         new(uint64(20)),
	}
	assert.Equal(t, want, got)
}

func TestDecodeOCPSMARTVersionsAndVendors(t *testing.T) {
	old := built(t, "ocp-smart")
	old[494] = 1
	copy(old[128:], []byte{0xFF, 0xFF})
	got, err := DecodeOCPSMART(old)
	require.NoError(t, err)
	assert.Nil(t, got.PCIeLinkRetrains)
	assert.Nil(t, got.PowerStateChanges)
	assert.Nil(t, got.CapacitorHealthPercent, "a drive without capacitors")

	newest := built(t, "ocp-smart")
	copy(newest[208:], "GDC7202Q\x80\x00\x02\x00\x01\x00\x47\x00\x09")
	got, err = DecodeOCPSMART(newest)
	require.NoError(t, err)
	assert.Equal(t, OCPSMART{}.MediaDies, got.MediaDies, "reserved in version 3")
	assert.Empty(t, got.LowestFirmware)
	newest[494] = 5
	got, err = DecodeOCPSMART(newest)
	require.NoError(t, err)
	assert.Equal(t, &MediaDies{Total: 128, TolerableFailures: 2, Offline: 1}, got.MediaDies)
	assert.Equal(t, "GDC7202Q", got.LowestFirmware)
	assert.Equal(t, new(Celsius(71)), got.MaximumTemperature)
	assert.Equal(t, new(uint64(9)), got.AverageEraseCount)
	assert.Equal(t, new(uint32(0)), got.CommandTimeouts)

	other := built(t, "ocp-smart")
	other[511]++
	_, err = DecodeOCPSMART(other)
	require.ErrorIs(t, err, ErrOtherLog)
}

func TestDecodeTelemetryHeaderBuilt(t *testing.T) {
	got, err := DecodeTelemetryHeader(built(t, "telemetry"))
	require.NoError(t, err)
	want := TelemetryHeader{
		OUI:                     0x002538,
		AreaBytes:               [4]uint64{64 * 512, 1024 * 512, 65280 * 512, 65536 * 512},
		ControllerDataAvailable: true,
		ControllerGeneration:    200,
	}
	copy(want.Reason[:], "watchdog")
	want.Reason[127] = '!'
	assert.Equal(t, want, got)
}

func TestDecodeSupportedLogPagesBuilt(t *testing.T) {
	got, err := DecodeSupportedLogPages(built(t, "supported-log-pages"))
	require.NoError(t, err)
	var want SupportedLogPages
	for _, page := range []LogPage{
		LogSupportedPages, LogErrorInformation, LogSMART, LogFirmwareSlots, LogSelfTests, LogEnduranceGroup, LogOCPSMART,
	} {
		want[page] = true
	}
	assert.Equal(t, want, got)
}

func TestDecodeNamespaceIdentifiersBuilt(t *testing.T) {
	got, err := DecodeNamespaceIdentifiers(built(t, "namespace-identifiers"))
	require.NoError(t, err)
	require.NotNil(t, got.EUI64)
	require.NotNil(t, got.NGUID)
	require.NotNil(t, got.UUID)
	assert.Equal(t, "0025385b71b00001", got.EUI64.String())
	assert.Equal(t, "36344830525000010025384500000001", got.NGUID.String())
	assert.Equal(t, "c0ffee00-1234-4abc-8def-0123456789ab", got.UUID.String())
	assert.Equal(t, new(CommandSetZoned), got.CommandSet)
}

func TestDecodeUUIDsBuilt(t *testing.T) {
	got, err := DecodeUUIDs(built(t, "uuids"))
	require.NoError(t, err)
	require.Len(t, got, 2)
	assert.Equal(t, "11111111-2222-3333-4444-555555555555", got[1].String())
	assert.Equal(t, ocpUUID, got[2].String())
}

func TestDecodeAutonomousPowerBuilt(t *testing.T) {
	got, err := DecodeAutonomousPower(built(t, "autonomous-power"))
	require.NoError(t, err)
	var want AutonomousPower
	want.Transitions[0] = &IdleTransition{After: 100 * time.Millisecond, State: 3}
	want.Transitions[1] = &IdleTransition{After: 100 * time.Millisecond, State: 3}
	want.Transitions[3] = &IdleTransition{After: 2 * time.Second, State: 4}
	assert.Equal(t, want, got)
}

// An amount of 0 says that it is not reported (Figures 207 and 219), as of volumes in clouds.
func TestAmountsThatAreNotReported(t *testing.T) {
	smart, err := DecodeSMART(make([]byte, smartBytes))
	require.NoError(t, err)
	assert.Nil(t, smart.DataReadBytes)
	assert.Nil(t, smart.DataWrittenBytes)
	group, err := DecodeEnduranceGroup(make([]byte, enduranceGroupBytes))
	require.NoError(t, err)
	assert.Nil(t, group.DataReadBytes)
	assert.Nil(t, group.DataWrittenBytes)
	assert.Nil(t, group.MediaWrittenBytes)
}
