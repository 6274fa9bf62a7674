package nvme

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// SMART describes the health of a controller and its media: the SMART / Health Information log, log
// identifier 02h (Figure 207). Counters cover the whole life of the drive.
type SMART struct {
	CriticalWarnings CriticalWarnings
	// Temperature is the composite temperature, as the vendor defines it; nil when not reported.
	Temperature *Celsius
	// TemperatureSensors holds the temperatures of sensors 1 to 8; nil for a sensor that does not exist.
	TemperatureSensors [8]*Celsius

	AvailableSpare          Percent // values above 100 are reserved
	AvailableSpareThreshold Percent // values above 100 are reserved; some drives report 255
	PercentageUsed          Percent // may exceed 100; 255 means more than 254
	// EnduranceGroupWarnings combines the warnings of all endurance groups.
	EnduranceGroupWarnings EnduranceGroupWarnings

	// DataReadBytes and DataWrittenBytes are what the host read and wrote, rounded up to thousands
	// of 512-byte units (which other tools show as data units); nil when not reported, and before the first command.
	DataReadBytes         *Uint128
	DataWrittenBytes      *Uint128
	HostReadCommands      Uint128
	HostWriteCommands     Uint128
	ControllerBusyMinutes Uint128

	PowerCycles     Uint128
	PowerOnHours    Uint128 // may exclude time in non-operational power states
	UnsafeShutdowns Uint128
	MediaErrors     Uint128
	ErrorLogEntries Uint128

	// WarningTemperatureTime is the time at or above the warning threshold but below the critical
	// one, CriticalTemperatureTime the time at or above the critical one, both in whole minutes.
	WarningTemperatureTime  time.Duration
	CriticalTemperatureTime time.Duration
	// ThermalTransitions and ThermalTime say how often and for how long in total thermal management
	// throttled the drive: first lightly, then heavily.
	ThermalTransitions [2]uint32
	ThermalTime        [2]time.Duration // whole seconds
}

// CriticalWarnings is a set of conditions that need attention.
type CriticalWarnings uint8

// The critical warnings.
const (
	WarningSpare            CriticalWarnings = 1 << 0 // available spare is below its threshold
	WarningTemperature      CriticalWarnings = 1 << 1 // a temperature is beyond its threshold
	WarningReliability      CriticalWarnings = 1 << 2 // degraded by media or internal errors
	WarningReadOnly         CriticalWarnings = 1 << 3 // all media are read-only
	WarningBackup           CriticalWarnings = 1 << 4 // the backup of volatile memory has failed
	WarningPersistentMemory CriticalWarnings = 1 << 5 // the persistent memory region is unreliable or read-only
)

// Has reports whether all of w are set.
func (c CriticalWarnings) Has(w CriticalWarnings) bool { return c&w == w }

// String lists the warnings: "temperature, read-only", or "none".
func (c CriticalWarnings) String() string {
	return words(uint8(c), "spare", "temperature", "reliability", "read-only", "backup", "persistent memory")
}

// words lists the bits that are set, by their names, or by their number if they have none.
func words(bits uint8, names ...string) string {
	var set []string
	for i := range 8 {
		switch {
		case bits&(1<<i) == 0:
		case i < len(names) && names[i] != "":
			set = append(set, names[i])
		default:
			set = append(set, fmt.Sprintf("bit %d", i))
		}
	}
	if len(set) == 0 {
		return "none"
	}
	return strings.Join(set, ", ")
}

const (
	smartBytes    = 512
	dataUnitBytes = 512_000
)

// SMART reads the health of the controller.
func (d *Device) SMART() (SMART, error) {
	data, err := d.log(LogPageRequest{Page: LogSMART, Bytes: smartBytes})
	if err != nil {
		return SMART{}, err
	}
	return DecodeSMART(data)
}

// DecodeSMART decodes the 512 bytes of log page 02h.
func DecodeSMART(b []byte) (SMART, error) {
	p, err := pageOf(LogSMART.String(), b, smartBytes)
	if err != nil {
		return SMART{}, err
	}
	s := SMART{
		CriticalWarnings:        CriticalWarnings(p[0]),
		Temperature:             celsius(p.u16(1)),
		AvailableSpare:          Percent(p[3]),
		AvailableSpareThreshold: Percent(p[4]),
		PercentageUsed:          Percent(p[5]),
		EnduranceGroupWarnings:  EnduranceGroupWarnings(p[6]),

		DataReadBytes:         reported(p.u128(32).Times(dataUnitBytes)),
		DataWrittenBytes:      reported(p.u128(48).Times(dataUnitBytes)),
		HostReadCommands:      p.u128(64),
		HostWriteCommands:     p.u128(80),
		ControllerBusyMinutes: p.u128(96),

		PowerCycles:     p.u128(112),
		PowerOnHours:    p.u128(128),
		UnsafeShutdowns: p.u128(144),
		MediaErrors:     p.u128(160),
		ErrorLogEntries: p.u128(176),

		WarningTemperatureTime:  minutes(p.u32(192)),
		CriticalTemperatureTime: minutes(p.u32(196)),
		ThermalTransitions:      [2]uint32{p.u32(216), p.u32(220)},
		ThermalTime: [2]time.Duration{
			time.Duration(p.u32(224)) * time.Second,
			time.Duration(p.u32(228)) * time.Second,
		},
	}
	for i := range s.TemperatureSensors {
		s.TemperatureSensors[i] = celsius(p.u16(200 + 2*i))
	}
	return s, nil
}

// minutes returns n minutes, or the most that a time.Duration holds: 292 years.
func minutes(n uint32) time.Duration {
	return min(time.Duration(n), math.MaxInt64/time.Minute) * time.Minute
}
