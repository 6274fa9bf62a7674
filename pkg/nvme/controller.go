package nvme

import (
	"fmt"
	"time"
)

// Controller describes a controller and what it supports: the Identify Controller data
// structure, CNS 01h (Figure 313). Values that the controller does not report are nil.
type Controller struct {
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

	// MultipleControllers reports whether the subsystem may have more than one
	// controller (CMIC bit 1).
	MultipleControllers bool
	// AsymmetricAccess reports that the controller may reach a namespace worse than others do, or not at all (CMIC bit 3).
	AsymmetricAccess bool
	// MaximumTransferBytes is the largest transfer that is allowed with any host page
	// size; nil means no limit (MDTS).
	MaximumTransferBytes *uint64
	// MessageBased reports that the controller is behind a fabric and has no interrupts (IOCCSZ is not 0).
	MessageBased bool

	TotalCapacityBytes       *Uint128 // TNVMCAP
	UnallocatedCapacityBytes *Uint128 // UNVMCAP; nil also when nothing is unallocated
	// NamespaceLimit is the highest possible namespace id, not the number of namespaces (NN). Targets of Linux
	// may have namespaces with higher ids.
	NamespaceLimit uint32
	// FormatsAll reports that Format NVM formats all namespaces, ErasesAll that erasing
	// one namespace erases all of them (FNA bits 0 and 1).
	FormatsAll, ErasesAll bool

	WarningTemperature  *Celsius // WCTEMP
	CriticalTemperature *Celsius // CCTEMP
	// Thermal management by the host: whether it is supported, and the range of its
	// thresholds (HCTMA, MNTMT, MXTMT).
	HostThermalManagement    bool
	MinimumThermalManagement *Celsius
	MaximumThermalManagement *Celsius

	ErrorLogEntries int // ELPE, 1 to 256
	Firmware        FirmwareSupport
	// ExtendedSelfTest is how long an extended self-test usually takes (EDSTT).
	ExtendedSelfTest *time.Duration
	// EnduranceGroupLimit is the highest possible id of an endurance group; 0 when
	// there are no groups (ENDGIDMAX).
	EnduranceGroupLimit uint16
	PowerStates         []PowerState // 1 to 32

	Attributes            ControllerAttributes
	AdminCommands         AdminCommands
	LogPages              LogPageAttributes
	Commands              OptionalCommands
	VolatileWriteCache    bool // VWC bit 0
	AutonomousPowerStates bool // APSTA bit 0
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

// String names the type.
func (t ControllerType) String() string {
	switch t {
	case ControllerTypeNotReported:
		return "not reported"
	case ControllerTypeIO:
		return "i/o"
	case ControllerTypeDiscovery:
		return "discovery"
	case ControllerTypeAdministrative:
		return "administrative"
	}
	return fmt.Sprintf("unknown type %02xh", uint8(t))
}

// DecodeController decodes the 4096 bytes of Identify, CNS 01h.
func DecodeController(b []byte) (Controller, error) {
	p, err := pageOf("identify controller", b, identifyBytes)
	if err != nil {
		return Controller{}, err
	}
	states := make([]PowerState, min(int(p[263])+1, 32))
	for i := range states {
		states[i] = decodePowerState(p[2048+i*powerStateBytes:])
	}
	return Controller{
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
		AsymmetricAccess:     p[76]&8 != 0,
		MaximumTransferBytes: maximumTransfer(p[77]),
		MessageBased:         p.u32(1792) != 0,

		TotalCapacityBytes:       reported(p.u128(280)),
		UnallocatedCapacityBytes: reported(p.u128(296)),
		NamespaceLimit:           p.u32(516),
		FormatsAll:               p[524]&1 != 0,
		ErasesAll:                p[524]&2 != 0,

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
		ExtendedSelfTest:    reported(time.Duration(p.u16(316)) * time.Minute),
		EnduranceGroupLimit: p.u16(340),
		PowerStates:         states,

		Attributes:            ControllerAttributes(p.u32(96)),
		AdminCommands:         AdminCommands(p.u16(256)),
		LogPages:              LogPageAttributes(p[261]),
		Commands:              OptionalCommands(p.u16(520)),
		VolatileWriteCache:    p[525]&1 != 0,
		AutonomousPowerStates: p[265]&1 != 0,
	}, nil
}

// maximumTransfer returns 2^mdts host pages in bytes. The controller's smallest host
// page is in a register that admin commands cannot read, so the smallest possible one
// is assumed: 4096 bytes.
func maximumTransfer(mdts uint8) *uint64 {
	switch {
	case mdts == 0:
		return nil
	case mdts > 51:
		return new(uint64(1 << 63))
	}
	return new(uint64(4096) << mdts)
}
