package drift

// Host tells what the host did to all devices of a node, so that it is not blamed on one.
type Host interface {
	// At is how much slower the host made the device in a slot, to be taken off what was
	// measured in it; 0 where that is not known.
	At(slot int64) Shifts
	// Now is the same of the last rounds.
	Now() Shifts
}

// Alone is the host of a device without peers: nothing is known of it.
type Alone struct{}

// At implements Host.
func (Alone) At(int64) Shifts { return Shifts{} }

// Now implements Host.
func (Alone) Now() Shifts { return Shifts{} }
