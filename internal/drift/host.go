package drift

import "time"

// Host tells what the host did to all devices of a node, so that no single device is blamed for it.
type Host interface {
	// At returns how much slower than usual the others were in a slot; Missing where that is not known.
	At(slot int64) Shifts
	// Now returns the same for their last rounds since a time.
	Now(since time.Time) Shifts
	// Part returns what to take off statistic i of the device when the others are so much slower.
	Part(i int, others Shift) Shift
	// ExpectedOfOtherIO returns how much slower other I/O of the device is expected to be in a slot.
	ExpectedOfOtherIO(slot int64) Shift
	// Expected returns how much slower the host is expected to make statistic i in a slot, by what recurs daily or weekly.
	Expected(i int, slot int64) Shift
}

// askedOnce is a Host that is asked about each slot once, however many statistics of its block are learned.
type askedOnce struct {
	Host
	at map[int64]Shifts
}

func askOnce(h Host) askedOnce { return askedOnce{h, map[int64]Shifts{}} }

// At implements Host.
func (h askedOnce) At(slot int64) Shifts {
	s, known := h.at[slot]
	if !known {
		s = h.Host.At(slot)
		h.at[slot] = s
	}
	return s
}

// Alone is the Host of a device without peers. It knows nothing.
type Alone struct{}

// At implements Host.
func (Alone) At(int64) Shifts { return Unmeasured() }

// Now implements Host.
func (Alone) Now(time.Time) Shifts { return Unmeasured() }

// Part implements Host.
func (Alone) Part(int, Shift) Shift { return 0 }

// Expected implements Host.
func (Alone) Expected(int, int64) Shift { return 0 }

// ExpectedOfOtherIO implements Host.
func (Alone) ExpectedOfOtherIO(int64) Shift { return 0 }
