package nvme

import "time"

// PowerManagement is the current power state, feature 02h (Figure 388).
type PowerManagement struct {
	State        uint8 // index into Controller.PowerStates
	WorkloadHint uint8 // 0 for none
}

// PowerManagement gets the power state that the controller is in.
func (d *Device) PowerManagement() (PowerManagement, error) {
	v, err := d.feature(FeaturePowerManagement, 0, nil)
	if err != nil {
		return PowerManagement{}, err
	}
	return PowerManagement{State: uint8(v & 0x1F), WorkloadHint: uint8(v >> 5 & 7)}, nil
}

// AutonomousPower says to which power states the controller changes when it is idle, feature 0Ch (Figure 393).
type AutonomousPower struct {
	Enabled bool
	// Transitions holds the transition from each power state, by its index; nil for a state that
	// the controller does not leave.
	Transitions [32]*IdleTransition
}

// IdleTransition is a change of power state after a time without work.
type IdleTransition struct {
	After time.Duration // whole milliseconds
	State uint8         // index into Controller.PowerStates
}

const autonomousPowerBytes = 256

// AutonomousPower gets the power state transitions that the controller makes by itself (APSTA).
func (d *Device) AutonomousPower() (AutonomousPower, error) {
	data := make([]byte, autonomousPowerBytes)
	v, err := d.feature(FeatureAutonomousPower, 0, data)
	if err != nil {
		return AutonomousPower{}, err
	}
	a, err := DecodeAutonomousPower(data)
	a.Enabled = v&1 != 0
	return a, err
}

// DecodeAutonomousPower decodes the 256 bytes of the data structure of feature 0Ch (Figure 394).
// They do not include the field Enabled.
func DecodeAutonomousPower(b []byte) (AutonomousPower, error) {
	p, err := pageOf(FeatureAutonomousPower.String(), b, autonomousPowerBytes)
	if err != nil {
		return AutonomousPower{}, err
	}
	var a AutonomousPower
	for i := range a.Transitions {
		entry := p.u64(8 * i)
		if idle := uint32(entry >> 8 & 0xFFFFFF); idle != 0 {
			a.Transitions[i] = &IdleTransition{
				After: time.Duration(idle) * time.Millisecond,
				State: uint8(entry >> 3 & 0x1F),
			}
		}
	}
	return a, nil
}
