package nvme

import "fmt"

// Feature selects a setting of the controller, FID (Figures 195 and 386).
type Feature uint8

// The features of this package.
const (
	FeaturePowerManagement      Feature = 0x02
	FeatureTemperatureThreshold Feature = 0x04
	FeatureVolatileWriteCache   Feature = 0x06
	FeatureNumberOfQueues       Feature = 0x07
	FeatureInterruptCoalescing  Feature = 0x08
	FeatureAutonomousPower      Feature = 0x0C
	FeatureThermalManagement    Feature = 0x10
)

// String names the feature.
func (f Feature) String() string {
	switch f {
	case FeaturePowerManagement:
		return "power management"
	case FeatureTemperatureThreshold:
		return "temperature threshold"
	case FeatureVolatileWriteCache:
		return "volatile write cache"
	case FeatureNumberOfQueues:
		return "number of queues"
	case FeatureInterruptCoalescing:
		return "interrupt coalescing"
	case FeatureAutonomousPower:
		return "autonomous power state transition"
	case FeatureThermalManagement:
		return "host controlled thermal management"
	}
	return fmt.Sprintf("feature %02xh", uint8(f))
}

// FeatureSelect says which value of a feature to get, SEL.
type FeatureSelect uint8

// The values of a feature that this package gets. Controllers without
// [CommandSaveSelect] only have the current one.
const (
	SelectCurrent      FeatureSelect = 0
	SelectCapabilities FeatureSelect = 3
)

// GetFeatureCommand returns the command that gets a feature of the controller; the
// feature defines the meaning of dword11, which is 0 for most.
func GetFeatureCommand(f Feature, s FeatureSelect, dword11 uint32) Command {
	return Command{Opcode: OpcodeGetFeatures, Dword10: uint32(f) | uint32(s)<<8, Dword11: dword11}
}

// SetFeatureCommand returns the command that sets a feature of the controller.
func SetFeatureCommand(f Feature, dword11 uint32, keep Lifetime) Command {
	cmd := Command{Opcode: OpcodeSetFeatures, Dword10: uint32(f), Dword11: dword11}
	if keep == Saved {
		cmd.Dword10 |= 1 << 31
	}
	return cmd
}

// FeatureCapabilities says what can be done with a feature.
type FeatureCapabilities struct {
	Saveable          bool
	NamespaceSpecific bool
	Changeable        bool
}

// FeatureCapabilities asks the controller what can be done with a feature. The error
// matches [errors.ErrUnsupported] when the controller lacks the feature or does not
// report its capabilities (ONCS bit 4).
func (d *Device) FeatureCapabilities(f Feature) (FeatureCapabilities, error) {
	c, err := d.supportsFeature(f)
	if err != nil {
		return FeatureCapabilities{}, err
	}
	if !c.Commands.Has(CommandSaveSelect) {
		return FeatureCapabilities{}, unsupported("capabilities of " + f.String())
	}
	result, err := d.send(GetFeatureCommand(f, SelectCapabilities, 0), nil)
	return FeatureCapabilities{
		Saveable:          result&1 != 0,
		NamespaceSpecific: result&2 != 0,
		Changeable:        result&4 != 0,
	}, err
}

// supportsFeature returns what the controller supports, or an error if it does not support f.
func (d *Device) supportsFeature(f Feature) (*Controller, error) {
	c, err := d.supports()
	if err != nil {
		return nil, err
	}
	var ok bool
	switch f {
	case FeaturePowerManagement, FeatureTemperatureThreshold:
		ok = c.Type != ControllerTypeDiscovery // mandatory
	case FeatureNumberOfQueues:
		ok = c.Type == ControllerTypeIO || c.Type == ControllerTypeNotReported // mandatory
	case FeatureVolatileWriteCache:
		ok = c.VolatileWriteCache
	case FeatureInterruptCoalescing:
		ok = !c.MessageBased && c.Type != ControllerTypeDiscovery // mandatory on PCIe
	case FeatureAutonomousPower:
		ok = c.AutonomousPowerStates
	case FeatureThermalManagement:
		ok = c.HostThermalManagement
	}
	if !ok {
		return nil, unsupported(f.String())
	}
	return c, nil
}

// feature gets the current value of a feature that the controller supports.
func (d *Device) feature(f Feature, dword11 uint32, data []byte) (uint32, error) {
	if _, err := d.supportsFeature(f); err != nil {
		return 0, err
	}
	result, err := d.send(GetFeatureCommand(f, SelectCurrent, dword11), data)
	return uint32(result), err // dword 0 of the completion
}
