package nvme

import (
	"errors"
	"fmt"
)

// Lifetime is how long a feature keeps the value that is set.
type Lifetime uint8

// The lifetimes of a value.
const (
	UntilReset Lifetime = iota // until the controller is reset or loses power
	Saved                      // permanently
)

// FeatureWriter changes how a controller works. Get one from [NewFeatureWriter]. It is
// separate from [Device], so that code that only reads cannot write by mistake. It needs
// CAP_SYS_ADMIN, but the node may be open read-only.
//
// A change that the controller says it would refuse is not sent; the error then matches
// [errors.ErrUnsupported].
type FeatureWriter struct{ device *Device }

// NewFeatureWriter returns a writer for the features of d.
func NewFeatureWriter(d *Device) *FeatureWriter { return &FeatureWriter{device: d} }

// SetWriteCache switches the volatile write cache, feature 06h. When the cache is
// switched off, the controller first writes out what is in it, which may take long.
func (w *FeatureWriter) SetWriteCache(enabled bool, keep Lifetime) error {
	var value uint32
	if enabled {
		value = 1
	}
	return w.set(FeatureVolatileWriteCache, value, keep)
}

// SetInterruptCoalescing sets the interrupt coalescing, feature 08h. It applies to all
// interrupts of the controller except that of the admin queue.
func (w *FeatureWriter) SetInterruptCoalescing(c InterruptCoalescing, keep Lifetime) error {
	units := c.Time / coalescingUnit
	if units < 0 || units > 0xFF || units*coalescingUnit != c.Time {
		return fmt.Errorf("set %v: time %v: want a multiple of 100µs from 0 to 25.5ms", FeatureInterruptCoalescing, c.Time)
	}
	if c.Threshold < 1 || c.Threshold > 256 {
		return fmt.Errorf("set %v: threshold %d: want 1 to 256", FeatureInterruptCoalescing, c.Threshold)
	}
	return w.set(FeatureInterruptCoalescing, uint32(units)<<8|uint32(c.Threshold-1), keep)
}

func (w *FeatureWriter) set(f Feature, value uint32, keep Lifetime) error {
	c, err := w.device.supportsFeature(f)
	if err != nil {
		return err
	}
	if c.Commands.Has(CommandSaveSelect) {
		can, err := w.device.FeatureCapabilities(f)
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		if err == nil && !can.Changeable {
			return unsupported("change " + f.String())
		}
		if keep == Saved && !can.Saveable {
			return unsupported("save " + f.String())
		}
	} else if keep == Saved {
		return unsupported("save " + f.String())
	}
	_, err = w.device.send(SetFeatureCommand(f, value, keep), nil)
	return err
}
