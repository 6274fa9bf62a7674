package nvme

import (
	"math/bits"
	"time"
)

// IdentifyController is what a controller says about itself and what it supports:
// the Identify Controller data structure, CNS 01h (Figure 312).
type IdentifyController struct {
	VendorID          uint16 // PCI vendor, VID
	SubsystemVendorID uint16 // SSVID
	SerialNumber      string // SN
	ModelNumber       string // MN
	FirmwareRevision  string // FR
	OUI               uint32 // IEEE
	ControllerID      uint16 // CNTLID
	Version           Version
	SubsystemNQN      string // SUBNQN
	Type              ControllerType

	// MultipleControllers reports that the subsystem may have more than one (CMIC bit 1).
	MultipleControllers bool
	// MaximumTransferBytes is the least that every host page size allows; 0 means no limit (MDTS).
	MaximumTransferBytes uint64
	// MessageBased controllers are behind a fabric: they have no interrupts (IOCCSZ is not 0).
	MessageBased bool

	// TotalCapacityBytes and UnallocatedCapacityBytes are 0 when not reported (TNVMCAP, UNVMCAP).
	TotalCapacityBytes       Uint128
	UnallocatedCapacityBytes Uint128
	// NamespaceLimit is the highest namespace id there can be, not how many there are (NN).
	NamespaceLimit uint32

	// WarningTemperature and CriticalTemperature are nil when not reported (WCTEMP, CCTEMP).
	WarningTemperature  *Celsius
	CriticalTemperature *Celsius
	// Thermal management by the host: whether it is supported, and the range of its
	// thresholds, nil when not reported (HCTMA, MNTMT, MXTMT).
	HostThermalManagement    bool
	MinimumThermalManagement *Celsius
	MaximumThermalManagement *Celsius

	ErrorLogEntries int // ELPE, at least 1
	Firmware        FirmwareSupport
	// ExtendedSelfTest is the usual duration of one; 0 when not supported (EDSTT).
	ExtendedSelfTest time.Duration
	// EnduranceGroupLimit is the highest endurance group id; 0 when there are none (ENDGIDMAX).
	EnduranceGroupLimit uint16
	PowerStates         []PowerState

	Attributes             ControllerAttributes
	AdminCommands          AdminCommands
	LogPages               LogPageAttributes
	Commands               OptionalCommands
	VolatileWriteCache     bool // VWC bit 0
	AutonomousPowerStates  bool // APSTA bit 0
	KeepAliveGranularity   time.Duration
	RuntimeD3EntryLatency  time.Duration // 0 when not reported (RTD3E)
	RuntimeD3ResumeLatency time.Duration // 0 when not reported (RTD3R)
}

// FirmwareSupport is the Firmware Updates field, FRMW.
type FirmwareSupport struct {
	Slots             uint8 // 1 to 7
	FirstSlotReadOnly bool
	// ActivationWithoutReset reports that new firmware can start without a reset.
	ActivationWithoutReset bool
}

// ControllerType is what a controller is for, CNTRLTYPE.
type ControllerType uint8

// The types of controllers. Before revision 1.4 the type is not reported.
const (
	ControllerTypeNotReported    ControllerType = 0
	ControllerTypeIO             ControllerType = 1
	ControllerTypeDiscovery      ControllerType = 2
	ControllerTypeAdministrative ControllerType = 3
)

// identifyBytes is the size of all Identify data structures.
const identifyBytes = 4096

// DecodeIdentifyController decodes the 4096 bytes of CNS 01h.
func DecodeIdentifyController(b []byte) (IdentifyController, error) {
	p, err := pageOf("identify controller", b, identifyBytes)
	if err != nil {
		return IdentifyController{}, err
	}
	states := make([]PowerState, min(int(p[263])+1, 32))
	for i := range states {
		states[i] = decodePowerState(p[2048+i*powerStateBytes:])
	}
	return IdentifyController{
		VendorID:          p.u16(0),
		SubsystemVendorID: p.u16(2),
		SerialNumber:      p.text(4, 20),
		ModelNumber:       p.text(24, 40),
		FirmwareRevision:  p.text(64, 8),
		OUI:               uint32(p.u16(73)) | uint32(p[75])<<16,
		ControllerID:      p.u16(78),
		Version:           Version(p.u32(80)),
		SubsystemNQN:      p.text(768, 256),
		Type:              ControllerType(p[111]),

		MultipleControllers:  p[76]&2 != 0,
		MaximumTransferBytes: maximumTransfer(p[77]),
		MessageBased:         p.u32(1792) != 0,

		TotalCapacityBytes:       p.u128(280),
		UnallocatedCapacityBytes: p.u128(296),
		NamespaceLimit:           p.u32(516),

		WarningTemperature:       celsius(p.u16(266)),
		CriticalTemperature:      celsius(p.u16(268)),
		HostThermalManagement:    p[322]&1 != 0,
		MinimumThermalManagement: celsius(p.u16(324)),
		MaximumThermalManagement: celsius(p.u16(326)),

		ErrorLogEntries: int(p[262]) + 1,
		Firmware: FirmwareSupport{
			Slots:                  p[260] >> 1 & 7,
			FirstSlotReadOnly:      p[260]&1 != 0,
			ActivationWithoutReset: p[260]&0x10 != 0,
		},
		ExtendedSelfTest:    time.Duration(p.u16(316)) * time.Minute,
		EnduranceGroupLimit: p.u16(340),
		PowerStates:         states,

		Attributes:             ControllerAttributes(p.u32(96)),
		AdminCommands:          AdminCommands(p.u16(256)),
		LogPages:               LogPageAttributes(p[261]),
		Commands:               OptionalCommands(p.u16(520)),
		VolatileWriteCache:     p[525]&1 != 0,
		AutonomousPowerStates:  p[265]&1 != 0,
		KeepAliveGranularity:   time.Duration(p.u16(320)) * 100 * time.Millisecond,
		RuntimeD3EntryLatency:  time.Duration(p.u32(88)) * time.Microsecond,
		RuntimeD3ResumeLatency: time.Duration(p.u32(84)) * time.Microsecond,
	}, nil
}

// maximumTransfer is 2^mdts host pages. The smallest host page of a controller is
// in a register that admin commands cannot read; 4096 bytes is the least it can be.
func maximumTransfer(mdts uint8) uint64 {
	switch {
	case mdts == 0:
		return 0
	case int(mdts) >= bits.UintSize-12:
		return 1 << 63
	}
	return 4096 << mdts
}
